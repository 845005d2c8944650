// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Search.h"

#include <algorithm>

namespace stator::remat {

Found snapshot(const Sequence &seq) { return {seq.fits(), seq.timeline().peak(), seq.extraCost(), seq.schedule(), 0}; }

void dropBehind(Sequence &seq, int32_t cutNode, std::vector<int32_t> nodes) {
  int32_t cut = seq.runs(cutNode).front();
  // Readers first: a value that only recomputations read is made again just before the first of these.
  std::sort(nodes.rbegin(), nodes.rend());
  for (int32_t v : nodes) {
    int32_t s = seq.runBefore(v, cut);
    if (s < 0) continue;
    int32_t r = seq.readerBehind(s, cut);
    if (r >= 0) seq.insert(v, r);
  }
  seq.commit();
}

/// Makes `s`'s value again before `reader`, and, when `deep`, all it reads that was dead by then.
static void dropBefore(Sequence &seq, int32_t s, int32_t reader, bool deep) {
  const Timeline &time = seq.timeline();
  std::vector<std::pair<int32_t, int32_t>> stack{{seq.nodeOf(s), reader}};
  int budget = 48;
  while (!stack.empty() && budget-- > 0) {
    auto [v, next] = stack.back();
    stack.pop_back();
    std::vector<int32_t> dead;
    if (deep)
      for (int32_t i : seq.graph().inputs(v))
        if (seq.graph().recomputable[i]) {
          int32_t source = seq.runBefore(i, next);
          if (time.before(seq.lastReader(source), next) && (source != time.prev(next))) dead.push_back(i);
        }
    int32_t x = seq.insert(v, next);
    for (int32_t i : dead) stack.push_back({i, x});
  }
}

namespace {
struct Candidate {
  double score;
  int32_t step;
  bool deep;
};
} // namespace

bool repairGreedily(Sequence &seq) {
  const Timeline &time = seq.timeline();
  const double cheap = 1e-9 * (seq.graph().baseCost + 1);
  // Gain per cost of one drop; 0 when it gains nothing.
  auto tryDrop = [&](int32_t cut, int32_t s, bool deep) {
    int32_t r = seq.readerBehind(s, cut);
    if (r < 0) return 0.0;
    double before = time.excess(), cost = seq.extraCost();
    dropBefore(seq, s, r, deep);
    seq.removeIfIdle(s);
    double gain = before - time.excess();
    return gain > 0 ? gain / (seq.extraCost() - cost + cheap) : 0.0;
  };
  while (!seq.fits()) {
    int32_t cut = time.peakStep();
    std::vector<Candidate> candidates;
    for (int32_t s : seq.idleAt(cut)) {
      if (!seq.graph().recomputable[seq.nodeOf(s)]) continue;
      for (bool deep : {false, true}) {
        double score = tryDrop(cut, s, deep);
        seq.undo();
        if (score > 0) candidates.push_back({score, s, deep});
      }
    }
    if (candidates.empty()) return false;
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate &a, const Candidate &b) { return a.score > b.score; });
    // Take from the top while what was measured still holds and the step is still too full.
    bool any = false;
    for (const Candidate &c : candidates) {
      if (time.bytesAt(cut) <= time.getBudget()) break;
      if (seq.runBefore(seq.nodeOf(c.step), cut) != c.step || !time.before(cut, seq.lastReader(c.step))) continue;
      double score = tryDrop(cut, c.step, c.deep);
      if (score <= 0 || (any && score < 0.5 * c.score)) {
        seq.undo();
        continue;
      }
      seq.commit();
      any = true;
    }
    if (!any) return false;
  }
  return true;
}

} // namespace stator::remat
