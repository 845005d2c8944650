// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole kernels of tests/simulator/kernels on a simulated device: one configuration of a run, and the list of kernels
// with what checks each of them against the host's own arithmetic.
#pragma once

#include "tests/unit/simulator/Machine.h"

#include "runtime/simulator/Program.h"

#include <ostream>
#include <set>

namespace stator::sim::test {

/// Where a run may differ without changing a right kernel's results.
struct Configuration {
  size_t size = 1;
  uint64_t schedule = 0;
  Settings::Async async = Settings::Async::early;
  bool quick = false; ///< leave the slowest sizes out
};

/// A loaded PTX text on a machine. Launches after a finding of severity error do nothing, as on a card.
class Session {
public:
  Session(const std::string &text, const char *chip, const Configuration &configuration)
      : configuration(configuration), machine(chip) {
    machine.settings.schedule = configuration.schedule;
    machine.settings.async = configuration.async;
    // A mutant may spin: the limit stands for a watchdog.
    machine.settings.stepLimit = uint64_t{1} << 26;
    std::string why;
    LoadFault fault = LoadFault::none;
    program = loadProgram(machine.memory, *machine.chip, text, why, fault);
    if (!program) throw std::runtime_error(why);
  }

  template <class T> uint64_t upload(const std::vector<T> &values, const char *name) {
    return machine.upload(values, name);
  }
  uint64_t allocate(uint64_t bytes, const char *name) { return machine.allocate(bytes, name); }
  template <class T> std::vector<T> download(uint64_t address, size_t count) {
    return machine.download<T>(address, count);
  }

  struct Shape {
    Dim3 grid, block;
    uint32_t shared = 0;
    bool cooperative = false;
  };
  template <class... P> void launch(const std::string &name, Shape shape, P... params) {
    if (failed) return;
    auto it = program->kernels.find(name);
    if (it == program->kernels.end()) throw std::runtime_error("no kernel " + name);
    const Kernel &kernel = *it->second;
    Launch l;
    l.kernel = &kernel;
    l.module = &program->module;
    l.memory = &machine.memory;
    l.chip = machine.chip;
    l.settings = &machine.settings;
    l.grid = shape.grid;
    l.block = shape.block;
    l.dynamicShared = shape.shared;
    l.cooperative = shape.cooperative;
    if (l.cooperative) l.workspace = machine.upload(std::vector<uint64_t>(8), "the grid's barrier");
    l.params.assign(kernel.paramBytes, 0);
    const auto &declared = kernel.function->params;
    if (declared.size() != sizeof...(P)) throw std::runtime_error(name + " has another number of parameters");
    size_t at = 0;
    auto place = [&](const void *value, size_t bytes) {
      if (declared[at].bytes != bytes) throw std::runtime_error("parameter " + declared[at].name + " has another size");
      std::memcpy(l.params.data() + declared[at++].offset, value, bytes);
    };
    (place(&params, sizeof params), ...);
    std::string why;
    LaunchLimits limits = defaultLimits(kernel);
    limits.maxDynamicShared = machine.chip->sharedPerBlockOptin;
    if (checkLaunch(l, limits, false, why) != Refusal::none) throw std::runtime_error(why);
    for (Finding &f : execute(l).findings) {
      failed |= f.severity == Severity::error;
      findings.push_back(std::move(f));
    }
  }

  Configuration configuration;
  Machine machine;
  std::unique_ptr<Program> program;
  std::vector<Finding> findings;
  bool failed = false; ///< a finding of severity error: results mean nothing
};

struct KernelCase {
  const char *file; ///< of tests/simulator/kernels, without .ptx
  const char *chip;
  std::vector<size_t> sizes;
  /// Runs the kernel with operands of `session.configuration.size` and compares with the host.
  bool (*isRight)(Session &session);
};
inline void PrintTo(const KernelCase &kernel, std::ostream *out) { *out << kernel.file; }
const std::vector<KernelCase> &kernelCases();

/// The text of tests/simulator/kernels/FILE.ptx.
std::string kernelText(const std::string &file);

/// The schedules and modes that every kernel must survive.
std::vector<Configuration> configurationsOf(const KernelCase &kernel);

} // namespace stator::sim::test
