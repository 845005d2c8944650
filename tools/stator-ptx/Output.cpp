// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-ptx/Output.h"

#include "runtime/simulator/Opcodes.h"
#include "tools/stator-ptx/Element.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <ostream>

namespace stator::ptxtool {

using namespace sim;
using Json = nlohmann::ordered_json;

namespace {

/// Elements printed of a buffer when nobody says how many.
constexpr uint64_t kShown = 64;

uint64_t elementAt(const Print &p, uint64_t index) {
  uint64_t bits = 0;
  unsigned size = sizeOf(p.type);
  std::memcpy(&bits, p.data + index * size, size);
  return bits;
}

bool definedAt(const Print &p, uint64_t index) {
  unsigned size = sizeOf(p.type);
  for (unsigned b = 0; p.defined && b < size; ++b)
    if (p.defined[index * size + b] != 1) return false;
  return true;
}

std::string shapeText(const std::vector<size_t> &shape) {
  std::string text;
  for (size_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "1" : text;
}

/// What each line of the text did, in the order of the text.
struct LineCount {
  std::string text;
  uint64_t executed = 0, lanes = 0;
  MemoryCount memory;
};
std::map<uint32_t, LineCount> byLine(const Kernel &kernel, const LaunchResult &result) {
  std::map<uint32_t, LineCount> lines;
  for (size_t i = 0; i < result.instructions.size(); ++i) {
    if (kernel.code[i].row->kind == OpClass::internal) continue;
    const InstructionCount &c = result.instructions[i];
    LineCount &line = lines[kernel.code[i].line];
    line.text = kernel.texts[i];
    line.executed += c.executed;
    line.lanes += c.executed * kLanes - c.partialLanes;
    line.memory.add(c.memory);
  }
  return lines;
}

void printBuffer(const Print &p, std::ostream &out) {
  out << "argument " << p.index
      << (p.name.empty() || p.name == "argument " + std::to_string(p.index) ? "" : " '" + p.name + "'") << ": "
      << nameOf(p.type) << "[" << shapeText(p.shape) << "]";
  uint64_t count = p.abbreviate ? std::min(p.count, kShown) : p.count;
  if (p.from || count < p.count) out << ", elements " << p.from << " to " << p.from + count - 1;
  // Rows of the innermost extent where they are short, of 8 otherwise.
  uint64_t row = p.shape.size() > 1 && p.shape.back() <= 16 && p.from % p.shape.back() == 0 ? p.shape.back() : 8;
  for (uint64_t i = 0; i < count; ++i)
    out << (i % row == 0 ? "\n  " : " ")
        << (definedAt(p, p.from + i) ? printElement(p.type, elementAt(p, p.from + i)) : "?");
  out << (count < p.count ? "\n  ..\n" : "\n");
}

} // namespace

void Report::write(bool json, std::ostream &out) const { json ? writeJson(out) : writeText(out); }

void Report::writeText(std::ostream &out) const {
  for (const Print &p : prints) printBuffer(p, out);
  if (lines) {
    out << "    line      warps lanes%    sectors ideal%  conflicts\n";
    for (const auto &[line, c] : byLine(*kernel, *result)) {
      if (!c.executed) continue;
      char text[96];
      std::snprintf(text, sizeof text, "%8u %10llu %5.1f%%", line, static_cast<unsigned long long>(c.executed),
                    100.0 * static_cast<double>(c.lanes) / static_cast<double>(c.executed * kLanes));
      out << text;
      if (c.memory.sectors)
        std::snprintf(text, sizeof text, " %10llu %5.1f%%", static_cast<unsigned long long>(c.memory.sectors),
                      100.0 * static_cast<double>(c.memory.ideal) / static_cast<double>(c.memory.sectors));
      else
        std::snprintf(text, sizeof text, " %10s %6s", "", "");
      out << text;
      if (c.memory.waves)
        std::snprintf(text, sizeof text, " %10llu",
                      static_cast<unsigned long long>(c.memory.waves - c.memory.idealWaves));
      else
        std::snprintf(text, sizeof text, " %10s", "");
      out << text << "  " << c.text << "\n";
    }
  }
  if (counters) {
    Json all = Json::parse(result->counters.json(kernel->name));
    for (const auto &[name, value] : all.items())
      if (name != "kernel") {
        char text[80];
        std::snprintf(text, sizeof text, "%-24s %14llu\n", name.c_str(),
                      static_cast<unsigned long long>(value.get<uint64_t>()));
        out << text;
      }
  }
  size_t errors = 0;
  for (const Finding &f : result->findings) {
    out << toText(f) << "\n";
    errors += f.severity == Severity::error;
  }
  out << kernel->name << " on " << launch->chip->name << ": " << result->counters.warpInstructions
      << " warp instructions in " << seconds << " s, " << errors << " errors, " << result->findings.size() - errors
      << " warnings\n";
}

void Report::writeJson(std::ostream &out) const {
  Json all;
  all["kernel"] = kernel->name;
  all["chip"] = launch->chip->name;
  auto dims = [](const Dim3 &d) { return Json::array({d.x, d.y, d.z}); };
  all["grid"] = dims(launch->grid);
  all["block"] = dims(launch->block);
  all["cluster"] = dims(launch->cluster);
  all["seconds"] = seconds;
  all["findings"] = Json::array();
  for (const Finding &f : result->findings) all["findings"].push_back(Json::parse(toJson(f)));
  all["counters"] = Json::parse(result->counters.json(kernel->name));
  if (lines) {
    all["lines"] = Json::array();
    for (const auto &[line, c] : byLine(*kernel, *result))
      all["lines"].push_back({{"line", line},
                              {"text", c.text},
                              {"warps", c.executed},
                              {"lanes", c.lanes},
                              {"sectors", c.memory.sectors},
                              {"sectors_ideal", c.memory.ideal},
                              {"shared_waves", c.memory.waves},
                              {"bank_conflicts", c.memory.waves - c.memory.idealWaves}});
  }
  if (!prints.empty()) all["arguments"] = Json::array();
  for (const Print &p : prints) {
    Json values = Json::array();
    for (uint64_t i = 0; i < p.count; ++i) {
      uint64_t bits = elementAt(p, p.from + i);
      double real = isFloat(p.type) ? decodeFloat(p.type, bits) : 0;
      if (!definedAt(p, p.from + i))
        values.push_back(nullptr);
      else if (isFloat(p.type) && std::isfinite(real))
        values.push_back(real);
      else if (isFloat(p.type)) // JSON has no numbers for these
        values.push_back(std::isnan(real) ? "nan" : real > 0 ? "inf" : "-inf");
      else if (isSigned(p.type))
        values.push_back(std::stoll(printElement(p.type, bits)));
      else
        values.push_back(bits);
    }
    all["arguments"].push_back({{"index", p.index},
                                {"name", p.name},
                                {"type", nameOf(p.type)},
                                {"shape", p.shape},
                                {"from", p.from},
                                {"values", values}});
  }
  if (launch->trace) all["trace"] = trace;
  out << all.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
}

void listKernels(const Program &program, bool json, std::ostream &out) {
  Json all = Json::array();
  for (const auto &[name, k] : program.kernels) {
    const ptx::Function &f = *k->function;
    Json params = Json::array();
    for (const ptx::Param &p : f.params) params.push_back({{"name", p.name}, {"bytes", p.bytes}, {"align", p.align}});
    Json kernel = {{"name", name},
                   {"line", f.line},
                   {"parameters", params},
                   {"shared_bytes", k->sharedBytes},
                   {"local_bytes", k->localBytes}};
    auto limit = [&](const char *key, const uint32_t (&v)[3]) {
      if (v[0]) kernel[key] = {v[0], v[1], v[2]};
    };
    limit("max_threads", f.maxThreads);
    limit("required_threads", f.requiredThreads);
    limit("required_cluster", f.requiredCluster);
    all.push_back(kernel);
  }
  if (json) {
    out << all.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
    return;
  }
  if (all.empty()) out << "no kernels\n";
  for (const Json &k : all) {
    out << k["name"].get<std::string>() << "  (line " << k["line"] << ", " << k["shared_bytes"]
        << " bytes of shared and " << k["local_bytes"] << " of local memory)\n";
    for (const char *key : {"max_threads", "required_threads", "required_cluster"})
      if (k.contains(key)) out << "  " << key << " " << k[key].dump() << "\n";
    size_t index = 0;
    for (const Json &p : k["parameters"])
      out << "  " << index++ << "  " << p["name"].get<std::string>() << ": " << p["bytes"] << " bytes\n";
  }
}

} // namespace stator::ptxtool
