// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file Random numbers whose sequence is the same on every machine.
#ifndef STATOR_CODEGEN_MEMORY_RANDOM_H
#define STATOR_CODEGEN_MEMORY_RANDOM_H

#include <cstdint>

namespace stator::memory {

/// splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// In [0, bound); bound > 0. The remainder's bias does not matter for what it is used for.
  uint64_t below(uint64_t bound) { return next() % bound; }

  /// In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

} // namespace stator::memory

#endif // STATOR_CODEGEN_MEMORY_RANDOM_H
