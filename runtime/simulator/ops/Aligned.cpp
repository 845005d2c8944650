// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/ops/Aligned.h"

namespace stator::sim {

namespace {

/// Lanes that can still come to this aligned instruction may be waited for; others prove that the code diverges here.
bool othersCanArrive(Warp &w, const Instr &i, uint32_t mask) {
  uint32_t missing = w.live & ~mask, lost = 0;
  if (!missing) return true;
  for (const Group &g : w.allGroups()) {
    if (!(g.mask & missing) || g.pc == i.index) continue;
    if (!w.kernel.reaches(g.pc, i.index) && !w.kernel.onlyExits(g.pc)) lost |= g.mask & missing;
  }
  if (!lost) return true;
  if (Finding *f = w.worker.report(w, i, Kind::divergence, lost, Severity::error, ""))
    f->message =
        "an .aligned instruction is executed by a part of the warp; the other lanes are elsewhere" + w.describe();
  w.worker.abort();
  return false;
}

} // namespace

bool convergeAligned(Warp &warp, const Instr &instr, uint32_t &mask) {
  if (mask == warp.live) return true;
  warp.isolate(mask, instr.index + 1);
  if (!othersCanArrive(warp, instr, mask) || !warp.converge(instr, mask)) return false;
  mask = warp.active;
  return true;
}

bool convergeFull(Warp &warp, const Instr &instr, uint32_t &mask) {
  if (mask == kAllLanes) return true;
  if (!convergeAligned(warp, instr, mask)) return false;
  if (mask == kAllLanes) return true;
  warp.worker.report(warp, instr, Kind::divergence, ~mask, Severity::error,
                     "an instruction that needs all 32 lanes of the warp is executed without some of them");
  warp.worker.abort();
  return false;
}

} // namespace stator::sim
