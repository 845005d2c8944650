// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Report.h"

#include <cinttypes>
#include <cstdio>

namespace stator::sim {

const char *spell(Kind kind) {
  switch (kind) {
  case Kind::outOfBounds: return "out-of-bounds";
  case Kind::misaligned: return "misaligned";
  case Kind::race: return "race";
  case Kind::uninitialised: return "uninitialised";
  case Kind::useAfterFree: return "use-after-free";
  case Kind::barrier: return "barrier";
  case Kind::shuffle: return "shuffle";
  case Kind::asyncCopy: return "async-copy";
  case Kind::mbarrier: return "mbarrier";
  case Kind::proxy: return "proxy";
  case Kind::wgmma: return "wgmma";
  case Kind::readonlyCache: return "readonly-cache";
  case Kind::deadlock: return "deadlock";
  case Kind::cooperative: return "cooperative";
  case Kind::divergence: return "divergence";
  case Kind::nondeterminism: return "nondeterminism";
  case Kind::trap: return "trap";
  }
  return "unknown";
}

std::string quoteJson(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    char buffer[8];
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(buffer, sizeof buffer, "\\u%04x", c);
      out += buffer;
    } else
      out += c;
  }
  return out + "\"";
}

namespace {

std::string hex(uint64_t value) {
  char buffer[20];
  std::snprintf(buffer, sizeof buffer, "0x%" PRIx64, value);
  return buffer;
}

std::string laneList(uint32_t lanes) {
  std::string out;
  for (unsigned l = 0; l < 32; ++l)
    if (lanes >> l & 1) out += (out.empty() ? "" : ",") + std::to_string(l);
  return out;
}

} // namespace

std::string toJson(const Finding &f) {
  std::string out = "{\"kind\":" + quoteJson(spell(f.kind)) +
                    ",\"severity\":" + (f.severity == Severity::error ? "\"error\"" : "\"warning\"") +
                    ",\"kernel\":" + quoteJson(f.kernel) + ",\"line\":" + std::to_string(f.line) +
                    ",\"text\":" + quoteJson(f.text);
  if (!f.sourceFile.empty())
    out += ",\"source\":" + quoteJson(f.sourceFile) + ",\"source_line\":" + std::to_string(f.sourceLine);
  out += ",\"block\":[" + std::to_string(f.block[0]) + "," + std::to_string(f.block[1]) + "," +
         std::to_string(f.block[2]) + "],\"warp\":" + std::to_string(f.warp) + ",\"lanes\":[" + laneList(f.lanes) +
         "],\"addresses\":[";
  for (size_t i = 0; i < f.addresses.size(); ++i) out += (i ? ",\"" : "\"") + hex(f.addresses[i]) + "\"";
  out += "],\"allocation\":" + quoteJson(f.allocation) + ",\"message\":" + quoteJson(f.message) +
         ",\"count\":" + std::to_string(f.count) + "}";
  return out;
}

std::string toText(const Finding &f) {
  std::string out = f.severity == Severity::error ? "error: " : "warning: ";
  out += std::string(spell(f.kind)) + ": " + f.message + "\n  kernel " + f.kernel + ", PTX line " +
         std::to_string(f.line) + ": " + f.text;
  if (!f.sourceFile.empty()) out += "\n  source " + f.sourceFile + ":" + std::to_string(f.sourceLine);
  out += "\n  block (" + std::to_string(f.block[0]) + "," + std::to_string(f.block[1]) + "," +
         std::to_string(f.block[2]) + ") warp " + std::to_string(f.warp) + " lanes " + laneList(f.lanes);
  if (!f.addresses.empty()) {
    out += "\n  address";
    for (uint64_t address : f.addresses) out += " " + hex(address);
  }
  if (!f.allocation.empty()) out += "\n  " + f.allocation;
  if (f.count > 1) out += "\n  " + std::to_string(f.count) + " times in this launch";
  return out;
}

void publish(const std::vector<Finding> &findings, const Settings &settings) {
  if (findings.empty()) return;
  std::string json, text;
  for (const Finding &f : findings) {
    json += toJson(f) + "\n";
    text += "stator simulator: " + toText(f) + "\n";
  }
  if (!settings.quiet) std::fputs(text.c_str(), stderr);
  if (settings.report.empty()) return;
  // One write in append mode, so that several processes can share the file.
  if (std::FILE *file = std::fopen(settings.report.c_str(), "a")) {
    std::fwrite(json.data(), 1, json.size(), file);
    std::fclose(file);
  } else {
    std::fprintf(stderr, "stator simulator: cannot write the report to %s\n", settings.report.c_str());
  }
}

} // namespace stator::sim
