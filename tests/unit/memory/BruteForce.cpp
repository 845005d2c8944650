// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/memory/BruteForce.h"

#include <algorithm>

namespace stator::memory {
namespace {

int64_t roundedSize(const Buffer &b) { return (b.size + b.alignment - 1) / b.alignment * b.alignment; }

bool apart(const Buffer &a, int64_t atA, const Buffer &b, int64_t atB) {
  return a.upper <= b.lower || b.upper <= a.lower || atA + roundedSize(a) <= atB || atB + roundedSize(b) <= atA;
}

bool placeFrom(const Problem &problem, size_t next, int64_t capacity, std::vector<int64_t> &at) {
  if (next == problem.buffers.size()) return true;
  const Buffer &b = problem.buffers[next];
  for (int64_t offset = 0; offset + roundedSize(b) <= capacity; offset += b.alignment) {
    if (b.fixedOffset != kNone && offset != b.fixedOffset) continue;
    bool good = true;
    for (size_t u = 0; u < next && good; ++u) good = apart(problem.buffers[u], at[u], b, offset);
    at[next] = offset;
    if (good && placeFrom(problem, next + 1, capacity, at)) return true;
  }
  return false;
}

} // namespace

bool fitsByForce(const Problem &problem, int64_t capacity) {
  std::vector<int64_t> at(problem.buffers.size());
  return placeFrom(problem, 0, capacity, at);
}

int64_t smallestByForce(const Problem &problem) {
  int64_t capacity = 0;
  while (!fitsByForce(problem, capacity)) ++capacity;
  return capacity;
}

Problem randomProblem(Random &random, const RandomShape &shape) {
  Problem problem;
  const int count = 1 + static_cast<int>(random.below(static_cast<uint64_t>(shape.mostBuffers)));
  for (int i = 0; i < count; ++i) {
    Buffer b;
    b.lower = static_cast<int64_t>(random.below(static_cast<uint64_t>(shape.mostTime)));
    b.upper = b.lower + 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(shape.mostTime)));
    b.size = 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(shape.mostSize)));
    if (shape.alignment) b.alignment = 1 + static_cast<int64_t>(random.below(4));
    if (shape.fixed && random.below(3) == 0) {
      b.fixedOffset = static_cast<int64_t>(random.below(6)) * b.alignment;
      for (const Buffer &other : problem.buffers)
        if (other.fixedOffset != kNone && !apart(other, other.fixedOffset, b, b.fixedOffset)) b.fixedOffset = kNone;
    }
    problem.buffers.push_back(b);
  }
  return problem;
}

std::string describe(const Problem &problem) {
  std::string text;
  for (const Buffer &b : problem.buffers)
    text += "[" + std::to_string(b.lower) + "," + std::to_string(b.upper) + ") size " + std::to_string(b.size) + "+" +
            std::to_string(b.scale) + "*s align " + std::to_string(b.alignment) + " fixed " +
            std::to_string(b.fixedOffset) + " shares " + std::to_string(b.shareWith) + "@" + std::to_string(b.shareAt) +
            "\n";
  return text;
}

} // namespace stator::memory
