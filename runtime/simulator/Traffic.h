// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counting memory traffic of one warp instruction: 32-byte sectors of global memory, passes through the 32 four-byte
// banks of shared memory.
#pragma once

#include "runtime/simulator/Counters.h"

#include <algorithm>
#include <unordered_map>

namespace stator::sim {

/// 32 lanes one behind the other.
inline void countDense(MemoryCount &count, uint64_t first, uint64_t bytes) {
  ++count.accesses;
  count.bytes += bytes;
  count.sectors += (first + bytes - 1) / 32 - first / 32 + 1;
  count.ideal += (bytes + 31) / 32;
}

void countGlobal(MemoryCount &count, const uint64_t *addresses, uint32_t lanes, uint32_t bytes);

/// Accesses of 8 bytes go in two half-warps, of 16 bytes in four quarter-warps; lanes that read one word share it.
void countShared(MemoryCount &count, const uint64_t *addresses, uint32_t lanes, uint32_t bytes);

/// The sectors of global memory that a worker's blocks have touched, as bits per page.
class Footprint {
public:
  void touch(uint64_t first, uint64_t bytes, bool read, bool write) {
    uint64_t last = (first + bytes - 1) / 32;
    for (uint64_t sector = first / 32; sector <= last;) {
      Page &page = at(sector / kSectors);
      uint64_t bit = sector % kSectors, n = std::min(last - sector + 1, kSectors - bit);
      if (read) set(page.read, bit, n);
      if (write) set(page.written, bit, n);
      sector += n;
    }
  }
  void join(const Footprint &other);
  void count(uint64_t &read, uint64_t &written) const;

private:
  static constexpr uint64_t kSectors = 4096 / 32;
  struct Page {
    uint64_t read[2] = {}, written[2] = {};
  };
  static void set(uint64_t (&bits)[2], uint64_t bit, uint64_t n) {
    for (uint64_t end = bit + n; bit < end;) {
      uint64_t at = bit % 64, count = std::min(end - bit, 64 - at);
      bits[bit / 64] |= (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << at;
      bit += count;
    }
  }
  Page &at(uint64_t number) {
    Recent &recent = cache[number % kRecent];
    if (recent.number != number || !recent.page) recent = {number, &pages[number]};
    return *recent.page;
  }
  static constexpr unsigned kRecent = 16;
  struct Recent {
    uint64_t number = 0;
    Page *page = nullptr;
  };
  Recent cache[kRecent];
  std::unordered_map<uint64_t, Page> pages;
};

} // namespace stator::sim
