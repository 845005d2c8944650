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
  void offer(Found found) {
    if (best.schedule.empty() || found.betterThan(best)) best = std::move(found);
  }
  std::vector<int32_t> start(const std::vector<int32_t> &order, const LowerBound &cut);
  std::vector<int32_t> startReordered(const std::vector<int32_t> &order);
  void search(const std::vector<int32_t> &from, int64_t share, double hot, uint64_t salt);
  bool done() const { return best.fits && best.extraCost <= target; }

  const std::vector<Node> &nodes;
  const Dag &dag;
  const Options &options;
  int64_t moves, made = 0;
  double target;
  Found best;
};
} // namespace

void Solver::search(const std::vector<int32_t> &from, int64_t share, double hot, uint64_t salt) {
  if (done()) return;
  Sequence seq(dag, from, options.budget);
  AnnealOptions anneal;
  anneal.seed = options.seed * 1000003 + salt;
  anneal.moves = moves * share / 100;
  anneal.reorder = options.reorder;
  anneal.target = target;
  anneal.hot = hot;
  Found found = remat::anneal(seq, anneal);
  made += found.moves;
  offer(std::move(found));
}

/// `order` with the choice of the cut recomputed; what repair makes of it is offered.
std::vector<int32_t> Solver::start(const std::vector<int32_t> &order, const LowerBound &cut) {
  Sequence seq(dag, order, options.budget);
  if (cut.node >= 0) dropBehind(seq, cut.node, cut.recomputed);
  std::vector<int32_t> schedule = seq.schedule();
  repairGreedily(seq);
  offer(snapshot(seq));
  return schedule;
}

/// The same from another order: its cut is that of the graph renumbered.
std::vector<int32_t> Solver::startReordered(const std::vector<int32_t> &order) {
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
  return start(order, cut);
}

Found Solver::run(const LowerBound &cut) {
  std::vector<int32_t> order(dag.size());
  std::iota(order.begin(), order.end(), 0);
  start(order, {}); // greedy alone
  std::vector<int32_t> from = start(order, cut);
  if (options.reorder && !done()) {
    Ordered low = reorder(dag);
    Found repaired = std::move(best);
    best = {};
    std::vector<int32_t> other = startReordered(low.order);
    if (best.betterThan(repaired)) from = std::move(other);
    offer(std::move(repaired));
  }
  search(from, 20, 1, 1);
  search(from, 20, 0.3, 2);
  search(best.schedule, 20, 0.3, 3);
  search(best.schedule, 20, 0.1, 4);
  search(best.schedule, 20, 0.1, 5);
  return best;
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
  result.boundGivenOrder = cut.extraCost + expanded.copiedCost;
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
