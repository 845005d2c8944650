// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/Sharing.h"

#include "codegen/memory/LoadProfile.h"

#include <algorithm>
#include <numeric>

namespace stator::memory {
namespace {

constexpr size_t kMostMembers = 1024; ///< of one place; each newcomer is compared with all of them
constexpr size_t kMostFixed = 1024;   ///< fixed blocks beyond which nothing shares with one of them

/// The smallest common multiple, or 0 if it is beyond any sensible alignment.
int64_t commonMultiple(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a / std::gcd(a, b), b, &product) || product > (int64_t(1) << 40)) return 0;
  return product;
}

class PlaceBuilder {
public:
  PlaceBuilder(const Problem &problem, int arena)
      : problem(problem), places(makePlaces(problem, arena)), members(places.blocks.size()), profile(places.blocks) {
    for (size_t u = 0; u < problem.buffers.size(); ++u)
      if (places.blockOf[u] >= 0) members[places.blockOf[u]].push_back(static_cast<int>(u));
    for (const Block &block : places.blocks) fixedBlocks += block.isFixed();
  }

  Places build() {
    // A buffer joins the place of its shareWith after that one has found its own.
    std::vector<char> done(problem.buffers.size(), 0);
    std::vector<int> chain;
    for (size_t start = 0; start < done.size(); ++start) {
      chain.clear();
      for (int64_t u = static_cast<int64_t>(start); u != kNone && !done[u]; u = problem.buffers[u].shareWith)
        chain.push_back(static_cast<int>(u));
      for (size_t i = chain.size(); i-- > 0;) {
        done[chain[i]] = 1;
        join(chain[i]);
      }
    }
    return finish();
  }

private:
  void join(int u);
  bool disturbs(int u, int parent, int64_t at, const std::vector<int> &there) const;
  bool collides(const Block &grown, int self) const;

  Places finish() {
    // Drop the blocks that have been emptied.
    std::vector<int> number(places.blocks.size(), -1);
    std::vector<Block> kept;
    for (size_t k = 0; k < places.blocks.size(); ++k)
      if (!members[k].empty()) {
        number[k] = static_cast<int>(kept.size());
        kept.push_back(places.blocks[k]);
      }
    for (int &block : places.blockOf) block = block < 0 ? -1 : number[block];
    places.blocks = std::move(kept);
    return std::move(places);
  }

  const Problem &problem;
  Places places;
  std::vector<std::vector<int>> members;
  LoadProfile profile;
  size_t fixedBlocks = 0;
};

bool PlaceBuilder::disturbs(int u, int parent, int64_t at, const std::vector<int> &there) const {
  const Buffer &b = problem.buffers[u];
  const int64_t end = at + mostBytes(problem, b);
  for (int v : there) {
    const Buffer &other = problem.buffers[v];
    if (v != parent && b.lower < other.upper && other.lower < b.upper && places.within[v] < end &&
        at < places.within[v] + mostBytes(problem, other))
      return true;
  }
  return false;
}

bool PlaceBuilder::collides(const Block &grown, int self) const {
  for (size_t k = 0; k < places.blocks.size(); ++k) {
    const Block &other = places.blocks[k];
    if (static_cast<int>(k) != self && other.isFixed() && other.lower < grown.upper && grown.lower < other.upper &&
        other.fixed < grown.fixed + grown.size && grown.fixed < other.fixed + other.size)
      return true;
  }
  return false;
}

void PlaceBuilder::join(int u) {
  const Buffer &b = problem.buffers[u];
  if (b.shareWith == kNone || places.blockOf[u] < 0 || places.blockOf[b.shareWith] < 0) return;
  const int parent = static_cast<int>(b.shareWith), from = places.blockOf[u], to = places.blockOf[parent];
  const Block &alone = places.blocks[from], &place = places.blocks[to];
  const int64_t at = places.within[parent] + b.shareAt;
  Block grown = place;
  grown.lower = std::min(place.lower, alone.lower);
  grown.upper = std::max(place.upper, alone.upper);
  grown.alignment = commonMultiple(place.alignment, b.alignment);
  if (members[to].size() >= kMostMembers || at % b.alignment || !grown.alignment) return;
  grown.size = alignUp(std::max(place.size, at + alone.size), grown.alignment);
  if (place.isFixed()) {
    // The alignment of a fixed block is a fact, not a wish.
    if ((place.fixed + at) % b.alignment || fixedBlocks > kMostFixed) return;
    grown.alignment = 1;
    grown.size = std::max(place.size, at + alone.size);
    if (collides(grown, to)) return;
  }
  if (disturbs(u, parent, at, members[to])) return;
  const int64_t before = profile.most(grown.lower, grown.upper);
  auto move = [&](int64_t sign) {
    profile.add(place.lower, place.upper, -sign * place.size);
    profile.add(alone.lower, alone.upper, -sign * alone.size);
    profile.add(grown.lower, grown.upper, sign * grown.size);
  };
  move(1);
  if (profile.most(grown.lower, grown.upper) > before) {
    move(-1);
    return;
  }
  places.within[u] = at;
  places.blockOf[u] = to;
  places.shared[u] = true;
  places.anyShared = true;
  members[to].push_back(u);
  members[from].clear();
  places.blocks[to] = grown;
}

} // namespace

Places makePlaces(const Problem &problem, int arena) {
  Places places;
  places.blockOf.assign(problem.buffers.size(), -1);
  places.within.assign(problem.buffers.size(), 0);
  places.shared.assign(problem.buffers.size(), false);
  for (size_t u = 0; u < problem.buffers.size(); ++u) {
    const Buffer &b = problem.buffers[u];
    int64_t bytes = mostBytes(problem, b);
    if (b.arena != arena || !bytes) continue;
    places.blockOf[u] = static_cast<int>(places.blocks.size());
    places.blocks.push_back({b.lower, b.upper, bytes, b.fixedOffset == kNone ? b.alignment : 1, b.fixedOffset});
  }
  return places;
}

Places makeSharedPlaces(const Problem &problem, int arena) { return PlaceBuilder(problem, arena).build(); }

int64_t shareLoad(const Problem &problem, int arena) {
  std::vector<std::pair<int64_t, int64_t>> changes;
  auto add = [&](int64_t lower, int64_t upper, int64_t bytes) {
    changes.emplace_back(lower, bytes);
    changes.emplace_back(upper, -bytes);
  };
  int64_t most = 0;
  for (const Buffer &b : problem.buffers) {
    int64_t bytes = mostBytes(problem, b);
    if (b.arena != arena || !bytes) continue;
    add(b.lower, b.upper, bytes);
    if (b.fixedOffset != kNone) most = std::max(most, b.fixedOffset + bytes);
    if (b.shareWith == kNone) continue;
    // Only a buffer and its shareWith ever overlap, never three, so the union of all is the sum less these overlaps.
    const Buffer &with = problem.buffers[b.shareWith];
    int64_t lower = std::max(b.lower, with.lower), upper = std::min(b.upper, with.upper);
    int64_t common = std::min(bytes, mostBytes(problem, with) - b.shareAt);
    if (lower < upper && common > 0) add(lower, upper, -common);
  }
  std::sort(changes.begin(), changes.end());
  int64_t live = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    live += changes[i].second;
    if (i + 1 == changes.size() || changes[i + 1].first != changes[i].first) most = std::max(most, live);
  }
  return most;
}

} // namespace stator::memory
