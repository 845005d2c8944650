// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Search.h"

#include <algorithm>
#include <cmath>

namespace stator::remat {

namespace {
/// The moves of the annealing on one sequence.
class Mover {
public:
  Mover(Sequence &seq, const AnnealOptions &options)
      : seq(seq), dag(seq.graph()), time(seq.timeline()), options(options), random(options.seed) {
    for (int32_t v = 0; v < dag.size(); ++v)
      if (dag.recomputable[v] && dag.bytes[v] > 0) droppable.push_back(v);
  }
  bool canMove() const { return !droppable.empty() || options.reorder; }
  /// Makes one random edit (not committed); false when it came to nothing.
  bool propose();
  double unit() { return random.unit(); }

private:
  bool drop(int32_t v);
  bool dropAnything() { return !droppable.empty() && drop(droppable[random.below(uint32_t(droppable.size()))]); }
  void expand(int32_t v, int32_t next);
  bool dropNear(int32_t v);
  int32_t takeAway();
  bool shift(int32_t step);
  int32_t walk(int32_t from, int32_t lo, int32_t hi);

  Sequence &seq;
  const Dag &dag;
  const Timeline &time;
  const AnnealOptions &options;
  Random random;
  std::vector<int32_t> droppable, sources;
  std::vector<std::pair<int32_t, int32_t>> stack;
};
} // namespace

/// Makes v's value again somewhere in a random gap between its uses.
bool Mover::drop(int32_t v) {
  if (!dag.recomputable[v]) return false;
  const auto &runs = seq.runs(v);
  if (runs.size() > 200) return false;
  int32_t s = runs[random.below(uint32_t(runs.size()))];
  // A random reader of this value; the new run comes just before it.
  Span readers = dag.readers(v);
  int32_t last = seq.lastReader(s), r = last;
  if (last == s) return false;
  if (last != seq.end() || random.below(2)) {
    for (int tries = 0; tries < 3 && readers.size() > 0; ++tries) {
      const auto &rr = seq.runs(readers[random.below(uint32_t(readers.size()))]);
      int32_t t = rr[random.below(uint32_t(rr.size()))];
      if (time.before(s, t) && !time.before(last, t)) {
        r = t;
        break;
      }
    }
  }
  if (time.prev(r) == s) return false;
  // Rarely earlier: while the inputs are still at hand.
  int32_t next = r;
  if (random.below(8) == 0) {
    int32_t lastInput = -1;
    for (int32_t i : dag.inputs(v)) {
      int32_t src = seq.runBefore(i, r);
      if (src < 0) return false;
      int32_t l = seq.lastReader(src);
      if (time.before(l, r) && time.before(s, l) && (lastInput < 0 || time.before(l, lastInput))) lastInput = l;
    }
    if (lastInput >= 0) next = time.next(lastInput);
  }
  expand(v, next);
  if (time.contains(s)) seq.removeIfIdle(s);
  return true;
}

/// Runs v before `next`, in some moves together with what it reads that is dead by then, in some moves instead of the
/// next repeats of the same nodes (so these move forward as a group).
void Mover::expand(int32_t v, int32_t next) {
  const uint32_t deep = random.below(4), hoist = random.below(3);
  stack.assign(1, {v, next});
  for (int allowed = 24; !stack.empty() && allowed > 0; --allowed) {
    auto [w, before] = stack.back();
    stack.pop_back();
    if (!time.contains(before)) continue;
    size_t mark = stack.size();
    if (deep > 0)
      for (int32_t i : dag.inputs(w)) {
        if (!dag.recomputable[i] || seq.runs(i).size() > 200) continue;
        int32_t source = seq.runBefore(i, before);
        if (!time.before(seq.lastReader(source), before) || time.prev(before) == source) continue;
        if (deep == 3 || random.below(4) < deep + 1) stack.push_back({i, -1});
      }
    int32_t x = seq.insert(w, before);
    for (size_t k = mark; k < stack.size(); ++k) stack[k].second = x;
    if (hoist == 0) continue;
    int32_t later = seq.runAfter(w, x);
    if (later < 0 || (hoist == 1 && random.below(2))) continue;
    sources.clear();
    for (int32_t i : dag.inputs(w)) sources.push_back(seq.runBefore(i, later));
    seq.remove(later);
    for (int32_t src : sources)
      if (time.contains(src)) seq.removeIfIdle(src);
  }
}

bool Mover::dropNear(int32_t v) {
  Span a = dag.inputs(v), b = dag.readers(v);
  uint32_t n = uint32_t(a.size() + b.size());
  if (n == 0) return false;
  uint32_t k = random.below(n);
  return drop(k < a.size() ? a[k] : b[k - a.size()]);
}

/// Removes a random repeat and what only it read; returns its node, -1 if there is none.
int32_t Mover::takeAway() {
  const auto &repeats = seq.repeats();
  if (repeats.empty()) return -1;
  int32_t x = repeats[random.below(uint32_t(repeats.size()))], v = seq.nodeOf(x);
  std::vector<int32_t> sources;
  for (int32_t i : dag.inputs(v)) sources.push_back(seq.runBefore(i, x));
  seq.remove(x);
  for (int32_t s : sources) seq.removeIfIdle(s);
  return v;
}

/// A step some way from `from`, strictly behind lo and at most hi.
int32_t Mover::walk(int32_t from, int32_t lo, int32_t hi) {
  bool forth = random.below(2);
  int32_t at = from;
  for (uint32_t k = 1 + random.below(1u << random.below(6)); k > 0; --k) {
    int32_t to = forth ? time.next(at) : time.prev(at);
    if (to < 0 || (forth ? time.before(hi, to) : !time.before(lo, to))) break;
    at = to;
  }
  return at;
}

/// Moves a run within what its inputs and readers allow.
bool Mover::shift(int32_t x) {
  int32_t v = seq.nodeOf(x);
  int32_t lo = seq.isRepeat(x) ? seq.runBefore(v, x) : -1;
  for (int32_t i : dag.inputs(v)) {
    int32_t m = seq.runs(i).front();
    if (lo < 0 || time.before(lo, m)) lo = m;
  }
  int32_t hi = seq.firstReader(x), after = seq.runAfter(v, x);
  if (hi < 0) hi = after < 0 ? seq.end() : after;
  int32_t next;
  switch (random.below(3)) {
  case 0: next = lo < 0 ? time.front() : time.next(lo); break;
  case 1: next = hi; break;
  default: next = lo < 0 ? x : walk(x, lo, hi);
  }
  if (next == x || next == time.next(x)) return false;
  seq.relocate(x, next);
  return true;
}

bool Mover::propose() {
  uint32_t pick = random.below(100);
  if (options.reorder && pick < 25) return shift(seq.runs(int32_t(random.below(uint32_t(dag.size())))).front());
  const auto &repeats = seq.repeats();
  if (pick < 50 || repeats.empty()) return dropAnything();
  if (pick < 65) return takeAway() >= 0;
  if (pick < 75) return shift(repeats[random.below(uint32_t(repeats.size()))]);
  int32_t v = takeAway();
  if (v < 0) return false;
  if (pick < 88)
    dropNear(v);
  else
    dropAnything();
  return true;
}

Found anneal(Sequence &seq, const AnnealOptions &options) {
  const Timeline &time = seq.timeline();
  Mover mover(seq, options);
  Found best = snapshot(seq);
  if (!mover.canMove()) return best;
  const double steps = double(seq.graph().size());
  double meanCost = 0, count = 0;
  for (int32_t v = 0; v < seq.graph().size(); ++v)
    if (seq.graph().recomputable[v] && seq.graph().bytes[v] > 0) {
      meanCost += seq.graph().cost[v];
      ++count;
    }
  meanCost = count ? meanCost / count : 1;
  int64_t meanBytes = 0;
  for (int64_t b : seq.graph().bytes) meanBytes += b / seq.graph().size();
  // A byte too many costs what recomputing such a byte costs, and more as the search cools.
  const double basePrice = (meanCost + 1e-9) / double(meanBytes + 1);
  double perByte = basePrice;
  auto energy = [&] {
    double over = double(std::max<int64_t>(0, time.peak() - time.getBudget()));
    return seq.extraCost() + perByte * (over + 4 * time.excess() / steps);
  };
  double now = energy();
  double hot = options.hot * meanCost * 0.5, cold = options.cold * meanCost * 0.01;
  double temperature = hot;
  const double cooling = std::pow(cold / hot, 256.0 / double(std::max<int64_t>(256, options.moves)));
  int64_t move = 0;
  for (; move < options.moves; ++move) {
    if ((move & 255) == 255) {
      temperature *= cooling;
      perByte = std::clamp(perByte * (seq.fits() ? 0.9 : 1.1), basePrice / 100, basePrice * 100);
      now = energy();
    }
    if (best.fits && best.extraCost <= options.target) break;
    if (!mover.propose()) {
      seq.undo();
      continue;
    }
    double then = energy();
    if (then <= now || mover.unit() < std::exp((now - then) / temperature)) {
      seq.commit();
      now = then;
      if (seq.fits() ? (!best.fits || seq.extraCost() < best.extraCost - 1e-9)
                     : (!best.fits && time.peak() < best.peak))
        best = snapshot(seq);
    } else {
      seq.undo();
    }
  }
  best.moves = move;
  return best;
}

} // namespace stator::remat
