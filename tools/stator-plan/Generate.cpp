// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-plan/Generate.h"

#include "codegen/memory/Random.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace stator::memory {
namespace {

struct Piece {
  int64_t from, to, low, high;
  double area() const { return static_cast<double>(to - from) * static_cast<double>(high - low); }
};

/// A cut between 1/4 and 3/4 of [0, length), at least one unit from either end; length >= 2.
int64_t cutAt(int64_t length, Random &random) {
  int64_t at = length / 4 + static_cast<int64_t>(random.below(static_cast<uint64_t>(length / 2 + 1)));
  return std::clamp<int64_t>(at, 1, length - 1);
}

Buffer makeBuffer(int64_t lower, int64_t upper, int64_t size) {
  Buffer buffer;
  buffer.lower = lower;
  buffer.upper = upper;
  buffer.size = size;
  return buffer;
}

} // namespace

std::vector<Buffer> cutRectangle(int count, int64_t capacity, int trimPercent, uint64_t seed) {
  Random random(seed);
  const int64_t unit = capacity / 1024, length = std::max<int64_t>(256, 4 * count);
  // The pieces in order of area; one of the larger ones is cut next, across its longer side more often than not.
  auto smaller = [](const Piece &a, const Piece &b) { return a.area() < b.area(); };
  std::multiset<Piece, decltype(smaller)> pieces(smaller);
  std::vector<Buffer> buffers;
  pieces.insert({0, length, 0, 1024});
  while (!pieces.empty() && static_cast<int>(pieces.size() + buffers.size()) < count) {
    auto it = std::prev(pieces.end());
    for (uint64_t back = random.below(4); back && it != pieces.begin(); --back) --it;
    Piece piece = *it;
    pieces.erase(it);
    int64_t life = piece.to - piece.from, size = piece.high - piece.low;
    if (life < 2 && size < 2) {
      buffers.push_back(makeBuffer(piece.from, piece.to, size * unit));
      continue;
    }
    // Lives end up about as long as a twelfth of the rectangle's height is to its width.
    double across = static_cast<double>(life) / static_cast<double>(length) * 6;
    double up = static_cast<double>(size) / 1024;
    bool cutTime = size < 2 || (life >= 2 && random.unit() < across / (across + up));
    Piece other = piece;
    if (cutTime)
      piece.to = other.from = piece.from + cutAt(life, random);
    else
      piece.high = other.low = piece.low + cutAt(size, random);
    pieces.insert(piece);
    pieces.insert(other);
  }
  for (const Piece &piece : pieces) {
    Buffer buffer = makeBuffer(piece.from, piece.to, (piece.high - piece.low) * unit);
    int64_t spare = (piece.to - piece.from) / 4;
    if (static_cast<int>(random.below(100)) < trimPercent && spare > 0) {
      int64_t cut = 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(spare)));
      if (random.below(2))
        buffer.lower += cut;
      else
        buffer.upper -= cut;
    }
    buffers.push_back(buffer);
  }
  for (size_t i = buffers.size(); i > 1; --i) std::swap(buffers[i - 1], buffers[random.below(i)]);
  return buffers;
}

std::vector<Buffer> layeredNetwork(int count, bool training, uint64_t seed) {
  Random random(seed);
  const int forward = training ? (count + 1) / 2 : count;
  std::vector<Buffer> buffers;
  // A layer keeps its width for a while, as networks do; a value is read by the next ops, sometimes much later.
  int64_t width = 64 * 1024;
  for (int i = 0; i < forward; ++i) {
    if (random.below(40) == 0) width = 256 * (64 + static_cast<int64_t>(random.below(4096)));
    static constexpr int64_t kShares[] = {1, 1, 1, 1, 2, 3, 4, 8};
    int64_t size = width * kShares[random.below(8)] / (random.below(4) ? 1 : 4);
    size = std::max<int64_t>(256, (size + 255) / 256 * 256);
    int64_t life = 1 + static_cast<int64_t>(random.below(3));
    if (random.below(6) == 0) life = 4 + static_cast<int64_t>(random.below(12));
    if (random.below(60) == 0) life = 20 + static_cast<int64_t>(random.below(200));
    int64_t end = std::min<int64_t>(i + 1 + life, forward + 1);
    if (training && random.below(10) < 6)
      end = 2 * static_cast<int64_t>(forward) - i + static_cast<int64_t>(random.below(2));
    buffers.push_back(makeBuffer(i, std::max<int64_t>(end, i + 1), size));
  }
  for (int i = 0; forward + i < count; ++i) {
    // The gradient of a forward value: as large as it, short-lived.
    int64_t now = forward + i, life = 1 + static_cast<int64_t>(random.below(4));
    buffers.push_back(makeBuffer(now, now + life, buffers[forward - 1 - i].size));
  }
  return buffers;
}

std::string generateInstance(const std::string &text, Instance &instance) {
  long long count = 0, trim = 0;
  unsigned long long seed = 0;
  int used = 0;
  const int length = static_cast<int>(text.size());
  instance = Instance();
  std::vector<Buffer> &buffers = instance.problem.buffers;
  if (std::sscanf(text.c_str(), "cut:%lld:%lld:%llu%n", &count, &trim, &seed, &used) == 3 && used == length &&
      count > 0 && count <= 100'000 && trim >= 0 && trim <= 100)
    buffers = cutRectangle(static_cast<int>(count), 1 << 20, static_cast<int>(trim), seed);
  else if (std::sscanf(text.c_str(), "layers:%lld:%llu%n", &count, &seed, &used) == 2 && used == length && count > 0 &&
           count <= 10'000'000)
    buffers = layeredNetwork(static_cast<int>(count), false, seed);
  else if (std::sscanf(text.c_str(), "training:%lld:%llu%n", &count, &seed, &used) == 2 && used == length &&
           count > 0 && count <= 10'000'000)
    buffers = layeredNetwork(static_cast<int>(count), true, seed);
  else
    return text.substr(0, 40) +
           ": names no generated instance (cut:COUNT:TRIM:SEED, layers:COUNT:SEED, training:COUNT:SEED)";
  for (size_t u = 0; u < buffers.size(); ++u) instance.ids.push_back(std::to_string(u));
  return "";
}

} // namespace stator::memory
