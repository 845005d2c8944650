// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Cluster.h"
#include "runtime/simulator/AsyncEngine.h"
#include "runtime/simulator/Launch.h"

namespace stator::sim {

Cluster::Cluster(std::vector<Block *> members)
    : blocks(std::move(members)), arriving(blocks.size()), completed(blocks.size()) {}
Cluster::~Cluster() = default;

void Cluster::arrive(Warp &warp, const Instr &instr, uint32_t mask, bool releases) {
  if (uint32_t twice = warp.clusterArrived & mask)
    warp.worker.report(warp, instr, Kind::barrier, twice, Severity::error,
                       "lanes arrive again at the cluster's barrier before its phase is complete");
  if (uint32_t open = warp.clusterDone & mask)
    warp.worker.report(warp, instr, Kind::barrier, open, Severity::error,
                       "lanes arrive at the cluster's barrier without having waited for the phase before");
  if (releases && warp.order) {
    warp.worker.races->release(warp, arriving[warp.block.clusterRank], warp.block);
    if (blocks.size() > 1) warp.worker.races->publish(warp, arrivingAll);
  }
  warp.clusterArrived |= mask;
  completeIfDue();
}

bool Cluster::wait(Warp &warp, const Instr &instr, uint32_t mask, bool acquires) {
  if (uint32_t never = mask & ~(warp.clusterArrived | warp.clusterDone)) {
    warp.worker.report(warp, instr, Kind::barrier, never, Severity::error,
                       "lanes wait at the cluster's barrier without having arrived");
    return true;
  }
  if (mask & warp.clusterArrived) {
    warp.isolate(mask, instr.index + 1);
    warp.parkAt(instr, mask, Wait::cluster, 0);
    return false;
  }
  warp.clusterDone &= ~mask;
  if (acquires && warp.order) {
    warp.worker.races->acquire(warp, completed[warp.block.clusterRank], warp.block);
    warp.worker.races->learn(warp, completedAll);
  }
  return true;
}

void Cluster::exited() { completeIfDue(); }

void Cluster::completeIfDue() {
  bool any = false;
  for (Block *block : blocks)
    for (auto &warp : block->warps) {
      if (warp->live & ~warp->clusterArrived) return;
      any |= warp->clusterArrived != 0;
    }
  if (!any) return;
  completed = std::move(arriving);
  arriving.assign(blocks.size(), {});
  completedAll = std::move(arrivingAll);
  arrivingAll = {};
  for (Block *block : blocks)
    for (auto &warp : block->warps) {
      warp->clusterDone |= warp->clusterArrived;
      warp->clusterArrived = 0;
      warp->release(Wait::cluster, 0);
    }
}

} // namespace stator::sim
