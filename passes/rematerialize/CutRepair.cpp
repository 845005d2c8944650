// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/CutBound.h"
#include "passes/rematerialize/Search.h"

#include <algorithm>

namespace stator::remat {

/// The schedule as a graph: one node for each step, reading the runs that the step reads.  Node k is `steps[k]`.
static Dag unrolled(const Sequence &seq, const std::vector<int32_t> &steps) {
  const Dag &dag = seq.graph();
  std::vector<int32_t> newest(dag.size(), -1);
  std::vector<Node> nodes(steps.size());
  for (size_t k = 0; k < steps.size(); ++k) {
    int32_t v = seq.nodeOf(steps[k]);
    Node &node = nodes[k];
    for (int32_t i : dag.inputs(v)) node.inputs.push_back(newest[i]);
    std::sort(node.inputs.begin(), node.inputs.end());
    node.bytes = dag.bytes[v];
    node.cost = dag.cost[v];
    node.recomputable = dag.recomputable[v];
    node.keep = seq.lastReader(steps[k]) == seq.end();
    newest[v] = int32_t(k);
  }
  return Dag(nodes);
}

bool repairByCuts(Sequence &seq, int64_t rounds, int64_t nodeLimit) {
  const Timeline &time = seq.timeline();
  const size_t most = size_t(seq.graph().size()) * 2; // longer, it has lost its way
  for (; rounds > 0 && !seq.fits() && time.steps().size() < most; --rounds) {
    std::vector<int32_t> steps = time.steps();
    steps.pop_back(); // the end
    int32_t full = time.peakStep();
    if (full == seq.end()) return false;
    Dag dag = unrolled(seq, steps);
    int32_t at = int32_t(std::find(steps.begin(), steps.end(), full) - steps.begin());
    CutProblem cut(dag, at, time.getBudget(), Scope::GivenOrder);
    CutProblem::Solution s = nodeLimit > 1 ? cut.solve(nodeLimit) : cut.relax();
    if (!s.feasible) return false;
    std::sort(s.recomputed.rbegin(), s.recomputed.rend());
    bool any = false;
    for (int32_t k : s.recomputed) {
      int32_t source = seq.runBefore(seq.nodeOf(steps[k]), full);
      int32_t reader = source < 0 ? -1 : seq.readerBehind(source, full);
      if (reader < 0) continue;
      seq.insert(seq.nodeOf(steps[k]), reader);
      seq.removeIfIdle(source);
      any = true;
    }
    seq.commit();
    if (!any) return false;
  }
  return seq.fits();
}

} // namespace stator::remat
