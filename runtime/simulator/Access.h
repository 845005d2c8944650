// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the addresses of a warp's lanes to host pointers, with every judgement on the way: undefined addresses, bounds,
// alignment, freed memory, races; and the traffic counters.
#pragma once

#include "runtime/simulator/Launch.h"

namespace stator::sim {

/// State of a byte of memory: bit 0 tells that it is defined. The others are for shared memory: an asynchronous copy is
/// writing it (and it was defined before), it belongs to an mbarrier.
inline constexpr uint8_t kInFlight = 2, kWasDefined = 4, kMbarrierByte = 8;

/// What a warp instruction wants to touch.
struct Access {
  alignas(64) uint64_t address[kLanes];
  uint32_t mask = 0;
  uint32_t bytes = 0; ///< of each lane, vectors included
  Space space = Space::generic;
  bool write = false, atomic = false;
  bool ordering = true; ///< false: an atomic whose ordering is kept elsewhere (mbarriers)
};

/// Where it lies. `dense`: all 32 lanes, one behind the other from `data`. Otherwise lane by lane, for the lanes of
/// `ok`.
struct Places {
  bool dense = false;
  uint8_t *data = nullptr, *defined = nullptr;
  uint8_t *lane[kLanes], *laneDefined[kLanes]; ///< laneDefined null: always defined
  uint32_t ok = 0;
  uint32_t globalLanes = 0; ///< lanes whose address is in global memory
  uint32_t sharedLanes = 0; ///< lanes whose address is in shared memory, of blocks `owner`
  Block *owner[kLanes];
  // Race checks: lanes recorded so far; plain stores that meet an unordered store; lanes that write one place together.
  uint32_t stamped = 0, conflict = 0, conflictStamp = 0;
  bool conflictDoubtful = false, overlap = false;

  Block *sharedOwner(unsigned lane) const { return sharedLanes >> lane & 1 ? owner[lane] : nullptr; }
};

/// Fills `access` from a decoded memory instruction.
void gatherAddresses(Warp &warp, const Instr &instr, uint32_t mask, Access &access);
/// Resolves and judges. Lanes that may not be accessed are reported and left out of `ok`.
void resolve(Warp &warp, const Instr &instr, Access &access, Places &places);

/// After a plain store: reports conflicts that `places` holds; `same`: lanes whose bytes held the stored value already.
void reportStoreConflicts(Warp &warp, const Instr &instr, const Access &access, const Places &places, uint32_t same);

/// Lanes whose bytes an asynchronous operation is writing, or, for stores, reading, or that belong to an mbarrier.
uint32_t inFlightLanes(const Places &places, const Access &access);
void reportInFlight(Warp &warp, const Instr &instr, const Access &access, const Places &places, uint32_t lanes);

/// Are all `bytes` state bytes from `defined` set? Null counts as defined.
inline bool allDefined(const uint8_t *defined, uint64_t bytes) {
  if (!defined) return true;
  uint8_t all = 1;
  for (uint64_t i = 0; i < bytes; ++i) all &= defined[i];
  return all;
}

} // namespace stator::sim
