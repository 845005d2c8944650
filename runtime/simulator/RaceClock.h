// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of the race detector share: stamps and clocks. Nobody else includes it.
#pragma once

#include "runtime/simulator/Race.h"

#include <algorithm>

namespace stator::sim {

// A stamp: segment << 7 | lane << 2 | strength. Strength of the access: weak, strong within the block, strong.
inline constexpr uint32_t kWeak = 0, kStrongCta = 1, kStrong = 2, kManyWarps = 3;
inline constexpr uint32_t kManyBlocks = 0xffffffffu, kMostSegments = 1u << 25;
inline constexpr uint64_t kPageBytes = 4096, kMostTracked = uint64_t{6} << 30;

inline uint32_t segmentOf(uint32_t stamp) { return stamp >> 7; }
inline uint32_t laneOf(uint32_t stamp) { return stamp >> 2 & 31; }
inline uint32_t strengthOf(uint32_t stamp) { return stamp & 3; }
inline constexpr unsigned kActorBits = 16;
inline uint64_t keyOf(uint64_t block, uint32_t actor) { return block << kActorBits | actor; }

inline uint32_t &at(std::vector<uint32_t> &clock, size_t actor) {
  if (actor >= clock.size()) clock.resize(actor + 1);
  return clock[actor];
}
inline void join(std::vector<uint32_t> &into, const std::vector<uint32_t> &from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

/// Adds what `from` knows to `into`; equal knowledge becomes one shared object.
void join(std::shared_ptr<Knowledge> &into, const std::shared_ptr<Knowledge> &from);
/// Entries of the warp's own block go to its vector clock.
void takeOwn(Warp &warp, const Knowledge &knowledge);

struct Races::Page {
  std::vector<Cell> cells;
  uint32_t writerInstr = 0, readerInstr = 0;
};

} // namespace stator::sim
