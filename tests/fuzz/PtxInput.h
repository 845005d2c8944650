// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One input of the fuzzer: any bytes, taken as PTX text. Parsed, loaded, and every kernel run with a small budget.
// Whatever the text is, the outcome is an error message, findings, or a result; never a crash, and never more than a
// little memory.
#pragma once

#include "runtime/simulator/Program.h"

#include <cstdint>

namespace stator::fuzz {

struct PtxOutcome {
  bool loaded = false;
  size_t kernels = 0, findings = 0;
  std::string why;
};

inline PtxOutcome runPtx(const uint8_t *data, size_t size) {
  using namespace sim;
  PtxOutcome outcome;
  const Chip &chip = *findChip(size & 1 ? "h100" : "b200");
  Memory memory(0, uint64_t{64} << 20);
  LoadFault fault = LoadFault::none;
  auto program = loadProgram(memory, chip, std::string(reinterpret_cast<const char *>(data), size), outcome.why, fault);
  if (!program) return outcome;
  outcome.loaded = true;
  Settings settings;
  settings.stepLimit = 20000;
  settings.threads = 1;
  settings.schedule = size % 3;
  settings.async = static_cast<Settings::Async>(size % 3);
  uint64_t buffer = memory.allocate(4096, "buffer");
  Memory::define(*memory.find(buffer), buffer, 2048);
  for (const auto &[name, kernel] : program->kernels) {
    ++outcome.kernels;
    Launch launch;
    launch.kernel = kernel.get();
    launch.module = &program->module;
    launch.memory = &memory;
    launch.chip = &chip;
    launch.settings = &settings;
    launch.grid = {2, 1, 1};
    launch.block = {48, 1, 1};
    launch.dynamicShared = 1024;
    const uint32_t *required = kernel->function->requiredThreads, *cluster = kernel->function->requiredCluster;
    if (required[0]) launch.block = {required[0], required[1], required[2]};
    if (cluster[0]) launch.cluster = launch.grid = {cluster[0], cluster[1], cluster[2]};
    // Parameters of 8 bytes are pointers, others small numbers.
    launch.params.assign(kernel->paramBytes, 0);
    for (const ptx::Param &p : kernel->function->params)
      if (p.bytes == 8 && p.offset + 8 <= launch.params.size())
        std::copy_n(reinterpret_cast<const uint8_t *>(&buffer), 8, launch.params.begin() + static_cast<long>(p.offset));
      else if (p.offset < launch.params.size())
        launch.params[p.offset] = 9;
    std::string why;
    if (checkLaunch(launch, defaultLimits(*kernel), cluster[0] != 0, why) != Refusal::none) continue;
    outcome.findings += execute(launch).findings.size();
  }
  unloadProgram(memory, *program);
  return outcome;
}

} // namespace stator::fuzz
