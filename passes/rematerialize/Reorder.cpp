// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Reorder.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <unordered_map>

namespace stator::remat {

namespace {

/// A partial order of execution: what has run, what is live, what can run next.
struct Partial {
  std::vector<uint64_t> ran;             ///< one bit a node
  std::vector<int32_t> missing, readers; ///< inputs that have not run, readers that have not run
  std::vector<int32_t> ready;            ///< ascending
  int64_t live = 0, peak = 0;
  int32_t count = 0;
};

class Orders {
public:
  explicit Orders(const Dag &dag) : dag(dag) {
    Random random(0x5eed);
    for (int32_t v = 0; v < dag.size(); ++v) code.push_back(random.next());
  }
  Partial start() const;
  /// Bytes live while v runs, and the change of the live bytes once it has.
  std::pair<int64_t, int64_t> effect(const Partial &p, int32_t v) const;
  void run(Partial &p, int32_t v) const;
  /// Runs what may always run at once; appends it to `order`.
  void runFree(Partial &p, std::vector<int32_t> &order) const;

  bool exact(int64_t states, int64_t known, Ordered &best) const;
  void greedy(Ordered &best) const;
  void beam(int64_t work, Ordered &best) const;
  Ordered given() const;

private:
  const Dag &dag;
  std::vector<uint64_t> code; ///< random word of each node, to hash sets
};

/// The order behind a state, as links to the states before.
struct Link {
  int64_t parent;
  std::vector<int32_t> nodes;
};

std::vector<int32_t> follow(const std::vector<Link> &links, int64_t at) {
  std::vector<int32_t> order;
  for (; at >= 0; at = links[at].parent) order.insert(order.end(), links[at].nodes.rbegin(), links[at].nodes.rend());
  std::reverse(order.begin(), order.end());
  return order;
}

} // namespace

Partial Orders::start() const {
  Partial p;
  p.ran.assign((size_t(dag.size()) + 63) / 64, 0);
  for (int32_t v = 0; v < dag.size(); ++v) {
    p.missing.push_back(int32_t(dag.inputs(v).size()));
    p.readers.push_back(int32_t(dag.readers(v).size()) + (dag.keep[v] ? 1 : 0));
    if (p.missing[v] == 0) p.ready.push_back(v);
  }
  return p;
}

std::pair<int64_t, int64_t> Orders::effect(const Partial &p, int32_t v) const {
  int64_t change = p.readers[v] > 0 ? dag.bytes[v] : 0;
  for (int32_t i : dag.inputs(v))
    if (p.readers[i] == 1) change -= dag.bytes[i];
  return {p.live + dag.bytes[v], change};
}

void Orders::run(Partial &p, int32_t v) const {
  auto [during, change] = effect(p, v);
  p.peak = std::max(p.peak, during);
  p.live += change;
  p.ran[size_t(v) / 64] |= uint64_t(1) << (v % 64);
  ++p.count;
  for (int32_t i : dag.inputs(v)) --p.readers[i];
  p.ready.erase(std::lower_bound(p.ready.begin(), p.ready.end(), v));
  for (int32_t r : dag.readers(v))
    if (--p.missing[r] == 0) p.ready.insert(std::lower_bound(p.ready.begin(), p.ready.end(), r), r);
}

void Orders::runFree(Partial &p, std::vector<int32_t> &order) const {
  for (size_t k = 0; k < p.ready.size();) {
    int32_t v = p.ready[k];
    auto [during, change] = effect(p, v);
    if (during > p.peak || change > 0) {
      ++k;
      continue;
    }
    run(p, v);
    order.push_back(v);
    k = 0;
  }
}

Ordered Orders::given() const {
  Ordered ordered;
  ordered.order.resize(dag.size());
  std::iota(ordered.order.begin(), ordered.order.end(), 0);
  Partial p = start();
  for (int32_t v : ordered.order) run(p, v);
  ordered.peak = p.peak;
  return ordered;
}

/// Best first on the peak, deeper sets first among equals.  True when it ran to the end (then `best` is exact); `known`
/// is a peak that some order reaches.
bool Orders::exact(int64_t states, int64_t known, Ordered &best) const {
  struct Entry {
    int64_t peak;
    int32_t left;
    int64_t state;
    bool operator<(const Entry &o) const {
      if (peak != o.peak) return peak > o.peak;
      if (left != o.left) return left > o.left;
      return state > o.state;
    }
  };
  std::vector<Partial> open;
  std::vector<Link> links;
  std::unordered_multimap<uint64_t, int64_t> seen; // by hash; equal sets are compared in full
  std::priority_queue<Entry> queue;
  auto push = [&](Partial &&p, int64_t parent, std::vector<int32_t> &&nodes) {
    uint64_t hash = 0;
    for (int32_t v = 0; v < dag.size(); ++v)
      if (p.ran[size_t(v) / 64] >> (v % 64) & 1) hash ^= code[v];
    bool met = false;
    auto [from, to] = seen.equal_range(hash);
    for (auto it = from; it != to && !met; ++it)
      if (open[it->second].ran == p.ran) {
        if (open[it->second].peak <= p.peak) return;
        it->second = int64_t(open.size()); // a better way to the same set
        met = true;
      }
    if (!met) seen.emplace(hash, int64_t(open.size()));
    queue.push({p.peak, dag.size() - p.count, int64_t(open.size())});
    open.push_back(std::move(p));
    links.push_back({parent, std::move(nodes)});
  };
  Partial first = start();
  std::vector<int32_t> nodes;
  runFree(first, nodes);
  push(std::move(first), -1, std::move(nodes));
  while (!queue.empty()) {
    Entry e = queue.top();
    queue.pop();
    if (e.left == 0) {
      best = {follow(links, e.state), e.peak, true};
      return true;
    }
    if (e.peak >= known) break; // nothing better is left
    if (int64_t(open.size()) > states || int64_t(open.size()) * dag.size() > states * 256) return false;
    Partial here = std::move(open[e.state]);
    open[e.state].ran = here.ran; // keeps the set for comparison
    open[e.state].peak = here.peak;
    for (int32_t v : here.ready) {
      Partial p = here;
      run(p, v);
      std::vector<int32_t> order{v};
      runFree(p, order);
      push(std::move(p), e.state, std::move(order));
    }
  }
  best.exact = true; // the known order is best
  return true;
}

void Orders::beam(int64_t work, Ordered &best) const {
  const int64_t n = dag.size();
  const size_t width = size_t(std::clamp<int64_t>(work / (n * std::max<int64_t>(1, n / 8)), 2, 64));
  struct Choice {
    int64_t peak, live;
    size_t from;
    int32_t node;
  };
  std::vector<Partial> now{start()};
  std::vector<int64_t> link{-1};
  std::vector<Link> links;
  for (int64_t level = 0; level < n; ++level) {
    std::vector<Choice> choices;
    for (size_t k = 0; k < now.size(); ++k)
      for (int32_t v : now[k].ready) {
        auto [during, change] = effect(now[k], v);
        choices.push_back({std::max(now[k].peak, during), now[k].live + change, k, v});
      }
    std::stable_sort(choices.begin(), choices.end(), [](const Choice &a, const Choice &b) {
      if (a.peak != b.peak) return a.peak < b.peak;
      return a.live != b.live ? a.live < b.live : a.node < b.node;
    });
    std::vector<Partial> then;
    std::vector<int64_t> thenLink;
    std::vector<uint64_t> hashes;
    for (const Choice &c : choices) {
      if (then.size() == width) break;
      // Two ways to the same set: the first has the lower peak.
      uint64_t hash = code[c.node];
      const Partial &p = now[c.from];
      for (size_t w = 0; w < p.ran.size(); ++w)
        for (uint64_t bits = p.ran[w]; bits; bits &= bits - 1) hash ^= code[w * 64 + size_t(__builtin_ctzll(bits))];
      if (std::find(hashes.begin(), hashes.end(), hash) != hashes.end()) continue;
      hashes.push_back(hash);
      then.push_back(p);
      run(then.back(), c.node);
      links.push_back({link[c.from], {c.node}});
      thenLink.push_back(int64_t(links.size()) - 1);
    }
    now = std::move(then);
    link = std::move(thenLink);
    if (now.front().peak >= best.peak) return; // no better than what is known
  }
  best = {follow(links, link.front()), now.front().peak, false};
}

/// One state only, the best next node among the first ready ones: for graphs too large for a beam.
void Orders::greedy(Ordered &best) const {
  constexpr size_t looks = 256;
  Partial p = start();
  std::vector<int32_t> order;
  while (!p.ready.empty()) {
    int32_t pick = -1;
    std::pair<int64_t, int64_t> least;
    for (size_t k = 0; k < p.ready.size() && k < looks; ++k) {
      auto [during, change] = effect(p, p.ready[k]);
      std::pair<int64_t, int64_t> now{std::max(p.peak, during), change};
      if (pick < 0 || now < least) {
        pick = p.ready[k];
        least = now;
      }
    }
    run(p, pick);
    order.push_back(pick);
    if (p.peak >= best.peak) return;
  }
  best = {std::move(order), p.peak, false};
}

Ordered reorder(const Dag &dag, const ReorderLimits &limits) {
  Orders orders(dag);
  Ordered best = orders.given();
  orders.greedy(best);
  // Each state of the beam and of the exact search is a copy of the size of the graph.
  const int64_t n = dag.size();
  if (n * n / 16 > limits.beamWork) return best;
  orders.beam(limits.beamWork, best);
  if (!orders.exact(limits.states, best.peak, best)) best.exact = false;
  return best;
}

} // namespace stator::remat
