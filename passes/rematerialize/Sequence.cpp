// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Sequence.h"

#include <algorithm>
#include <limits>

namespace stator::remat {

static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

Sequence::Sequence(const Dag &dag, const std::vector<int32_t> &order, int64_t budget) : dag(dag), time(budget) {
  // Step 0 is the end; steps 1.. are the schedule.
  int32_t steps = int32_t(order.size());
  runsOf.resize(dag.size());
  node.assign(1, -1);
  last.assign(size_t(steps) + 1, 0);
  node.insert(node.end(), order.begin(), order.end());
  repeatAt.assign(size_t(steps) + 1, -1);
  for (int32_t s = 1; s <= steps; ++s) {
    int32_t v = node[s];
    for (int32_t i : dag.inputs(v)) last[runsOf[i].back()] = s;
    runsOf[v].push_back(s);
    last[s] = s;
    if (runsOf[v].size() > 1) listRepeat(s);
  }
  for (int32_t v = 0; v < dag.size(); ++v)
    if (dag.keep[v]) last[runsOf[v].back()] = end();
  std::vector<int64_t> freed(size_t(steps) + 2, 0);
  int64_t live = 0;
  for (int32_t s = 1; s <= steps; ++s) {
    live += dag.bytes[node[s]];
    freed[last[s] == end() ? steps + 1 : last[s]] += dag.bytes[node[s]];
    time.pushBack(s, live);
    live -= freed[s];
  }
  time.pushBack(end(), live);
}

int32_t Sequence::freshStep(int32_t v) {
  int32_t s;
  if (freeSteps.empty()) {
    s = int32_t(node.size());
    node.push_back(v);
    last.push_back(s);
    repeatAt.push_back(-1);
  } else {
    s = freeSteps.back();
    freeSteps.pop_back();
    node[s] = v;
  }
  return s;
}

void Sequence::listRepeat(int32_t s) {
  repeatAt[s] = int32_t(repeatList.size());
  repeatList.push_back(s);
  extra += dag.cost[node[s]];
}

void Sequence::unlistRepeat(int32_t s) {
  int32_t other = repeatList.back();
  repeatList[repeatAt[s]] = other;
  repeatAt[other] = repeatAt[s];
  repeatList.pop_back();
  repeatAt[s] = -1;
  extra -= dag.cost[node[s]];
}

int32_t Sequence::runBefore(int32_t v, int32_t step) const {
  int64_t key = time.key(step);
  const auto &runs = runsOf[v];
  for (size_t i = runs.size(); i-- > 0;)
    if (time.key(runs[i]) < key) return runs[i];
  return -1;
}

int32_t Sequence::runAfter(int32_t v, int32_t step) const {
  int64_t key = time.key(step);
  for (int32_t s : runsOf[v])
    if (time.key(s) > key) return s;
  return -1;
}

/// The last step behind `from` and before the key `before` that runs a reader of v (at most the end for a kept value
/// that nothing replaces), `from` if there is none.
int32_t Sequence::lastUse(int32_t v, int32_t from, int64_t before) const {
  if (dag.keep[v] && before == kNever) return end();
  int64_t best = time.key(from);
  int32_t found = from;
  for (int32_t c : dag.readers(v)) {
    const auto &runs = runsOf[c];
    for (size_t i = runs.size(); i-- > 0;) {
      int64_t key = time.key(runs[i]);
      if (key >= before) continue;
      if (key > best) {
        best = key;
        found = runs[i];
      }
      break;
    }
  }
  return found;
}

int32_t Sequence::readerBehind(int32_t step, int32_t from) const {
  int32_t v = node[step], after = runAfter(v, step);
  int64_t lo = time.key(from), best = after < 0 ? kNever : time.key(after);
  int32_t found = -1;
  for (int32_t c : dag.readers(v))
    for (int32_t r : runsOf[c]) {
      int64_t key = time.key(r);
      if (key <= lo) continue;
      if (key < best) {
        best = key;
        found = r;
      }
      break;
    }
  // A run after that reads the value before it would be a read of itself, which no graph has.
  if (found < 0 && after < 0 && dag.keep[v] && from != end()) return end();
  return found;
}

int32_t Sequence::firstReader(int32_t step) const { return readerBehind(step, step); }

/// Changes the end of a value's life.
void Sequence::setLast(int32_t s, int32_t to) {
  int64_t was = time.key(last[s]), is = time.key(to), bytes = dag.bytes[node[s]];
  if (is > was)
    time.add(was + 1, is + 1, bytes);
  else
    time.add(is + 1, was + 1, -bytes);
  last[s] = to;
}

/// Enters `step` into the sequence before `next` and mends the lives around it.
void Sequence::attach(int32_t step, int32_t next) {
  int32_t v = node[step];
  int64_t bytes = dag.bytes[v];
  int64_t carried = time.bytesAt(next) - (node[next] < 0 ? 0 : dag.bytes[node[next]]);
  time.insertBefore(step, next, carried);
  auto &runs = runsOf[v];
  int64_t key = time.key(step);
  size_t at = runs.size();
  while (at > 0 && time.key(runs[at - 1]) > key) --at;
  runs.insert(runs.begin() + at, step);
  if (at > 0) {
    int32_t before = runs[at - 1];
    int32_t oldLast = last[before];
    if (time.key(oldLast) > key) {
      // The new run takes over the readers behind it: the old life ends at its last reader before.
      last[step] = oldLast;
      last[before] = lastUse(v, before, key);
      time.add(time.key(last[before]) + 1, key, -bytes);
    } else {
      last[step] = step;
      time.add(key, key + 1, bytes);
    }
    listRepeat(step);
  } else {
    last[step] = lastUse(v, step, runs.size() > 1 ? time.key(runs[1]) : kNever);
    time.add(key, time.key(last[step]) + 1, bytes);
  }
  for (int32_t i : dag.inputs(v)) {
    int32_t source = runBefore(i, step);
    if (source >= 0 && time.key(last[source]) < key) setLast(source, step);
  }
}

/// Takes `step` out of the sequence and mends the lives around it.  Where it is the only or the main run, the readers
/// stay without a source until it is attached again.
void Sequence::detach(int32_t step) {
  int32_t v = node[step];
  int64_t bytes = dag.bytes[v], key = time.key(step);
  auto &runs = runsOf[v];
  size_t at = 0;
  while (runs[at] != step) ++at;
  if (at > 0) {
    int32_t before = runs[at - 1];
    if (last[step] != step) {
      time.add(time.key(last[before]) + 1, key, bytes);
      last[before] = last[step];
    }
    unlistRepeat(step);
  } else {
    time.add(key + 1, time.key(last[step]) + 1, -bytes);
  }
  for (int32_t i : dag.inputs(v)) {
    int32_t source = runBefore(i, step);
    if (source >= 0 && last[source] == step) setLast(source, lastUse(i, source, key));
  }
  runs.erase(runs.begin() + at);
  time.erase(step);
}

int32_t Sequence::insert(int32_t v, int32_t next) {
  int32_t step = freshStep(v);
  attach(step, next);
  log.push_back({Edit::Inserted, step, next});
  return step;
}

void Sequence::remove(int32_t step) {
  int32_t next = time.next(step);
  detach(step);
  log.push_back({Edit::Removed, step, next});
}

void Sequence::relocate(int32_t step, int32_t next) {
  int32_t was = time.next(step);
  detach(step);
  attach(step, next);
  log.push_back({Edit::Moved, step, was});
}

void Sequence::removeIfIdle(int32_t step) {
  std::vector<int32_t> stack{step};
  while (!stack.empty()) {
    int32_t s = stack.back();
    stack.pop_back();
    if (last[s] != s || repeatAt[s] < 0) continue;
    for (int32_t i : dag.inputs(node[s])) stack.push_back(runBefore(i, s));
    remove(s);
  }
}

void Sequence::commit() {
  for (const Edit &e : log)
    if (e.kind == Edit::Removed) freeSteps.push_back(e.step);
  log.clear();
}

void Sequence::undo() {
  while (!log.empty()) {
    Edit e = log.back();
    log.pop_back();
    if (e.kind != Edit::Removed) detach(e.step);
    if (e.kind == Edit::Inserted)
      freeSteps.push_back(e.step);
    else
      attach(e.step, e.next);
  }
}

std::vector<int32_t> Sequence::idleAt(int32_t step) const {
  std::vector<int32_t> idle;
  int64_t key = time.key(step);
  for (int32_t v = 0; v < dag.size(); ++v) {
    if (v == node[step]) continue;
    int32_t s = runBefore(v, step);
    if (s < 0 || time.key(last[s]) <= key) continue;
    bool read = false;
    if (node[step] >= 0)
      for (int32_t i : dag.inputs(node[step])) read |= i == v;
    if (!read) idle.push_back(s);
  }
  return idle;
}

std::vector<int32_t> Sequence::schedule() const {
  std::vector<int32_t> order;
  for (int32_t s : time.steps())
    if (s != end()) order.push_back(node[s]);
  return order;
}

} // namespace stator::remat
