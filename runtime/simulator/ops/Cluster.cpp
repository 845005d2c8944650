// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clusters: their barrier, addresses in other blocks' shared memory; proxy fences; dependent launches.
#include "runtime/simulator/AddressSpace.h"
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/ops/Aligned.h"
#include "runtime/simulator/ops/Tables.h"

namespace stator::sim {

namespace {

constexpr uint32_t kAligned = 1, kRelaxed = 2;

void arriveCluster(Warp &w, const Instr &i, uint32_t mask) {
  if ((i.tag & kAligned) && !convergeAligned(w, i, mask)) return;
  w.block.group->arrive(w, i, mask, !(i.tag & kRelaxed));
}
void waitCluster(Warp &w, const Instr &i, uint32_t mask) {
  if ((i.tag & kAligned) && !convergeAligned(w, i, mask)) return;
  w.block.group->wait(w, i, mask, true);
}
void decodeClusterBarrier(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 0, 0);
  instr.tag = (s.modifiers.back() == "aligned" ? kAligned : 0) | (instr.mods.order == Order::relaxed ? kRelaxed : 0);
  instr.mods.order = Order::weak; // it orders the blocks of a cluster, which run together anyway
}

/// mapa: the address at the same offset in the shared memory of the block of rank b.
template <class T> void mapAddress(Warp &w, const Instr &i, uint32_t mask) {
  const T *a = w.lanes<T>(i.a);
  const auto *rank = w.lanes<uint32_t>(i.b);
  T *d = w.lanes<T>(i.d), offset = static_cast<T>(i.offset), ranks = static_cast<T>(0xff) << kClusterShift;
  uint32_t bad = w.poison[i.a.poison] | w.poison[i.b.poison], beyond = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1)) continue;
    if (!(bad >> l & 1) && rank[l] >= w.block.launch.cluster.count()) beyond |= 1u << l;
    d[l] = static_cast<T>(((a[l] + offset) & ~ranks) | static_cast<T>(rank[l] & 0xff) << kClusterShift);
  }
  if (beyond)
    w.worker.report(w, i, Kind::outOfBounds, beyond, Severity::error, "mapa names a block that is not in the cluster");
  w.define(i.d, mask, bad);
}
template <class T> void rankOf(Warp &w, const Instr &i, uint32_t mask) {
  const T *a = w.lanes<T>(i.a);
  auto *d = w.lanes<uint32_t>(i.d);
  for (unsigned l = 0; l < kLanes; ++l)
    if (mask >> l & 1) d[l] = static_cast<uint32_t>((a[l] + static_cast<T>(i.offset)) >> kClusterShift & 0xff);
  w.define(i.d, mask, w.poison[i.a.poison]);
}
void decodeMap(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  bool map = s.opcode == "mapa";
  decoder.expectOperands(s, map ? 3 : 2, map ? 3 : 2);
  unsigned bytes = sizeOf(instr.mods.types[0]);
  instr.d = decoder.destination(s.operands[0], map ? bytes : 4);
  instr.a = decoder.source(s.operands[1], bytes);
  if (map) instr.b = decoder.source(s.operands[2], 4);
}

void proxyFence(Warp &w, const Instr &i, uint32_t) {
  if (!w.order) return;
  bool global = i.mods.space == Space::global, shared = !global && i.mods.hasSpace;
  w.worker.races->proxyFence(w, !global, !shared);
}
void nothing(Warp &, const Instr &, uint32_t) {}
void decodePlain(Decoder &, const ptx::Statement &, Instr &) {}

/// setmaxnreg: a warpgroup's register count; the pool itself is not simulated.
void setRegisters(Warp &w, const Instr &i, uint32_t mask) { convergeAligned(w, i, mask); }
void decodeRegisters(Decoder &decoder, const ptx::Statement &s, Instr &) {
  decoder.expectOperands(s, 1, 1);
  int64_t count = decoder.immediate(s.operands[0]);
  if (count < 24 || count > 256 || count % 8) decoder.fail("a register count is a multiple of 8 from 24 to 256");
}

constexpr OpClass kFence = OpClass::fence;

const Row kRows[] = {
    {"barrier.cluster.arrive.release|relaxed?.aligned?", nullptr, arriveCluster, OpClass::barrier,
     decodeClusterBarrier},
    {"barrier.cluster.wait.acquire?.aligned?", nullptr, waitCluster, OpClass::barrier, decodeClusterBarrier},
    {"mapa.shared::cluster?.u32", nullptr, mapAddress<uint32_t>, OpClass::integer, decodeMap},
    {"mapa.shared::cluster?.u64", nullptr, mapAddress<uint64_t>, OpClass::integer, decodeMap},
    {"getctarank.shared::cluster?.u32", nullptr, rankOf<uint32_t>, OpClass::integer, decodeMap},
    {"getctarank.shared::cluster?.u64", nullptr, rankOf<uint64_t>, OpClass::integer, decodeMap},
    {"fence.proxy.async.global|shared::cta|shared::cluster?", nullptr, proxyFence, kFence, decodePlain},
    {"fence.proxy.async::generic.acquire|release.sync_restrict::shared::cta|sync_restrict::shared::cluster.cluster",
     nullptr, proxyFence, kFence, decodePlain},
    {"fence.proxy.alias", nullptr, nothing, kFence, decodePlain},
    {"fence.proxy.tensormap::generic.release.cta|cluster|gpu|sys", nullptr, nothing, kFence, decodePlain},
    {"fence.proxy.tensormap::generic.acquire.cta|cluster|gpu|sys", nullptr, nothing, kFence, decodePlain},
    {"fence.mbarrier_init.release.cluster", nullptr, nothing, kFence, decodePlain},
    {"griddepcontrol.launch_dependents|wait", nullptr, nothing, OpClass::special, decodePlain},
    {"setmaxnreg.inc|dec.sync.aligned.u32", nullptr, setRegisters, OpClass::special, decodeRegisters},
};

} // namespace

Rows clusterRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
