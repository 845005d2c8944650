// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// printf of kernels: calls of vprintf(format, arguments), where both are generic addresses and the arguments lie one
// behind the other at their own alignment.
#include "runtime/simulator/AddressSpace.h"
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/ops/Tables.h"

#include <cstdio>
#include <cstring>

namespace stator::sim {

namespace {

constexpr size_t kLongest = 4096;

/// Bytes at a generic address for one lane; null where they may not be read.
const uint8_t *bytesAt(Warp &w, unsigned lane, uint64_t address, uint64_t bytes) {
  switch (spaceOf(address)) {
  case Space::local: return w.block.local(w.index * kLanes + lane, address - kLocalWindow, bytes);
  case Space::global: return w.worker.launch.memory->host(address, bytes);
  default: return nullptr;
  }
}

std::string textAt(Warp &w, unsigned lane, uint64_t address) {
  std::string text;
  for (const uint8_t *c; text.size() < kLongest && (c = bytesAt(w, lane, address + text.size(), 1)) && *c;)
    text += static_cast<char>(*c);
  return text;
}

/// One lane's text.
std::string format(Warp &w, unsigned lane, const std::string &pattern, uint64_t arguments) {
  std::string out;
  uint64_t offset = 0;
  auto take = [&](unsigned bytes) {
    offset = (offset + bytes - 1) / bytes * bytes;
    uint64_t value = 0;
    if (const uint8_t *from = bytesAt(w, lane, arguments + offset, bytes)) std::memcpy(&value, from, bytes);
    offset += bytes;
    return value;
  };
  for (size_t at = 0; at < pattern.size() && out.size() < kLongest;) {
    if (pattern[at] != '%') {
      out += pattern[at++];
      continue;
    }
    size_t end = pattern.find_first_not_of("%-+ #0123456789.*hlzjtL", at + 1);
    if (pattern.compare(at, 2, "%%") == 0 || end == std::string::npos) {
      out += '%';
      at += 2;
      continue;
    }
    char kind = pattern[end];
    std::string flags;
    bool wide = false;
    for (size_t i = at + 1; i < end; ++i) {
      char c = pattern[i];
      if (c == '*')
        flags += std::to_string(static_cast<int32_t>(take(4)));
      else if (std::strchr("lzjt", c))
        wide = true;
      else if (!std::strchr("hL", c))
        flags += c;
    }
    if (flags.size() > 16) flags.clear();
    char buffer[512];
    if (kind == 's') {
      std::snprintf(buffer, sizeof buffer, ("%" + flags + "s").c_str(), textAt(w, lane, take(8)).c_str());
    } else if (std::strchr("fFeEgGaA", kind)) {
      uint64_t bits = take(8);
      double value;
      std::memcpy(&value, &bits, 8);
      std::snprintf(buffer, sizeof buffer, ("%" + flags + kind).c_str(), value);
    } else if (kind == 'p') {
      std::snprintf(buffer, sizeof buffer, "0x%llx", static_cast<unsigned long long>(take(8)));
    } else if (kind == 'c') {
      std::snprintf(buffer, sizeof buffer, "%c", static_cast<int>(take(4)));
    } else if (std::strchr("diuxXo", kind)) {
      bool isSignedKind = kind == 'd' || kind == 'i';
      uint64_t value = take(wide ? 8 : 4);
      if (isSignedKind && !wide) value = static_cast<uint64_t>(int64_t{static_cast<int32_t>(value)});
      std::snprintf(buffer, sizeof buffer, ("%" + flags + "ll" + kind).c_str(), static_cast<long long>(value));
    } else {
      buffer[0] = '\0';
    }
    out += buffer;
    at = end + 1;
  }
  return out;
}

/// offset, addresses: places of the two arguments in local memory; target: of the result (kAllLanes: none).
void print(Warp &w, const Instr &i, uint32_t mask) {
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1)) continue;
    unsigned thread = w.index * kLanes + l;
    uint64_t pattern, arguments;
    std::memcpy(&pattern, w.block.local(thread, static_cast<uint64_t>(i.offset), 8), 8);
    std::memcpy(&arguments, w.block.local(thread, i.addresses, 8), 8);
    std::string text = format(w, l, textAt(w, l, pattern), arguments);
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (i.target == kAllLanes) continue;
    auto count = static_cast<int32_t>(text.size());
    std::memcpy(w.block.local(thread, i.target, 4), &count, 4);
    std::memset(w.block.localInit(thread, i.target), 1, 4);
  }
}

} // namespace

void decodePrint(Decoder &decoder, const ptx::Operand *results, const ptx::Operand *arguments, Instr &instr) {
  uint64_t bytes = 0;
  if (!arguments || arguments->parts.size() != 2) decoder.fail("vprintf takes a format and its arguments");
  for (unsigned k = 0; k < 2; ++k) {
    uint64_t place = decoder.paramPlace(arguments->parts[k].name, &bytes);
    if (bytes != 8) decoder.fail("an argument of vprintf has 64 bits");
    if (k == 0)
      instr.offset = static_cast<int64_t>(place);
    else
      instr.addresses = static_cast<uint32_t>(place);
  }
  instr.target = kAllLanes;
  if (results && results->parts.size() == 1)
    instr.target = static_cast<uint32_t>(decoder.paramPlace(results->parts[0].name, &bytes));
  instr.execute = print;
}

} // namespace stator::sim
