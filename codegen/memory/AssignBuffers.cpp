// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/AssignBuffers.h"
#include "codegen/memory/MemoryPlanner.h"
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

namespace {
struct ConstantPlan {
  int64_t bytes = 0, liveLoad = 0;
};
} // namespace

/// Gives the buffers of constant size their offsets.
static ConstantPlan placeConstants(MutableArrayRef<Life> lives) {
  memory::Problem problem;
  SmallVector<int64_t> numbers(lives.size(), memory::kNone);
  SmallVector<Life *> order;
  for (auto [i, life] : llvm::enumerate(lives)) {
    if (!life.bytes.isConstant()) continue;
    numbers[i] = order.size();
    order.push_back(&life);
    memory::Buffer buffer;
    buffer.lower = life.first;
    buffer.upper = life.last + 1;
    buffer.size = life.bytes.getConstant();
    buffer.alignment = STATOR_ALIGNMENT;
    problem.buffers.push_back(buffer);
  }
  for (auto [i, life] : llvm::enumerate(lives))
    if (numbers[i] >= 0 && life.mayTake >= 0) problem.buffers[numbers[i]].shareWith = numbers[life.mayTake];
  // A tenth of a second at most: compiling is to be quick, and networks are easy.
  memory::Effort effort;
  effort.conflictPairs = 4'000'000;
  effort.squeakyVisits = 400'000;
  effort.searchNodes = 20'000;
  effort.searchSteps = 4'000'000;
  memory::Plan plan = memory::planMemory(problem, effort);
  // A problem that cannot be planned (sizes whose sum leaves int64) is left for the runtime, which refuses such an arena.
  if (!plan.error.empty() || plan.offsets.size() != order.size()) {
    for (Life *life : order) life->offset = DimExpr::constant(life->bytes.getContext(), 0);
    return {INT64_MAX / 2, 0};
  }
  for (auto [life, offset] : llvm::zip_equal(order, plan.offsets)) life->offset = DimExpr::constant(life->bytes.getContext(), offset);
  return {plan.arenas[0].bytes, plan.arenas[0].bound};
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
  ConstantPlan constants = placeConstants(lives);
  ArenaSize size{placeSymbolic(program, lives, DimExpr::constant(context, constants.bytes)),
                 DimExpr::constant(context, constants.liveLoad)};
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
