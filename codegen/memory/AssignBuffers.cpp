// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/AssignBuffers.h"
#include "stator/abi.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

namespace {
struct Life {
  plan::BufferOp op;
  DimExpr bytes; // rounded up to the alignment
  int64_t first = INT64_MAX, last = -1;
  /// Position in `lives` of a dying buffer whose place this one may take.
  int64_t mayTake = -1;
  DimExpr offset;
  bool overlaps(const Life &other) const { return first <= other.last && other.first <= last; }
};
struct Loop {
  int64_t first, last;
};
} // namespace

/// Steps in program order, regions after their op's own step; a loop's end gets a number too.
static void numberSteps(Region &region, int64_t &clock, DenseMap<Operation *, int64_t> &times, SmallVectorImpl<Loop> &loops) {
  for (Operation &op : region.front()) {
    if (isa<plan::BufferOp>(op)) continue;
    int64_t start = clock++;
    times[&op] = start;
    // Plans nest to the depth that the artifact format allows.
    for (Region &inner : op.getRegions()) numberSteps(inner, clock, times, loops);
    if (isa<plan::WhileOp>(op)) loops.push_back({start, clock++});
  }
}

static DimExpr aligned(DimExpr bytes) {
  DimExpr unit = DimExpr::constant(bytes.getContext(), STATOR_ALIGNMENT);
  DimExpr rounded = DimExpr::mul(DimExpr::ceilDiv(bytes, unit), unit);
  return rounded ? rounded : bytes;
}

/// a >= c for all values of the symbols.
static bool atLeast(plan::ProgramOp program, DimExpr a, DimExpr c) {
  DimExpr gap = DimExpr::sub(a, c);
  if (!gap) return false;
  auto range = [&](StringRef name) {
    for (auto symbol : program.getSymbols().getAsRange<DictionaryAttr>())
      if (symbol.getAs<StringAttr>("name").getValue() == name)
        return graph::DimRange{symbol.getAs<IntegerAttr>("min").getInt(), symbol.getAs<IntegerAttr>("max").getInt()};
    return graph::DimRange{};
  };
  return graph::rangeOf(gap, range).min >= 0;
}
static DimExpr larger(plan::ProgramOp program, DimExpr a, DimExpr c) {
  if (atLeast(program, a, c)) return a;
  if (atLeast(program, c, a)) return c;
  return DimExpr::max(a, c);
}

static SmallVector<Life> findLives(plan::ProgramOp program) {
  int64_t clock = 0;
  DenseMap<Operation *, int64_t> times;
  SmallVector<Loop> loops;
  numberSteps(program.getBody(), clock, times, loops);
  SmallVector<Life> lives;
  DenseMap<Value, size_t> numbers;
  for (auto op : llvm::make_early_inc_range(program.getBody().front().getOps<plan::BufferOp>())) {
    if (op.getSpace() != "arena") continue;
    if (op.use_empty()) {
      op.erase();
      continue;
    }
    Life life;
    life.op = op;
    life.bytes = aligned(op.getBytes()->getDims()[0]);
    for (Operation *user : op->getUsers()) {
      int64_t time = times.lookup(user);
      life.first = std::min(life.first, time);
      // A while reads its predicate after its condition ran.
      life.last = std::max(life.last, time);
      if (isa<plan::WhileOp>(user))
        for (const Loop &loop : loops)
          if (loop.first == time) life.last = std::max(life.last, loop.last);
    }
    numbers[op.getResult()] = lives.size();
    lives.push_back(life);
  }
  // What is alive when a loop begins and touched inside stays until it ends; inner loops first, as numbered.
  for (const Loop &loop : loops)
    for (Life &life : lives)
      if (life.first <= loop.first && life.last > loop.first && life.last < loop.last) life.last = loop.last;
  program.walk([&](plan::LaunchOp launch) {
    if (!launch.getMayShare()) return;
    ArrayRef<int64_t> pairs = *launch.getMayShare();
    int64_t now = times.lookup(launch);
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
      auto written = numbers.find(launch.getBuffers()[pairs[i]]), read = numbers.find(launch.getBuffers()[pairs[i + 1]]);
      if (written == numbers.end() || read == numbers.end()) continue;
      Life &to = lives[written->second], &from = lives[read->second];
      if (to.first == now && from.last == now && to.bytes == from.bytes && to.mayTake < 0) to.mayTake = read->second;
    }
  });
  return lives;
}

/// The most bytes live at one step, for constant sizes.
static int64_t liveLoad(ArrayRef<Life> lives) {
  std::map<int64_t, int64_t> change;
  for (const Life &life : lives)
    if (life.bytes.isConstant()) {
      change[life.first] += life.bytes.getConstant();
      // A result over a dying input takes no room of its own at that step.
      change[life.mayTake >= 0 ? life.last + 1 : life.last + 1] -= life.bytes.getConstant();
      if (life.mayTake >= 0) {
        change[life.first] -= life.bytes.getConstant();
        change[life.first + 1] += life.bytes.getConstant();
      }
    }
  int64_t now = 0, most = 0;
  for (auto [time, by] : change) most = std::max(most, now += by);
  return most;
}

/// Size-ordered best fit: the largest first, each into the tightest gap among those that live with it.
static int64_t placeConstants(MutableArrayRef<Life> lives) {
  SmallVector<Life *> order;
  for (Life &life : lives)
    if (life.bytes.isConstant()) order.push_back(&life);
  llvm::stable_sort(order, [](Life *a, Life *c) { return a->bytes.getConstant() > c->bytes.getConstant(); });
  int64_t end = 0;
  SmallVector<Life *> placed;
  // Sharing joins two lives at one step; the taker must not count as an overlap there.
  auto conflict = [&](Life *a, Life *c) {
    if (!a->overlaps(*c)) return false;
    if (a->mayTake >= 0 && &lives[a->mayTake] == c && a->first == c->last) return false;
    if (c->mayTake >= 0 && &lives[c->mayTake] == a && c->first == a->last) return false;
    return true;
  };
  for (Life *life : order) {
    int64_t size = life->bytes.getConstant();
    SmallVector<std::pair<int64_t, int64_t>> busy; // [from, to)
    for (Life *other : placed)
      if (conflict(life, other)) busy.push_back({other->offset.getConstant(), other->offset.getConstant() + other->bytes.getConstant()});
    llvm::sort(busy);
    int64_t best = -1, bestGap = INT64_MAX, at = 0;
    for (auto [from, to] : busy) {
      if (from - at >= size && from - at < bestGap) {
        best = at;
        bestGap = from - at;
      }
      at = std::max(at, to);
    }
    if (best < 0) best = at;
    // Partial overlap with a buffer that it may take over is no sharing: either the same place or apart.
    for (Life *other : placed) {
      bool related = (life->mayTake >= 0 && &lives[life->mayTake] == other) || (other->mayTake >= 0 && &lives[other->mayTake] == life);
      if (!related || !life->overlaps(*other)) continue;
      int64_t from = other->offset.getConstant(), to = from + other->bytes.getConstant();
      if (best != from && best < to && from < best + size) best = std::max(at, to);
    }
    life->offset = DimExpr::constant(life->bytes.getContext(), best);
    end = std::max(end, best + size);
    placed.push_back(life);
  }
  return end;
}

static DimExpr placeSymbolic(plan::ProgramOp program, MutableArrayRef<Life> lives, DimExpr base) {
  struct Slot {
    DimExpr size;
    SmallVector<Life *> members;
  };
  std::vector<Slot> slots;
  SmallVector<std::pair<Life *, size_t>> homes;
  for (Life &life : lives) {
    if (life.bytes.isConstant()) continue;
    auto isFree = [&](Slot &slot) { return llvm::none_of(slot.members, [&](Life *m) { return m->overlaps(life); }); };
    // A slot of this size, else one that is large enough, else one that may grow.
    int64_t chosen = -1, quality = 3;
    for (size_t i = 0; i < slots.size(); ++i) {
      if (!isFree(slots[i])) continue;
      int64_t q = slots[i].size == life.bytes ? 0 : atLeast(program, slots[i].size, life.bytes) ? 1 : 2;
      if (q < quality) {
        quality = q;
        chosen = i;
      }
    }
    if (chosen < 0) {
      chosen = slots.size();
      slots.push_back({life.bytes, {}});
    }
    slots[chosen].size = larger(program, slots[chosen].size, life.bytes);
    slots[chosen].members.push_back(&life);
    homes.push_back({&life, size_t(chosen)});
  }
  SmallVector<DimExpr> offsets;
  for (Slot &slot : slots) {
    offsets.push_back(base);
    base = DimExpr::add(base, slot.size);
  }
  for (auto [life, slot] : homes) life->offset = offsets[slot];
  return base;
}

ArenaSize assignBuffers(plan::ProgramOp program) {
  MLIRContext *context = program.getContext();
  SmallVector<Life> lives = findLives(program);
  DimExpr constants = DimExpr::constant(context, placeConstants(lives));
  ArenaSize size{placeSymbolic(program, lives, constants), DimExpr::constant(context, liveLoad(lives))};
  for (Life &life : lives) life.op.setOffsetAttr(graph::ShapeAttr::get(context, life.offset));
  Builder b(context);
  if (lives.empty()) return size;
  NamedAttrList arena;
  arena.set("memory", b.getStringAttr("device"));
  arena.set("bytes", graph::ShapeAttr::get(context, size.bytes));
  arena.set("live_load", graph::ShapeAttr::get(context, size.liveLoad));
  program.setArenasAttr(b.getArrayAttr(arena.getDictionary(context)));
  return size;
}

} // namespace stator::codegen
