// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Traffic.h"

#include <algorithm>

namespace stator::sim {

void countGlobal(MemoryCount &count, const uint64_t *addresses, uint32_t lanes, uint32_t bytes) {
  uint64_t sectors[2 * kLanes];
  unsigned n = 0;
  unsigned active = 0;
  uint64_t previous = ~uint64_t{0};
  bool sorted = true;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    ++active;
    for (uint64_t s = addresses[l] / 32; s <= (addresses[l] + bytes - 1) / 32 && n < 2 * kLanes; ++s) {
      if (s == previous) continue;
      sorted &= n == 0 || s > previous;
      sectors[n++] = previous = s;
    }
  }
  if (!sorted) {
    std::sort(sectors, sectors + n);
    n = static_cast<unsigned>(std::unique(sectors, sectors + n) - sectors);
  }
  ++count.accesses;
  count.bytes += uint64_t{active} * bytes;
  count.sectors += n;
  // One word read by every lane is ideally one sector, so the ideal never exceeds what was touched.
  count.ideal += std::min<uint64_t>((uint64_t{active} * bytes + 31) / 32, n);
}

void Footprint::join(const Footprint &other) {
  for (const auto &[number, page] : other.pages) {
    Page &mine = pages[number];
    for (unsigned i = 0; i < 2; ++i) {
      mine.read[i] |= page.read[i];
      mine.written[i] |= page.written[i];
    }
  }
}

void Footprint::count(uint64_t &read, uint64_t &written) const {
  for (const auto &[number, page] : pages)
    for (unsigned i = 0; i < 2; ++i) {
      read += static_cast<uint64_t>(__builtin_popcountll(page.read[i]));
      written += static_cast<uint64_t>(__builtin_popcountll(page.written[i]));
    }
}

void countShared(MemoryCount &count, const uint64_t *addresses, uint32_t lanes, uint32_t bytes) {
  unsigned steps = bytes <= 4 ? 1 : bytes <= 8 ? 2 : 4, group = kLanes / steps;
  unsigned words = std::max(1u, bytes / 4);
  ++count.accesses;
  for (unsigned step = 0; step < steps; ++step) {
    // Lanes whose accesses lie in different banks: the common case, and the best one.
    if (bytes == 4 || bytes == 8 || bytes == 16) {
      uint32_t wanted = lanes >> step * group & (group == kLanes ? kAllLanes : (1u << group) - 1), used = 0;
      unsigned asking = static_cast<unsigned>(__builtin_popcount(wanted));
      for (unsigned i = 0; i < group; ++i)
        used |= wanted >> i & 1 ? 1u << (addresses[step * group + i] / bytes & (group - 1)) : 0;
      if (!wanted) continue;
      if (static_cast<unsigned>(__builtin_popcount(used)) == asking) {
        count.waves += 1;
        count.idealWaves += 1;
        continue;
      }
    }
    // Distinct words per bank; at most 32 words of 4 bytes are asked for in a step.
    uint64_t seen[kLanes];
    uint8_t perBank[kLanes] = {};
    unsigned n = 0, most = 0, active = 0;
    for (unsigned i = 0; i < group; ++i) {
      unsigned l = step * group + i;
      if (!(lanes >> l & 1)) continue;
      ++active;
      for (unsigned w = 0; w < words; ++w) {
        uint64_t word = addresses[l] / 4 + w;
        bool known = false;
        for (unsigned k = 0; k < n && !known; ++k) known = seen[k] == word;
        if (known) continue;
        if (n < kLanes) seen[n++] = word;
        most = std::max<unsigned>(most, ++perBank[word % kLanes]);
      }
    }
    if (!active) continue;
    count.waves += most;
    count.idealWaves += 1;
  }
}

} // namespace stator::sim
