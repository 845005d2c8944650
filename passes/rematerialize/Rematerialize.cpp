// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Rematerialize.h"

#include "passes/rematerialize/CutBound.h"
#include "passes/rematerialize/Regions.h"
#include "passes/rematerialize/Reorder.h"
#include "passes/rematerialize/Search.h"

#include <algorithm>
#include <numeric>

namespace stator::remat {

namespace {
/// One run of the solver on a graph without regions.
class Solver {
public:
  Solver(const std::vector<Node> &nodes, const Dag &dag, const Options &options, int64_t moves, double target)
      : nodes(nodes), dag(dag), options(options), moves(moves), target(target) {}
  Found run(const LowerBound &cut);
  int64_t movesMade() const { return made; }

private:
  void startFrom(const std::vector<int32_t> &order, const LowerBound &cut, int64_t variants);
  LowerBound cutOf(const std::vector<int32_t> &order) const;
  Found search(const std::vector<int32_t> &from, int64_t share, double hot, bool reorder = true);
  void keep(Found found);
  bool done() const { return !pool.empty() && pool[0].fits && pool[0].extraCost <= target; }

  const std::vector<Node> &nodes;
  const Dag &dag;
  const Options &options;
  int64_t moves, made = 0;
  double target;
  std::vector<Found> pool;                      ///< best first, distinct in cost and peak
  std::vector<std::vector<int32_t>> unrepaired; ///< cut starts as they come from the relaxation
  uint64_t salt = 0;
};
} // namespace

void Solver::keep(Found found) {
  constexpr size_t most = 8;
  size_t at = 0;
  while (at < pool.size() && pool[at].betterThan(found)) ++at;
  if (at < pool.size() && pool[at].extraCost == found.extraCost && pool[at].peak == found.peak) return;
  pool.insert(pool.begin() + at, std::move(found));
  if (pool.size() > most) pool.pop_back();
}

Found Solver::search(const std::vector<int32_t> &from, int64_t share, double hot, bool reorder) {
  Sequence seq(dag, from, options.budget);
  AnnealOptions anneal;
  anneal.seed = options.seed * 1000003 + ++salt;
  anneal.moves = done() ? 0 : moves * share / 100;
  anneal.reorder = options.reorder && reorder;
  anneal.target = target;
  anneal.hot = hot;
  Found found = remat::anneal(seq, anneal);
  made += found.moves;
  return found;
}

/// Fills the pool with starts from `order`: the choice of the cut relaxation there, repaired greedily and by further
/// cuts, and variants of it under costs with noise.
void Solver::startFrom(const std::vector<int32_t> &order, const LowerBound &cut, int64_t variants) {
  auto offer = [&](const std::vector<int32_t> &schedule) {
    Sequence seq(dag, schedule, options.budget);
    repairGreedily(seq);
    keep(snapshot(seq));
  };
  offer(order);
  if (cut.node < 0) return;
  Sequence plain(dag, order, options.budget);
  dropBehind(plain, cut.node, cut.recomputed);
  unrepaired.push_back(plain.schedule());
  offer(unrepaired.back());
  Random random(options.seed);
  int failures = 0; // in a row: cuts one by one do not lead to a fit here
  std::vector<int32_t> place(order.size());
  for (size_t k = 0; k < order.size(); ++k) place[order[k]] = int32_t(k);
  for (int64_t k = 0; k < variants && failures < 2 && !done(); ++k) {
    const double noise = k == 0 ? 0 : k % 2 ? 0.2 : 1.0;
    std::vector<Node> noisy = nodes;
    for (Node &v : noisy) v.cost *= 1 + noise * (random.unit() - 0.5);
    Dag other(noisy);
    CutProblem problem(other, cut.node, options.budget, Scope::GivenOrder, place);
    CutProblem::Solution choice = problem.relax();
    if (!choice.feasible) break;
    Sequence seq(other, order, options.budget);
    dropBehind(seq, cut.node, choice.recomputed);
    failures = repairByCuts(seq, 60, 8) ? 0 : failures + 1;
    offer(seq.schedule());
  }
}

/// The bound and its choice for another order than the given one.
LowerBound Solver::cutOf(const std::vector<int32_t> &order) const {
  std::vector<int32_t> place(order.size());
  for (size_t k = 0; k < order.size(); ++k) place[order[k]] = int32_t(k);
  std::vector<Node> renumbered;
  for (int32_t v : order) {
    renumbered.push_back(nodes[v]);
    for (int32_t &i : renumbered.back().inputs) i = place[i];
  }
  LowerBound cut = lowerBound(Dag(renumbered), options.budget, Scope::GivenOrder, options.boundEffort / 4);
  if (cut.node >= 0) cut.node = order[cut.node];
  for (int32_t &v : cut.recomputed) v = order[v];
  return cut;
}

Found Solver::run(const LowerBound &cut) {
  std::vector<int32_t> order(dag.size());
  std::iota(order.begin(), order.end(), 0);
  const int64_t variants = std::clamp<int64_t>(8000 / dag.size(), 2, 32);
  startFrom(order, cut, variants);
  if (options.reorder && !done()) {
    Ordered low = reorder(dag);
    if (low.order != order) startFrom(low.order, cutOf(low.order), variants / 2);
  }
  // A tournament: short searches from several starts, longer ones from what they found, the rest for the best.
  std::vector<Found> found;
  for (size_t k = 0; k < unrepaired.size() * 3 && k < 4; ++k)
    found.push_back(search(unrepaired[k % unrepaired.size()], 5, 1, k % 2 == 0));
  for (size_t k = 0; k < pool.size() && k < 5; ++k)
    found.push_back(search(pool[k].schedule, 5, k % 2 ? 1 : 0.2, k % 4 < 2));
  for (Found &f : found) keep(std::move(f));
  found.clear();
  for (size_t k = 0; k < pool.size() && k < 3; ++k) found.push_back(search(pool[k].schedule, 8, 0.2));
  for (Found &f : found) keep(std::move(f));
  for (double hot : {0.3, 0.1}) keep(search(pool[0].schedule, 15, hot));
  return pool[0];
}

Result solve(const Graph &given, const Options &requested) {
  Options options = requested;
  for (const Region &r : given.regions) options.reorder &= r.kind != Region::Kind::Checkpoint;
  Expanded expanded = expandRegions(given);
  const Dag dag(expanded.graph.nodes);
  Result result;
  Usage plain = simulate(given, givenOrder(given));
  result.storeAllPeak = plain.peak;
  result.baseCost = plain.cost;
  result.reordered = options.reorder;
  if (given.nodes.empty()) {
    result.status = Status::Fits;
    return result;
  }
  const Scope scope = options.reorder ? Scope::AnyOrder : Scope::GivenOrder;
  Floor floor = peakFloor(dag, scope, options.boundEffort);
  result.floor = floor.bytes;
  result.floorNode = expanded.origin[floor.node];
  for (int32_t v : floor.held) result.floorHeld.push_back(expanded.origin[v]);

  LowerBound cut = lowerBound(dag, options.budget, Scope::GivenOrder, options.boundEffort);
  LowerBound any = options.reorder ? lowerBound(dag, options.budget, scope, options.boundEffort, cut.multiplier) : cut;
  result.boundGivenOrder = std::max(cut.extraCost, any.extraCost) + expanded.copiedCost;
  result.bound = any.extraCost + expanded.copiedCost;
  int64_t moves = options.moves > 0 ? options.moves : 1600000 + 400 * int64_t(dag.size());
  Found found;
  if (any.feasible && floor.bytes <= options.budget) {
    Solver solver(expanded.graph.nodes, dag, options, moves, any.extraCost);
    found = solver.run(cut);
    result.moves = solver.movesMade();
    result.status = found.fits ? Status::Fits : Status::NotFound;
  } else {
    result.status = Status::Infeasible;
    found.schedule = givenOrder(expanded.graph);
  }
  for (int32_t v : found.schedule) result.schedule.push_back(expanded.origin[v]);
  Usage usage = simulate(given, result.schedule);
  result.peak = usage.peak;
  result.extraCost = std::max(0.0, usage.cost - plain.cost);
  result.optimal = result.status == Status::Fits && result.extraCost <= result.bound;
  return result;
}

} // namespace stator::remat
