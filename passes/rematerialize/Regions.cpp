// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Regions.h"

#include <algorithm>

namespace stator::remat {

Expanded expandRegions(const Graph &given) {
  const auto &nodes = given.nodes;
  const int32_t n = int32_t(nodes.size());
  std::vector<int32_t> region(n, -1); // checkpoint region of a node whose value it must not hold
  std::vector<uint8_t> fixed(n, 0);
  for (size_t r = 0; r < given.regions.size(); ++r)
    for (int32_t v : given.regions[r].nodes) {
      if (given.regions[r].kind == Region::Kind::Keep)
        fixed[v] = 1;
      else if (nodes[v].recomputable && !nodes[v].keep)
        region[v] = int32_t(r);
    }
  // An output is read by the forward pass outside its region.
  std::vector<int32_t> member(n, -1);
  for (size_t r = 0; r < given.regions.size(); ++r)
    for (int32_t v : given.regions[r].nodes) member[v] = int32_t(r);
  for (int32_t v = 0; v < n; ++v)
    for (int32_t i : nodes[v].inputs)
      if (!nodes[v].backward && member[v] != member[i]) region[i] = -1;

  Expanded out;
  std::vector<int32_t> here(n, -1), copy(n, -1);
  std::vector<std::pair<int32_t, size_t>> stack;
  auto append = [&](int32_t v, bool copied) {
    Node node = nodes[v];
    for (int32_t &i : node.inputs)
      i = (copied || nodes[v].backward) && copy[i] >= 0 && region[i] >= 0 ? copy[i] : here[i];
    std::sort(node.inputs.begin(), node.inputs.end());
    if (fixed[v]) node.recomputable = false;
    out.graph.nodes.push_back(std::move(node));
    out.origin.push_back(v);
    return int32_t(out.origin.size()) - 1;
  };
  // Makes the copy of v and before it those of its inputs in the region, without recursion.
  auto copyUpTo = [&](int32_t root) {
    stack.assign(1, {root, 0});
    while (!stack.empty()) {
      auto &[v, next] = stack.back();
      if (copy[v] >= 0) {
        stack.pop_back();
      } else if (next < nodes[v].inputs.size()) {
        int32_t i = nodes[v].inputs[next++];
        if (region[i] == region[v] && copy[i] < 0) stack.push_back({i, 0});
      } else {
        copy[v] = append(v, true);
        out.copiedCost += nodes[v].cost;
        stack.pop_back();
      }
    }
  };
  for (int32_t v = 0; v < n; ++v) {
    if (nodes[v].backward)
      for (int32_t i : nodes[v].inputs)
        if (region[i] >= 0) copyUpTo(i);
    here[v] = append(v, false);
  }
  return out;
}

} // namespace stator::remat
