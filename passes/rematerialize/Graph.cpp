// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Graph.h"

#include <cmath>
#include <numeric>

namespace stator::remat {

static std::string at(size_t node) { return "nodes[" + std::to_string(node) + "]"; }

static std::string validateNodes(const std::vector<Node> &nodes) {
  if (nodes.size() > kMaxNodes) return "too many nodes (limit " + std::to_string(kMaxNodes) + ")";
  int64_t bytes = 0;
  double cost = 0;
  std::vector<int32_t> readBy(nodes.size(), -1);
  for (size_t k = 0; k < nodes.size(); ++k) {
    const Node &v = nodes[k];
    if (v.bytes < 0) return at(k) + ": negative bytes " + std::to_string(v.bytes);
    if (v.bytes > kMaxTotalBytes - bytes) return at(k) + ": the sizes add up to more than 2^60 bytes";
    bytes += v.bytes;
    if (!std::isfinite(v.cost) || v.cost < 0) return at(k) + ": cost must be finite and not negative";
    cost += v.cost;
    if (cost > kMaxTotalCost) return at(k) + ": the costs add up to more than 2^53";
    for (int32_t i : v.inputs) {
      if (i < 0 || size_t(i) >= nodes.size()) return at(k) + ": reads unknown node " + std::to_string(i);
      if (size_t(i) >= k) return at(k) + ": reads node " + std::to_string(i) + ", which does not stand before it";
      if (readBy[i] == int32_t(k)) return at(k) + ": reads node " + std::to_string(i) + " twice";
      readBy[i] = int32_t(k);
    }
  }
  return {};
}

std::string validate(const Graph &graph) {
  if (std::string fault = validateNodes(graph.nodes); !fault.empty()) return fault;
  std::vector<int32_t> member(graph.nodes.size(), -1);
  for (size_t r = 0; r < graph.regions.size(); ++r) {
    std::string where = "regions[" + std::to_string(r) + "]";
    if (graph.regions[r].nodes.empty()) return where + ": names no node";
    for (int32_t i : graph.regions[r].nodes) {
      if (i < 0 || size_t(i) >= graph.nodes.size()) return where + ": unknown node " + std::to_string(i);
      if (member[i] == int32_t(r)) return where + ": names node " + std::to_string(i) + " twice";
      if (member[i] >= 0)
        return where + ": node " + std::to_string(i) + " is already in regions[" + std::to_string(member[i]) + "]";
      if (graph.regions[r].kind == Region::Kind::Checkpoint && graph.nodes[i].backward)
        return where + ": node " + std::to_string(i) + " belongs to the backward pass";
      member[i] = int32_t(r);
    }
  }
  return {};
}

Usage simulate(const Graph &graph, const std::vector<int32_t> &schedule) {
  const auto &nodes = graph.nodes;
  const size_t steps = schedule.size();
  Usage usage;
  std::vector<int64_t> newest(nodes.size(), -1); // step of the newest value of a node
  std::vector<size_t> last(steps);               // last step that reads the value made at a step
  auto fail = [&](size_t s, const std::string &what) {
    usage.error = "step " + std::to_string(s) + ": " + what;
    return usage;
  };
  for (size_t s = 0; s < steps; ++s) {
    int32_t v = schedule[s];
    if (v < 0 || size_t(v) >= nodes.size()) return fail(s, "no node " + std::to_string(v));
    if (newest[v] >= 0 && !nodes[v].recomputable)
      return fail(s, "node " + std::to_string(v) + " is not recomputable and runs again");
    for (int32_t i : nodes[v].inputs) {
      if (newest[i] < 0)
        return fail(s, "node " + std::to_string(v) + " reads node " + std::to_string(i) + ", which has not run");
      last[newest[i]] = s;
    }
    newest[v] = int64_t(s);
    last[s] = s;
    usage.cost += nodes[v].cost;
  }
  for (size_t v = 0; v < nodes.size(); ++v) {
    if (newest[v] < 0) return fail(steps, "node " + std::to_string(v) + " never runs");
    if (nodes[v].keep) last[newest[v]] = steps - 1;
  }
  std::vector<int64_t> freed(steps + 1, 0);
  int64_t live = 0;
  for (size_t s = 0; s < steps; ++s) {
    live += nodes[schedule[s]].bytes;
    freed[last[s]] += nodes[schedule[s]].bytes;
    if (live > usage.peak) {
      usage.peak = live;
      usage.peakStep = s;
    }
    live -= freed[s];
  }
  return usage;
}

std::vector<int32_t> givenOrder(const Graph &graph) {
  std::vector<int32_t> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

} // namespace stator::remat
