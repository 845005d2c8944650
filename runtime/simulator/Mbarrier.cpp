// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Mbarrier.h"
#include "runtime/simulator/Launch.h"

namespace stator::sim {

namespace {

Finding *report(Warp &warp, const Instr &instr, unsigned lane, const MbarrierPlace &place, const std::string &what) {
  Finding *f = warp.worker.report(warp, instr, Kind::mbarrier, 1u << lane, Severity::error, "");
  if (!f) return nullptr;
  f->addresses.push_back(place.offset);
  f->message = what;
  if (place.object) f->message += "; " + place.object->describe(place.offset);
  return f;
}

void completeIfDue(Warp &warp, const MbarrierPlace &place) {
  Mbarrier &m = *place.object;
  if (m.pending || m.bytes) return;
  ++m.phase;
  m.pending = m.expected;
  m.completed = std::move(m.arriving);
  m.arriving = BarrierKnowledge();
  ++warp.worker.changes;
  for (auto &waiting : place.home->warps) waiting->release(Wait::mbarrier, place.offset);
}

} // namespace

std::string Mbarrier::describe(uint32_t offset) const {
  return "mbarrier at shared byte " + std::to_string(offset) + ": phase " + std::to_string(phase) + " (parity " +
         std::to_string(phase & 1) + ") lacks " + std::to_string(pending) + " of " + std::to_string(expected) +
         " arrivals and " + std::to_string(bytes) + " bytes";
}

Mbarrier *mbarrierAt(Warp &warp, const Instr &instr, unsigned lane, Block &home, uint32_t offset) {
  auto it = home.mbarriers.find(offset);
  if (it != home.mbarriers.end()) return &it->second;
  report(warp, instr, lane, {&home, offset, nullptr}, "no mbarrier has been initialised at this address");
  return nullptr;
}

void arriveAt(Warp &warp, const Instr &instr, unsigned lane, const MbarrierPlace &place, uint32_t count, bool drop) {
  Mbarrier &m = *place.object;
  if (count == 0 || count > Mbarrier::kMost) {
    report(warp, instr, lane, place, "an arrival count of " + std::to_string(count) + " is outside 1..2^20-1");
    return;
  }
  if (count > m.pending) {
    report(warp, instr, lane, place, std::to_string(count) + " arrivals are more than the current phase still expects");
    return;
  }
  if (drop) m.expected -= count;
  m.pending -= count;
  ++warp.worker.changes;
  completeIfDue(warp, place);
}

void addBytes(Warp &warp, const Instr &instr, unsigned lane, const MbarrierPlace &place, int64_t bytes) {
  Mbarrier &m = *place.object;
  int64_t sum = m.bytes + bytes, most = Mbarrier::kMost;
  if (sum > most || sum < -most) {
    report(warp, instr, lane, place, std::to_string(bytes) + " more bytes leave the range of the tx-count");
    return;
  }
  m.bytes = sum;
  ++warp.worker.changes;
  completeIfDue(warp, place);
}

} // namespace stator::sim
