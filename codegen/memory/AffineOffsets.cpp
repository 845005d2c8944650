// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/AffineOffsets.h"

#include "codegen/memory/Block.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace stator::memory {
namespace {

constexpr int64_t kMost = int64_t(1) << 60;

/// What moves as one: the buffers of a place, and its size at both ends of the range.
struct Place {
  int64_t lower = INT64_MAX, upper = INT64_MIN, start = INT64_MAX;
  int64_t sizeLow = 0, sizeHigh = 0, alignment = 1;
  int64_t atLow = 0, atHigh = 0; ///< what lies below ends there at the ends of the range
  Affine offset;
};

int64_t divideUp(int64_t a, int64_t b) { return a / b + (a % b > 0); }

/// The least affine function with a scale and values that are multiples of the alignment and that is at least
/// atLow and atHigh at the ends of the range. False on overflow.
bool fit(Place &place, const Symbol &symbol) {
  // The range as a divisor; a single value or a huge range needs no scale worth speaking of.
  int64_t width, product;
  if (__builtin_sub_overflow(symbol.high, symbol.low, &width)) return false;
  const int64_t a = place.alignment, rise = place.atHigh - place.atLow;
  const int64_t scale = width && rise > 0 ? alignUp(divideUp(rise, width), a) : 0;
  if (__builtin_mul_overflow(scale, symbol.low, &product) || product > kMost || product < -kMost) return false;
  const int64_t start = alignUp(std::max(place.atLow, rise > 0 ? 0 : place.atHigh), a);
  place.offset = {start - product, scale};
  return !__builtin_mul_overflow(scale, symbol.high, &product) && product <= kMost && product >= -kMost;
}

int rootOf(const Problem &problem, const Plan &plan, int u) {
  while (plan.shared[u]) u = static_cast<int>(problem.buffers[u].shareWith);
  return u;
}

} // namespace

std::optional<AffinePlan> affineOffsets(const Problem &problem, const Plan &plan, int arena) {
  int symbol = kNone;
  std::vector<Place> places(problem.buffers.size());
  std::vector<int> rootOfBuffer(problem.buffers.size(), -1), roots;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &b = problem.buffers[i];
    if (b.arena != arena || !mostBytes(problem, b)) continue;
    if (b.fixedOffset != kNone || (b.symbol != kNone && symbol != kNone && b.symbol != symbol)) return std::nullopt;
    symbol = b.symbol != kNone ? b.symbol : symbol;
    const int root = rootOfBuffer[i] = rootOf(problem, plan, static_cast<int>(i));
    Place &place = places[root];
    const int64_t within = plan.offsets[i] - plan.offsets[root], common = std::gcd(place.alignment, b.alignment);
    const bool single = b.symbol == kNone;
    if (place.start == INT64_MAX) roots.push_back(root);
    place.lower = std::min(place.lower, b.lower);
    place.upper = std::max(place.upper, b.upper);
    place.start = plan.offsets[root];
    place.sizeLow = std::max(place.sizeLow, within + bytesAt(b, single ? 0 : problem.symbols[b.symbol].low));
    place.sizeHigh = std::max(place.sizeHigh, within + bytesAt(b, single ? 0 : problem.symbols[b.symbol].high));
    if (b.alignment / common > kMost / place.alignment) return std::nullopt;
    place.alignment *= b.alignment / common;
  }
  if (symbol == kNone) return std::nullopt;
  const Symbol &range = problem.symbols[symbol];

  AffinePlan result;
  auto load = [&](int64_t Place::*size) {
    std::vector<Block> blocks;
    for (int root : roots)
      if (places[root].*size > 0) blocks.push_back({places[root].lower, places[root].upper, places[root].*size, 1, -1});
    return liveLoad(blocks, findSections(blocks));
  };
  result.loadAtLow = load(&Place::sizeLow);
  result.loadAtHigh = load(&Place::sizeHigh);

  // A place's sizes in between lie under the line between the ends, once that line is raised by what rounding up to the
  // alignment can add: an alignment less one (nothing if size and scale are multiples of it).
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &b = problem.buffers[i];
    if (rootOfBuffer[i] < 0 || b.symbol == kNone || (b.scale % b.alignment == 0 && b.size % b.alignment == 0)) continue;
    Place &place = places[rootOfBuffer[i]];
    const int64_t within = plan.offsets[i] - plan.offsets[rootOfBuffer[i]];
    place.sizeLow = std::max(place.sizeLow, within + bytesAt(b, range.low) + b.alignment - 1);
    place.sizeHigh = std::max(place.sizeHigh, within + bytesAt(b, range.high) + b.alignment - 1);
  }

  // Who lies directly under whom at the moment one of the two begins: the rest follows by transitivity.
  std::vector<std::tuple<int64_t, bool, int>> events;
  for (int root : roots) {
    events.emplace_back(places[root].lower, true, root);
    events.emplace_back(places[root].upper, false, root);
  }
  std::sort(events.begin(), events.end());
  std::set<std::pair<int64_t, int>> live;
  std::vector<std::pair<int, int>> above; // (lower, upper)
  for (auto [time, begins, root] : events) {
    if (!begins) {
      live.erase({places[root].start, root});
      continue;
    }
    auto it = live.insert({places[root].start, root}).first;
    if (it != live.begin()) above.emplace_back(std::prev(it)->second, root);
    if (auto next = std::next(it); next != live.end()) above.emplace_back(root, next->second);
  }
  std::sort(above.begin(), above.end(), [&](auto &x, auto &y) {
    return std::make_pair(places[x.first].start, x.first) < std::make_pair(places[y.first].start, y.first);
  });
  std::sort(roots.begin(), roots.end(),
            [&](int x, int y) { return std::make_pair(places[x].start, x) < std::make_pair(places[y].start, y); });
  Place end;
  size_t next = 0;
  for (int root : roots) {
    Place &place = places[root];
    if (!fit(place, range)) return std::nullopt;
    const int64_t low = place.offset.at(range.low) + place.sizeLow, high = place.offset.at(range.high) + place.sizeHigh;
    if (low > kMost || high > kMost) return std::nullopt;
    auto push = [&](Place &upper) {
      upper.atLow = std::max(upper.atLow, low);
      upper.atHigh = std::max(upper.atHigh, high);
    };
    push(end);
    for (; next < above.size() && above[next].first == root; ++next) push(places[above[next].second]);
  }
  if (!fit(end, range)) return std::nullopt;
  result.bytes = end.offset;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const int root = rootOfBuffer[i];
    Affine offset = {plan.offsets[i], 0};
    if (root >= 0) {
      offset = places[root].offset;
      offset.base += plan.offsets[i] - plan.offsets[root];
    }
    result.offsets.push_back(offset);
  }
  return result;
}

} // namespace stator::memory
