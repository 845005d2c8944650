// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the simulated CUDA device counted, beside what the plan predicted.
#ifndef STATOR_TOOLS_STATOR_COUNTERS_H
#define STATOR_TOOLS_STATOR_COUNTERS_H

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stator::cli {

/// Sums over the launches of one kernel.
struct KernelCounters {
  std::string kernel;
  uint64_t launches = 0;
  /// By the simulator's names (runtime/simulator/Counters.cpp).
  std::map<std::string, uint64_t> counted;
  /// What its steps need at least: bytes and operations.
  uint64_t read = 0, written = 0, operations = 0;
};

/// Has the simulator write its counters to a file of its own while this lives. Make it before the device is opened.
class CounterFile {
public:
  CounterFile();
  ~CounterFile();
  CounterFile(const CounterFile &) = delete;
  /// The kernels in order of their first launch; nullopt with a message where the file cannot be understood.
  std::optional<std::vector<KernelCounters>> read(std::string &error) const;

private:
  std::string path;
};

void printCounters(const std::vector<KernelCounters> &kernels, std::ostream &os);
/// A JSON list of objects.
std::string countersJson(const std::vector<KernelCounters> &kernels);

} // namespace stator::cli

#endif // STATOR_TOOLS_STATOR_COUNTERS_H
