// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/MemoryPlanner.h"

#include "codegen/memory/Block.h"
#include "codegen/memory/Overlap.h"

#include <algorithm>

namespace stator::memory {
namespace {

constexpr int64_t kMost = int64_t(1) << 62;

/// scale * value + size, rounded up to the alignment; false if that leaves [0, 2^62].
bool sizeAt(const Buffer &buffer, int64_t value, int64_t &bytes) {
  int64_t product, sum;
  if (__builtin_mul_overflow(buffer.scale, value, &product) || __builtin_add_overflow(product, buffer.size, &sum) ||
      sum < 0 || sum > kMost - (buffer.alignment - 1))
    return false;
  bytes = alignUp(sum, buffer.alignment);
  return true;
}

std::string checkBuffer(const Problem &problem, const Buffer &b, int64_t &bytes) {
  auto inRange = [](int64_t index, size_t count) { return index >= 0 && index < static_cast<int64_t>(count); };
  if (b.lower >= b.upper) return "its life is empty";
  if (b.lower < -kMost || b.upper > kMost) return "its life leaves the range of times";
  if (b.size < 0 && b.symbol == kNone) return "its size is negative";
  if (b.alignment < 1 || b.alignment > kMost) return "its alignment is not positive or too large";
  if (!inRange(b.arena, problem.arenas.size())) return "there is no arena " + std::to_string(b.arena);
  if (b.symbol != kNone && !inRange(b.symbol, problem.symbols.size()))
    return "there is no symbol " + std::to_string(b.symbol);
  if (b.symbol == kNone && b.scale != 0) return "its size has a scale but no symbol";
  bytes = 0;
  if (b.symbol == kNone) {
    if (!sizeAt(b, 0, bytes)) return "its size is too large";
  } else {
    int64_t atLow, atHigh;
    const Symbol &symbol = problem.symbols[b.symbol];
    if (!sizeAt(b, symbol.low, atLow) || !sizeAt(b, symbol.high, atHigh))
      return "its size is negative or too large for some value of " + symbol.name;
    bytes = std::max(atLow, atHigh);
  }
  if (b.fixedOffset != kNone) {
    if (b.fixedOffset < 0 || b.fixedOffset > kMost) return "its fixed offset is negative or too large";
    if (b.fixedOffset % b.alignment) return "its fixed offset is not aligned";
  }
  if (b.shareWith != kNone) {
    if (b.fixedOffset != kNone) return "it has a fixed offset and would share another's place";
    if (!inRange(b.shareWith, problem.buffers.size()))
      return "there is no buffer " + std::to_string(b.shareWith) + " to share with";
    if (problem.buffers[b.shareWith].arena != b.arena) return "it would share with a buffer of another arena";
    if (b.shareAt < 0 || b.shareAt > kMost || b.shareAt % b.alignment)
      return "the place where it would share is negative, too large or not aligned";
  }
  return "";
}

/// Each buffer names at most one other, so a walk along the shares either ends or meets its own trace.
std::optional<Fault> findShareCycle(const Problem &problem) {
  std::vector<int64_t> walkOf(problem.buffers.size(), kNone);
  for (int64_t walk = 0; walk < static_cast<int64_t>(walkOf.size()); ++walk) {
    int64_t u = walk;
    for (; u != kNone && walkOf[u] == kNone; u = problem.buffers[u].shareWith) walkOf[u] = walk;
    if (u != kNone && walkOf[u] == walk) return Fault{"its shares form a cycle", u};
  }
  return std::nullopt;
}

/// Fixed buffers of one arena that overlap.
std::optional<Fault> findFixedOverlap(const Problem &problem) {
  for (size_t arena = 0; arena < problem.arenas.size(); ++arena) {
    std::vector<Rectangle> rectangles;
    std::vector<int64_t> owner;
    for (size_t u = 0; u < problem.buffers.size(); ++u) {
      const Buffer &b = problem.buffers[u];
      if (b.fixedOffset == kNone || b.arena != static_cast<int>(arena)) continue;
      rectangles.push_back({b.lower, b.upper, b.fixedOffset, b.fixedOffset + mostBytes(problem, b)});
      owner.push_back(static_cast<int64_t>(u));
    }
    if (auto pair = findOverlap(rectangles))
      return Fault{"it overlaps another one at their fixed offsets", std::max(owner[pair->first], owner[pair->second]),
                   std::min(owner[pair->first], owner[pair->second])};
  }
  return std::nullopt;
}

} // namespace

int64_t bytesAt(const Buffer &buffer, int64_t value) {
  int64_t bytes = 0;
  sizeAt(buffer, buffer.symbol == kNone ? 0 : value, bytes);
  return bytes;
}

int64_t mostBytes(const Problem &problem, const Buffer &buffer) {
  if (buffer.symbol == kNone) return bytesAt(buffer, 0);
  const Symbol &symbol = problem.symbols[buffer.symbol];
  return std::max(bytesAt(buffer, symbol.low), bytesAt(buffer, symbol.high));
}

std::optional<Fault> findFault(const Problem &problem) {
  if (problem.arenas.size() > 64) return Fault{"more than 64 arenas"};
  if (problem.buffers.size() > (size_t(1) << 30)) return Fault{"more than 2^30 buffers"};
  for (const Arena &arena : problem.arenas)
    if (arena.capacity < 0 && arena.capacity != kNone)
      return Fault{"arena " + arena.name + ": its capacity is negative"};
  for (const Symbol &symbol : problem.symbols)
    if (symbol.low > symbol.high) return Fault{"symbol " + symbol.name + ": its range is empty"};
  // No sum that is ever formed is larger than all sizes and displacements together.
  int64_t total = 0;
  for (size_t u = 0; u < problem.buffers.size(); ++u) {
    const Buffer &buffer = problem.buffers[u];
    int64_t bytes = 0;
    std::string wrong = checkBuffer(problem, buffer, bytes);
    for (int64_t part : {bytes, buffer.alignment, std::max<int64_t>(buffer.fixedOffset, 0), buffer.shareAt})
      if (wrong.empty() && (__builtin_add_overflow(total, part, &total) || total > kMost))
        wrong = "the sizes and offsets up to here add up to more than 2^62 bytes";
    if (!wrong.empty()) return Fault{wrong, static_cast<int64_t>(u)};
  }
  if (std::optional<Fault> cycle = findShareCycle(problem)) return cycle;
  return findFixedOverlap(problem);
}

std::string checkProblem(const Problem &problem) {
  std::optional<Fault> fault = findFault(problem);
  if (!fault) return "";
  std::string text = fault->buffer == kNone ? "" : "buffer " + std::to_string(fault->buffer) + ": ";
  return text + fault->what + (fault->other == kNone ? "" : " (buffer " + std::to_string(fault->other) + ")");
}

} // namespace stator::memory
