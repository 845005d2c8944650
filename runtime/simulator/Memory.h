// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device's memory: named allocations in a sparse address space.
//
// Each device has one range of simulated addresses, backed by one lazily mapped range of host memory, so an allocation
// of many gigabytes costs only the pages that are touched. Beside the data lies one byte of state per byte (defined or
// not). Addresses are never given out twice while the range lasts, and gaps lie between allocations: a stray access
// hits no other allocation, and use after free is recognised for ever.
#pragma once

#include "runtime/simulator/AddressSpace.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace stator::sim {

/// A tensor inside an allocation, as a memory plan declares it.
struct Region {
  uint64_t base, bytes;
  std::string name;
  bool dead;
};

struct Allocation {
  enum class Kind : uint8_t { device, managed, host, module };
  uint64_t base = 0, bytes = 0;
  uint8_t *data = nullptr;
  uint8_t *defined = nullptr; ///< null: written by the host behind our back, so always taken as defined
  Kind kind = Kind::device;
  bool freed = false;
  bool readOnly = false; ///< `.const` variables
  uint32_t number = 0;
  std::string name;
  std::vector<Region> regions; ///< sorted; when not empty, only they may be accessed
  std::unique_ptr<uint8_t[]> owned;

  uint64_t end() const { return base + bytes; }
};

/// Why an address range may not be accessed.
enum class Fault : uint8_t { none, unmapped, pastEnd, freed, gap, deadRegion, readOnly };

class Memory {
public:
  /// `ordinal`: the device's number. `capacity`: bytes that live allocations may take together.
  Memory(unsigned ordinal, uint64_t capacity);
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// A new allocation, its bytes undefined; 0 where the capacity does not allow it.
  uint64_t allocate(uint64_t bytes, const std::string &name, Allocation::Kind kind = Allocation::Kind::device);
  /// Makes host memory accessible to kernels at its own address.
  void attachHost(void *pointer, uint64_t bytes, Allocation::Kind kind, const std::string &name);
  void detachHost(const void *pointer);
  /// False where `base` is not the start of a live allocation.
  bool free(uint64_t base);

  /// The allocation that holds or last held `address`, or null.
  Allocation *find(uint64_t address) const;
  /// The allocation whose end is nearest below or start nearest above `address`; null where there is none.
  const Allocation *nearest(uint64_t address) const;
  /// May [address, address+bytes) be accessed by a kernel (`write`) inside `allocation`?
  static Fault check(const Allocation &allocation, uint64_t address, uint64_t bytes, bool write);
  /// Host pointer to a range for the driver's own copies; null where it is not inside one live allocation.
  uint8_t *host(uint64_t address, uint64_t bytes, Allocation **owner = nullptr) const;
  static void define(Allocation &allocation, uint64_t address, uint64_t bytes, bool defined = true);

  /// Declares a live tensor (its bytes undefined) in an allocation, or ends one.
  bool addRegion(uint64_t base, uint64_t bytes, const std::string &name);
  bool endRegion(uint64_t base);

  /// Words for a report: "4 bytes past the end of 'x' (400 bytes at 0x...)".
  std::string describe(uint64_t address) const;

  uint64_t used() const { return live; }
  uint64_t capacity() const { return limit; }
  uint64_t version = 0; ///< grows whenever allocations change; caches compare it

private:
  uint64_t base, limit, next, live = 0;
  uint8_t *dataRange = nullptr, *definedRange = nullptr;
  uint64_t rangeBytes = 0;
  uint32_t numbers = 0;
  std::map<uint64_t, std::unique_ptr<Allocation>> allocations; ///< by base, freed ones included
};

} // namespace stator::sim
