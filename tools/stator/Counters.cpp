// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator/Counters.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>
#include <unistd.h>

namespace stator::cli {

static constexpr const char *variable = "STATOR_SIM_COUNTERS";

CounterFile::CounterFile() {
  const char *folder = std::getenv("TMPDIR");
  std::string name = std::string(folder && *folder ? folder : "/tmp") + "/stator-counters-XXXXXX";
  int file = mkstemp(name.data());
  if (file < 0) return;
  close(file);
  path = name;
  setenv(variable, path.c_str(), 1);
}
CounterFile::~CounterFile() {
  if (path.empty()) return;
  unsetenv(variable);
  std::remove(path.c_str());
}

std::optional<std::vector<KernelCounters>> CounterFile::read(std::string &error) const {
  std::ifstream file(path);
  if (path.empty() || !file)
    return error = "the simulator's counters cannot be written to a temporary file", std::nullopt;
  std::vector<KernelCounters> kernels;
  std::map<std::string, size_t> places;
  for (std::string line; std::getline(file, line);) {
    nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
    if (!row.is_object() || !row.contains("kernel") || !row["kernel"].is_string())
      return error = "the simulator wrote counters that cannot be read: " + line.substr(0, 100), std::nullopt;
    std::string name = row["kernel"];
    auto [place, isNew] = places.try_emplace(name, kernels.size());
    if (isNew) kernels.emplace_back().kernel = name;
    KernelCounters &kernel = kernels[place->second];
    ++kernel.launches;
    for (auto &[key, value] : row.items())
      if (value.is_number_unsigned()) kernel.counted[key] += value.get<uint64_t>();
  }
  return kernels;
}

/// "1234", "12.3 K", "4.56 M": four places at most.
static std::string shortText(uint64_t value) {
  char text[32];
  const char *units[] = {"", " K", " M", " G", " T", " P", " E"};
  double number = double(value);
  int unit = 0;
  while (number >= 9999.5 && unit < 6) number /= 1000, ++unit;
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f%s" : "%.4g%s", number, units[unit]);
  return text;
}
static std::string ratio(uint64_t a, uint64_t b) {
  if (b == 0) return a == 0 ? "" : "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", double(a) / double(b));
  return text;
}

void printCounters(const std::vector<KernelCounters> &kernels, std::ostream &os) {
  // Bytes: the plan's, those that lanes asked for, and how many 32-byte sectors moved over the fewest that could hold
  // them.
  std::vector<std::vector<std::string>> table = {{"kernel", "launches", "warp instr", "reads: plan", "lanes",
                                                  "sectors/ideal", "writes: plan", "lanes", "sectors/ideal",
                                                  "bank conflicts", "plan ops"}};
  for (const KernelCounters &kernel : kernels) {
    auto counted = [&](const char *name) {
      auto found = kernel.counted.find(name);
      return found == kernel.counted.end() ? uint64_t(0) : found->second;
    };
    table.push_back({kernel.kernel, std::to_string(kernel.launches), shortText(counted("warp_instructions")),
                     shortText(kernel.read), shortText(counted("global_bytes_read")),
                     ratio(counted("sectors_read"), counted("sectors_read_ideal")), shortText(kernel.written),
                     shortText(counted("global_bytes_written")),
                     ratio(counted("sectors_written"), counted("sectors_written_ideal")),
                     shortText(counted("bank_conflicts")), shortText(kernel.operations)});
  }
  std::vector<size_t> widths(table[0].size());
  for (auto &row : table)
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  for (auto &row : table) {
    for (size_t c = 0; c < row.size(); ++c)
      os << (c ? "  " : "") << (c ? std::right : std::left) << std::setw(int(widths[c])) << row[c];
    os << "\n";
  }
}

std::string countersJson(const std::vector<KernelCounters> &kernels) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const KernelCounters &kernel : kernels) {
    nlohmann::ordered_json row = {{"kernel", kernel.kernel}, {"launches", kernel.launches}};
    for (auto &[name, value] : kernel.counted) row[name] = value;
    row["plan_bytes_read"] = kernel.read;
    row["plan_bytes_written"] = kernel.written;
    row["plan_operations"] = kernel.operations;
    list.push_back(row);
  }
  return list.dump();
}

} // namespace stator::cli
