// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of the ranges that asynchronous operations touch.
#include "runtime/simulator/AddressSpace.h"
#include "runtime/simulator/AsyncEngine.h"
#include "runtime/simulator/Launch.h"

namespace stator::sim {

namespace {

Finding *report(Warp &warp, const Instr &instr, Kind kind, unsigned lane, uint64_t address, const std::string &what) {
  Finding *f = warp.worker.report(warp, instr, kind, 1u << lane, Severity::error, "");
  if (!f) return nullptr;
  f->addresses.push_back(address);
  f->message = what;
  return f;
}

bool locateShared(Warp &warp, const Instr &instr, unsigned lane, Space space, uint64_t address, uint32_t bytes,
                  const std::string &what, AsyncRange &range) {
  Block *owner = warp.block.peer(static_cast<uint32_t>(address >> kClusterShift));
  uint64_t offset = address & ((1u << kClusterShift) - 1), size = warp.block.sharedData.size();
  if (!owner || (owner != &warp.block && space == Space::shared) || offset >= size || bytes > size - offset) {
    if (Finding *f = report(warp, instr, Kind::outOfBounds, lane, address, what + " out of bounds"))
      f->allocation =
          !owner || (owner != &warp.block && space == Space::shared)
              ? "the address is no place of the block's own shared memory"
              : "byte " + std::to_string(offset) + " of " + std::to_string(size) + " bytes of shared memory";
    return false;
  }
  if (owner != &warp.block && owner->done()) {
    report(warp, instr, Kind::useAfterFree, lane, address, what + " in shared memory of a block that has exited");
    return false;
  }
  range = {owner->sharedData.data() + offset, owner->sharedDefined.data() + offset, owner, offset};
  return true;
}

} // namespace

bool locate(Warp &warp, const Instr &instr, unsigned lane, Space space, uint64_t address, uint32_t bytes, bool write,
            AsyncRange &range) {
  std::string what =
      std::string("asynchronous ") + (write ? "write" : "read") + " of " + std::to_string(bytes) + " bytes";
  if (space == Space::generic) {
    space = spaceOf(address);
    address -= windowOf(space);
  }
  if (space == Space::shared || space == Space::sharedCluster)
    return locateShared(warp, instr, lane, space, address, bytes, what, range);
  if (space != Space::global) {
    report(warp, instr, Kind::outOfBounds, lane, address, what + " outside global and shared memory");
    return false;
  }
  Worker &worker = warp.worker;
  Allocation *a = worker.lookUp(address);
  Fault fault = a ? Memory::check(*a, address, bytes, write) : Fault::unmapped;
  if (fault == Fault::none) {
    range = {a->data + (address - a->base), a->defined ? a->defined + (address - a->base) : nullptr, nullptr, address};
    return true;
  }
  bool freed = fault == Fault::freed || fault == Fault::deadRegion;
  what += freed                      ? " in freed memory"
          : fault == Fault::pastEnd  ? " runs past the end of an allocation"
          : fault == Fault::gap      ? " between tensors"
          : fault == Fault::readOnly ? " into constant memory"
                                     : " outside every allocation";
  if (Finding *f = report(warp, instr, freed ? Kind::useAfterFree : Kind::outOfBounds, lane, address, what))
    f->allocation = worker.launch.memory->describe(address);
  return false;
}

} // namespace stator::sim
