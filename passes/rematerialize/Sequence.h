// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A schedule under change: every edit updates lifetimes, live bytes, cost and peak exactly and can be taken back.
#pragma once

#include "passes/rematerialize/Dag.h"
#include "passes/rematerialize/Timeline.h"

namespace stator::remat {

/// Steps are numbered in the order of their making, not of their place.  A step runs one node; the steps of a node in
/// order are its runs.  The first run of a node is its main run, the others are repeats.  A reader reads the last run
/// before it. Edits go to a log until commit(); undo() takes everything since then back.
class Sequence {
public:
  /// `schedule` must be right in the sense of simulate().
  Sequence(const Dag &dag, const std::vector<int32_t> &schedule, int64_t budget);

  /// Puts a new run of `node` before step `next`; all inputs must have run before it.  Returns the step.
  int32_t insert(int32_t node, int32_t next);
  /// Takes a repeat away; its readers read the run before.
  void remove(int32_t step);
  /// Moves a step to before `next`.  It must stay behind the main runs of its inputs and the run before of its own
  /// node, and before its first reader and the run after.
  void relocate(int32_t step, int32_t next);
  /// Removes `step` if it is a repeat that nobody reads, and then what only that one read.
  void removeIfIdle(int32_t step);

  void commit();
  void undo();

  int32_t nodeOf(int32_t step) const { return node[step]; }
  /// The last run of `node` before the place of `step` (not `step` itself); -1 if none.
  int32_t runBefore(int32_t nodeId, int32_t step) const;
  int32_t runAfter(int32_t nodeId, int32_t step) const;
  const std::vector<int32_t> &runs(int32_t nodeId) const { return runsOf[nodeId]; }
  bool isRepeat(int32_t step) const { return runsOf[node[step]].front() != step; }
  /// The last step at which the value made at `step` is read; `step` itself if never; end() if it is kept to the end.
  int32_t lastReader(int32_t step) const { return last[step]; }
  /// The first reader of the value made at `step`; -1 if none (end() for a kept value without readers).
  int32_t firstReader(int32_t step) const;
  /// The first / last reader of `step`'s value strictly behind `from` (a step); -1 if none.
  int32_t readerBehind(int32_t step, int32_t from) const;
  /// The step behind all others; it runs nothing.
  int32_t end() const { return 0; }
  /// All repeats, in no order that means anything (but the same in every run of the program).
  const std::vector<int32_t> &repeats() const { return repeatList; }
  /// Steps whose value is live at `step` without being read or made there, in node order.
  std::vector<int32_t> idleAt(int32_t step) const;

  const Timeline &timeline() const { return time; }
  double extraCost() const { return extra; }
  bool fits() const { return time.peak() <= time.getBudget(); }
  /// Node numbers in order of execution.
  std::vector<int32_t> schedule() const;
  const Dag &graph() const { return dag; }

private:
  struct Edit {
    enum Kind { Inserted, Removed, Moved } kind;
    int32_t step, next;
  };
  void attach(int32_t step, int32_t next);
  void detach(int32_t step);
  int32_t lastUse(int32_t nodeId, int32_t from, int64_t before) const;
  int32_t freshStep(int32_t nodeId);
  void listRepeat(int32_t step);
  void unlistRepeat(int32_t step);
  void setLast(int32_t step, int32_t to);

  const Dag &dag;
  Timeline time;
  std::vector<int32_t> node, last;
  std::vector<std::vector<int32_t>> runsOf;
  std::vector<int32_t> freeSteps, repeatList, repeatAt;
  std::vector<Edit> log;
  double extra = 0;
};

} // namespace stator::remat
