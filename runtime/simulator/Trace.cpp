// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Trace.h"
#include "runtime/simulator/Block.h"
#include "runtime/simulator/Opcodes.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace stator::sim {

namespace {

/// Values shown of one register before the rest is abbreviated.
constexpr unsigned kShown = 8;

unsigned bytesOf(Type type) { return type == Type::pred ? 0 : sizeOf(type); }

std::string number(uint64_t bits, Type type) {
  char text[48];
  switch (type) {
  case Type::f32: {
    auto low = static_cast<uint32_t>(bits);
    float value;
    std::memcpy(&value, &low, 4);
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    break;
  }
  case Type::f64: {
    double value;
    std::memcpy(&value, &bits, 8);
    std::snprintf(text, sizeof text, "%.17g", value);
    break;
  }
  case Type::s8: std::snprintf(text, sizeof text, "%d", static_cast<int8_t>(bits)); break;
  case Type::s16: std::snprintf(text, sizeof text, "%d", static_cast<int16_t>(bits)); break;
  case Type::s32: std::snprintf(text, sizeof text, "%d", static_cast<int32_t>(bits)); break;
  case Type::s64: std::snprintf(text, sizeof text, "%" PRId64, static_cast<int64_t>(bits)); break;
  case Type::u8:
  case Type::u16:
  case Type::u32:
  case Type::u64:
  case Type::pred: std::snprintf(text, sizeof text, "%" PRIu64, bits); break;
  default: std::snprintf(text, sizeof text, "0x%" PRIx64, bits); break;
  }
  return text;
}

} // namespace

bool WarpTrace::watches(const Warp &warp) const {
  const Dim3 &id = warp.block.id;
  return warp.index == options.warp && id.x == options.block[0] && id.y == options.block[1] && id.z == options.block[2];
}

std::string WarpTrace::values(Warp &warp, size_t reg, Type type, uint32_t mask) const {
  const NamedRegister &r = warp.kernel.registers[reg];
  unsigned bytes = bytesOf(r.declared->type);
  uint32_t poison = warp.poison[r.slot.poison];
  mask &= options.lanes;
  std::string text = r.declared->name + " =";
  std::string first;
  unsigned shown = 0, same = 0, count = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1)) continue;
    uint64_t bits = 0, high = 0;
    if (bytes == 0)
      bits = warp.predicate(r.slot) >> l & 1;
    else
      std::memcpy(&bits, warp.data + r.slot.data + size_t{bytes} * l, bytes > 8 ? 8 : bytes);
    if (bytes == 16) std::memcpy(&high, warp.data + r.slot.data + 16 * l + 8, 8);
    std::string value = poison >> l & 1 ? "?" : number(bits, type);
    if (high) value = number(high, Type::b64) + ":" + value;
    if (count++ == 0) first = value;
    same += value == first;
    if (shown == kShown && options.lanes == kAllLanes) continue;
    ++shown;
    text += " " + value;
  }
  if (same == count) return r.declared->name + " = " + first + (count > 1 ? " (all)" : "");
  return text + (shown < count ? " .." : "");
}

void WarpTrace::before(Warp &warp, const Instr &, uint32_t) {
  if (lines < options.limit) file.assign(warp.data, warp.data + warp.kernel.dataBytes);
}

void WarpTrace::after(Warp &warp, const Instr &instr, uint32_t mask) {
  if (instr.row->kind == OpClass::internal || lines > options.limit) return;
  if (lines++ == options.limit) return write("  the trace ends here: " + std::to_string(options.limit) + " lines");
  char head[40];
  std::snprintf(head, sizeof head, "%6u  %08x  ", instr.line, mask);
  std::string text = head + warp.kernel.texts[instr.index];
  bool hasResult = instr.row->kind != OpClass::store && instr.row->kind != OpClass::control && instr.row->operands;
  std::string results;
  for (size_t i = 0; mask && i < warp.kernel.registers.size(); ++i) {
    const NamedRegister &r = warp.kernel.registers[i];
    unsigned bytes = bytesOf(r.declared->type);
    size_t size = bytes ? size_t{bytes} * kLanes : 4;
    bool changed = std::memcmp(file.data() + r.slot.data, warp.data + r.slot.data, size) != 0;
    if (!changed && !(hasResult && r.slot.data == instr.d.data)) continue;
    // A typeless register is shown as the type that the instruction names.
    Type type = r.declared->type;
    Type named = instr.mods.types[0];
    if (bytes && sizeOf(named) == bytes && named != Type::none) type = named;
    results += (results.empty() ? "" : "; ") + values(warp, i, type, mask);
  }
  if (!results.empty()) {
    if (text.size() < 72) text.resize(72, ' ');
    text += "  " + results;
  }
  write(text);
}

} // namespace stator::sim
