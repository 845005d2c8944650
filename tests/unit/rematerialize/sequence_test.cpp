// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Search.h"
#include "tools/stator-remat/Generate.h"

#include <gtest/gtest.h>

using namespace stator::remat;

static void expectExact(const Graph &graph, const Sequence &seq, const std::string &what) {
  Usage u = simulate(graph, seq.schedule());
  ASSERT_EQ(u.error, "") << what;
  ASSERT_EQ(u.peak, seq.timeline().peak()) << what;
  ASSERT_EQ(u.cost, seq.graph().baseCost + seq.extraCost()) << what;
}

// Random insertions, removals, relocations and undone ones: the incremental numbers are those of a simulation from
// scratch.
TEST(Sequence, EditsKeepTheNumbersExact) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    Graph graph = generate::random(4 + int(random.below(25)), seed);
    Dag dag(graph.nodes);
    Sequence seq(dag, givenOrder(graph), 10);
    for (int edit = 0; edit < 60; ++edit) {
      std::vector<int32_t> before = seq.schedule();
      for (uint32_t part = 0; part < 1 + random.below(3); ++part) {
        std::vector<int32_t> steps = seq.timeline().steps();
        int32_t v = int32_t(random.below(uint32_t(dag.size())));
        if (random.below(3) == 0 && !seq.repeats().empty()) {
          int32_t s = seq.repeats()[random.below(uint32_t(seq.repeats().size()))];
          seq.remove(s);
        } else if (dag.recomputable[v]) {
          int32_t next = steps[random.below(uint32_t(steps.size()))];
          // Behind its first run.
          if (seq.timeline().before(seq.runs(v).front(), next)) seq.insert(v, next);
        }
        if (random.below(4) == 0 && !seq.repeats().empty())
          seq.removeIfIdle(seq.repeats()[random.below(uint32_t(seq.repeats().size()))]);
      }
      expectExact(graph, seq, "seed " + std::to_string(seed));
      if (random.below(2)) {
        seq.undo();
        ASSERT_EQ(seq.schedule(), before);
        expectExact(graph, seq, "undone, seed " + std::to_string(seed));
      } else {
        seq.commit();
      }
    }
  }
}

// The annealing makes every kind of move; whatever it returns is what a simulation says.
TEST(Sequence, AnnealingReturnsWhatItClaims) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Graph graph = generate::random(4 + int(seed % 30), seed);
    Dag dag(graph.nodes);
    int64_t full = simulate(graph, givenOrder(graph)).peak;
    AnnealOptions options;
    options.seed = seed;
    options.moves = 1500;
    options.reorder = seed % 2;
    Sequence seq(dag, givenOrder(graph), full * int64_t(40 + seed % 60) / 100);
    Found found = anneal(seq, options);
    Usage u = simulate(graph, found.schedule);
    ASSERT_EQ(u.error, "") << seed;
    ASSERT_EQ(u.peak, found.peak) << seed;
    ASSERT_EQ(u.cost - dag.baseCost, found.extraCost) << seed;
    ASSERT_EQ(found.fits, u.peak <= seq.timeline().getBudget()) << seed;
    expectExact(graph, seq, "final state");
  }
}
