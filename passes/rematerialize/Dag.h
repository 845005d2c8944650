// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph in flat arrays, as the searches walk it, and the random numbers they use.
#pragma once

#include "passes/rematerialize/Graph.h"

namespace stator::remat {

/// A range of node numbers inside one of the flat arrays.
struct Span {
  const int32_t *first, *last;
  const int32_t *begin() const { return first; }
  const int32_t *end() const { return last; }
  size_t size() const { return size_t(last - first); }
  int32_t operator[](size_t i) const { return first[i]; }
};

/// Adjacency both ways with sizes, costs and flags.  Nodes keep their numbers.
struct Dag {
  explicit Dag(const std::vector<Node> &nodes);

  int32_t size() const { return int32_t(bytes.size()); }
  Span inputs(int32_t v) const { return {in.data() + inAt[v], in.data() + inAt[v + 1]}; }
  Span readers(int32_t v) const { return {out.data() + outAt[v], out.data() + outAt[v + 1]}; }

  std::vector<int64_t> bytes;
  std::vector<double> cost;
  std::vector<uint8_t> recomputable, keep;
  double baseCost = 0; ///< cost of running every node once
  /// Where all costs that can arise twice are integers, their greatest common divisor: every extra cost is a multiple
  /// of it. Otherwise 0.
  double costUnit = 0;
  /// The least possible extra cost that is not below `bound`.
  double roundUp(double bound) const;

private:
  std::vector<int32_t> in, out, inAt, outAt;
};

/// splitmix64: the same numbers on every platform.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, n), n > 0 (the bias of 2^-32 does not matter to a search).
  uint32_t below(uint32_t n) { return uint32_t(((next() >> 32) * n) >> 32); }
  /// Uniform in [0, 1).
  double unit() { return double(next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

} // namespace stator::remat
