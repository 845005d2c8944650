// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Counters.h"
#include "runtime/simulator/Kernel.h"
#include "runtime/simulator/Opcodes.h"
#include "runtime/simulator/Report.h"

namespace stator::sim {

const char *spell(OpClass kind) {
  static const char *const names[] = {"integer",    "floating", "fp64",   "half",       "convert", "move",
                                      "compare",    "control",  "load",   "store",      "atomic",  "barrier",
                                      "collective", "special",  "tensor", "async_copy", "fence",   "internal"};
  return names[static_cast<unsigned>(kind)];
}

void accumulate(Counters &c, const Kernel &kernel, const std::vector<uint64_t> &executed,
                const std::vector<uint64_t> &partialLanes, const std::vector<MemoryCount> &memory) {
  for (size_t i = 0; i < kernel.code.size(); ++i) {
    const Instr &instr = kernel.code[i];
    OpClass kind = instr.row->kind;
    if (kind == OpClass::internal) continue;
    c.warpInstructions += executed[i];
    c.laneInstructions += executed[i] * kLanes - partialLanes[i];
    c.byClass[static_cast<unsigned>(kind)] += executed[i];
    const MemoryCount &m = memory[i];
    bool reads = kind != OpClass::store && !(kind == OpClass::asyncCopy && instr.mods.space == Space::global);
    if (kind == OpClass::atomic) {
      // An atomic operation reads and writes what it touches.
      c.sectorsWritten += m.sectors;
      c.idealWritten += m.ideal;
      if (m.sectors) c.bytesWritten += m.bytes;
    }
    (reads ? c.sectorsRead : c.sectorsWritten) += m.sectors;
    (reads ? c.idealRead : c.idealWritten) += m.ideal;
    if (m.sectors) (reads ? c.bytesRead : c.bytesWritten) += m.bytes;
    c.sharedWaves += m.waves;
    c.sharedIdealWaves += m.idealWaves;
  }
}

std::string Counters::json(const std::string &kernel) const {
  std::string out = "{\"kernel\":" + quoteJson(kernel);
  auto add = [&](const char *name, uint64_t value) {
    out += ",\"" + std::string(name) + "\":" + std::to_string(value);
  };
  add("warp_instructions", warpInstructions);
  add("lane_instructions", laneInstructions);
  for (unsigned i = 0; i < static_cast<unsigned>(OpClass::internal); ++i)
    if (byClass[i]) add(("class_" + std::string(spell(static_cast<OpClass>(i)))).c_str(), byClass[i]);
  add("global_bytes_read", bytesRead);
  add("global_bytes_written", bytesWritten);
  add("sectors_read", sectorsRead);
  add("sectors_read_ideal", idealRead);
  add("sectors_written", sectorsWritten);
  add("sectors_written_ideal", idealWritten);
  add("dram_sectors_read", dramSectorsRead);
  add("dram_sectors_written", dramSectorsWritten);
  add("shared_waves", sharedWaves);
  add("bank_conflicts", bankConflicts());
  add("divergent_branches", divergentBranches);
  add("tensor_instructions", of(OpClass::tensor));
  add("atomics", of(OpClass::atomic));
  add("barriers", of(OpClass::barrier));
  return out + "}";
}

} // namespace stator::sim
