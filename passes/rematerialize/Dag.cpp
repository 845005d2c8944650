// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Dag.h"

#include <cmath>
#include <numeric>

namespace stator::remat {

Dag::Dag(const std::vector<Node> &nodes) {
  size_t n = nodes.size();
  bool whole = true;
  int64_t unit = 0;
  inAt.assign(1, 0);
  outAt.assign(n + 1, 0);
  for (const Node &v : nodes) {
    bytes.push_back(v.bytes);
    cost.push_back(v.cost);
    recomputable.push_back(v.recomputable);
    keep.push_back(v.keep);
    baseCost += v.cost;
    if (v.recomputable) {
      whole &= v.cost == std::floor(v.cost);
      if (whole) unit = std::gcd(unit, int64_t(v.cost));
    }
    in.insert(in.end(), v.inputs.begin(), v.inputs.end());
    inAt.push_back(int32_t(in.size()));
    for (int32_t i : v.inputs) ++outAt[i + 1];
  }
  costUnit = whole ? double(unit) : 0;
  for (size_t i = 0; i < n; ++i) outAt[i + 1] += outAt[i];
  out.resize(in.size());
  std::vector<int32_t> fill(outAt.begin(), outAt.end() - 1);
  for (size_t v = 0; v < n; ++v)
    for (int32_t i : nodes[v].inputs) out[fill[i]++] = int32_t(v);
}

double Dag::roundUp(double bound) const {
  if (bound <= 0) return 0;
  return costUnit > 0 ? std::ceil(bound / costUnit - 1e-9) * costUnit : bound;
}

} // namespace stator::remat
