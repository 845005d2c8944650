// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-remat/Command.h"

#include "tools/stator-remat/Generate.h"
#include "tools/stator-remat/InstanceFile.h"

#include <algorithm>

#include <cmath>
#include <cstdio>
#include <ctime>

namespace stator::remat {

static int complain(const std::string &what) {
  std::fprintf(stderr, "error: %s\n", what.c_str());
  return 2;
}

static double percentOf(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/// What holds the floor: the node and the largest values that are live while it runs.
static void printFloor(const Graph &graph, const Result &r) {
  std::printf("floor %lld bytes, %.2f%% of store-all (%s): while node %d (%s) runs, these values are live\n",
              (long long)r.floor, percentOf(double(r.floor), double(r.storeAllPeak)),
              r.reordered ? "any order" : "given order", r.floorNode, graph.nodes[r.floorNode].name.c_str());
  const Node &node = graph.nodes[r.floorNode];
  std::vector<int32_t> held = r.floorHeld;
  std::stable_sort(held.begin(), held.end(),
                   [&](int32_t a, int32_t b) { return graph.nodes[a].bytes > graph.nodes[b].bytes; });
  for (size_t k = 0; k < held.size() && k < 12; ++k) {
    int32_t v = held[k];
    bool input = std::find(node.inputs.begin(), node.inputs.end(), v) != node.inputs.end();
    const char *why = v == r.floorNode ? "its output" : input ? "its input" : "read later";
    std::printf("  %12lld  node %d (%s): %s\n", (long long)graph.nodes[v].bytes, v, graph.nodes[v].name.c_str(), why);
  }
  if (held.size() > 12) std::printf("  and %zu smaller ones\n", held.size() - 12);
}

static void report(const Graph &graph, const Result &r, int64_t budget) {
  std::printf("nodes %zu, store-all peak %lld, budget %lld (%.2f%%)\n", graph.nodes.size(), (long long)r.storeAllPeak,
              (long long)budget, percentOf(double(budget), double(r.storeAllPeak)));
  switch (r.status) {
  case Status::Fits:
    std::printf("fits: peak %lld (%.2f%%), %zu steps, overhead %.4f%%\n", (long long)r.peak,
                percentOf(double(r.peak), double(r.storeAllPeak)), r.schedule.size(),
                percentOf(r.extraCost, r.baseCost));
    std::printf("%s: no schedule (%s) has an overhead below %.4f%%\n", r.optimal ? "optimal" : "bound",
                r.reordered ? "in any order" : "in the given order", percentOf(r.bound, r.baseCost));
    break;
  case Status::Infeasible: std::printf("infeasible: no schedule fits the budget\n"); break;
  case Status::NotFound:
    std::printf("not found: the lowest peak found is %lld (%.2f%%); whether less is possible is open\n",
                (long long)r.peak, percentOf(double(r.peak), double(r.storeAllPeak)));
    break;
  }
  printFloor(graph, r);
}

int run(const Command &command) {
  if (!command.generate.empty()) {
    Graph graph = generate::byName(command.generate);
    if (graph.nodes.empty()) return complain("--generate: unknown or empty graph '" + command.generate + "'");
    std::string text = writeInstance(graph, command.generate);
    if (command.output.empty()) return std::fputs(text.c_str(), stdout) < 0 ? 2 : 0;
    std::string error = writeFileAtomically(command.output, text);
    return error.empty() ? 0 : complain(error);
  }
  Instance instance = readInstanceFile(command.instance);
  if (!instance.error.empty()) return complain(instance.error);
  const Graph &graph = instance.graph;
  if (graph.nodes.empty()) return complain(command.instance + ": nodes: is empty");
  Options options;
  options.reorder = !command.keepOrder;
  options.moves = command.moves;
  options.seed = command.seed;
  int64_t peak = simulate(graph, givenOrder(graph)).peak;
  // Whole percents exactly, as integer arithmetic rounds down; above the limit of all sizes a budget says nothing more.
  if (command.budget)
    options.budget = *command.budget;
  else if (*command.percent == std::floor(*command.percent))
    options.budget = int64_t(std::min<__int128>(kMaxTotalBytes, __int128(peak) * int64_t(*command.percent) / 100));
  else
    options.budget = int64_t(std::min(double(kMaxTotalBytes), double(peak) * *command.percent / 100));

  std::clock_t start = std::clock(); // CPU time: the machine may be busy with other work
  Result result = solve(graph, options);
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  const char *status[] = {"fits", "infeasible", "not-found"};
  if (command.bench)
    std::printf("{\"nodes\": %zu, \"budget\": %lld, \"status\": \"%s\", \"peak\": %lld, \"overhead_percent\": %.4f, "
                "\"bound_percent\": %.4f, \"bound_given_order_percent\": %.4f, \"floor\": %lld, \"moves\": %lld, "
                "\"cpu_seconds\": %.2f}\n",
                graph.nodes.size(), (long long)options.budget, status[int(result.status)], (long long)result.peak,
                percentOf(result.extraCost, result.baseCost), percentOf(result.bound, result.baseCost),
                percentOf(result.boundGivenOrder, result.baseCost), (long long)result.floor, (long long)result.moves,
                seconds);
  else
    report(graph, result, options.budget);
  if (!command.output.empty() && result.status == Status::Fits) {
    std::string error = writeFileAtomically(command.output, writeSchedule(result, options.budget));
    if (!error.empty()) return complain(error);
  }
  return result.status == Status::Fits ? 0 : 1;
}

} // namespace stator::remat
