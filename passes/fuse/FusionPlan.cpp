// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/fuse/FusionPlan.h"

using namespace mlir;
using namespace stator::graph;

namespace stator::fuse {
namespace {

constexpr unsigned maxOps = 256, maxInputs = 64, maxWays = 4, maxCostlyWays = 2;
/// Reductions over at most this many elements may run as loops inside one element.
constexpr int64_t smallReduction = 4;

enum class Role {
  Outside,     // constants, control flow, effects: between kernels
  Alias,       // a reshape that moves elements between dimensions: another name for the same bytes
  Index,       // elements of operands at other indices
  Elementwise, //
  Window,      // one element reads many of an operand
  Reduction,   //
  Contraction, // matmul, convolution
  Alone        // a kernel of its own: sort, scan, scatter
};

int64_t reducedSize(ReductionOpInterface reduction) {
  int64_t size = 1;
  for (int64_t d : reduction.getReducedDims()) {
    auto dim = dimOf(reduction->getOperand(0).getType(), d).asConstant();
    if (!dim || *dim > smallReduction) return INT64_MAX;
    size *= *dim;
  }
  return size;
}

Role roleOf(Operation *op) {
  if (!isa_and_nonnull<GraphDialect>(op->getDialect()) || op->getNumRegions() || !isMemoryEffectFree(op) ||
      op->hasTrait<mlir::OpTrait::ConstantLike>() || op->hasTrait<mlir::OpTrait::IsTerminator>())
    return Role::Outside;
  if (isa<ScalarOpInterface>(op)) return Role::Elementwise;
  if (isa<ReductionOpInterface>(op)) return Role::Reduction;
  if (isa<MatmulOp, ConvolutionOp>(op)) return Role::Contraction;
  if (auto elemental = dyn_cast<ElementalOpInterface>(op)) {
    if (elemental.readsMany()) return Role::Window;
    if (isa<ReshapeOp>(op) && !elemental.getOperandDims(0)) return Role::Alias;
    return Role::Index;
  }
  return isa<EvaluableOpInterface>(op) ? Role::Alone : Role::Outside;
}

std::string kindOf(Operation *op) { return op->getName().stripDialect().str(); }

// Maps are canonical: a dimension of size 1 has index 0 wherever it comes from, and so maps to -1.

IndexMap identity(const Kernel &kernel) {
  IndexMap map;
  for (auto [d, size] : llvm::enumerate(kernel.domain)) map.push_back(size.isConstant(1) ? -1 : int64_t(d));
  return map;
}

/// The map of row values of a reduction kernel.
IndexMap rows(const Kernel &kernel) {
  IndexMap all = identity(kernel), map;
  for (size_t d = 0; d < all.size(); ++d)
    if (!llvm::is_contained(kernel.reduced, int64_t(d))) map.push_back(all[d]);
  return map;
}

/// Equal but for dimensions of size 1 (kept by some ops, dropped by others).
bool sameButUnits(const IndexMap &a, const IndexMap &b) {
  auto isDimension = [](int64_t d) { return d >= 0; };
  return llvm::equal(llvm::make_filter_range(a, isDimension), llvm::make_filter_range(b, isDimension));
}

/// The map of `operand` of an op whose result has `map`.
std::optional<IndexMap> operandMap(Operation *op, unsigned operand, const IndexMap &map) {
  if (isa<ScalarOpInterface>(op)) return map;
  auto elemental = dyn_cast<ElementalOpInterface>(op);
  if (!elemental) return std::nullopt;
  auto dims = elemental.getOperandDims(operand);
  if (!dims) return std::nullopt;
  IndexMap result;
  for (int64_t d : *dims) result.push_back(d < 0 ? -1 : map[d]);
  return result;
}

class Planner {
public:
  explicit Planner(Block &block) : block(block) {
    int64_t position = 0;
    for (Operation &op : block) positions[&op] = position++;
  }

  FusionPlan run() {
    for (Operation &op : llvm::reverse(block)) place(&op);
    return std::move(plan);
  }

private:
  void place(Operation *op) {
    Role role = roleOf(op);
    if (role == Role::Outside || role == Role::Alias) return;
    // Who reads it: kernels, and others that need it in memory.
    llvm::SetVector<unsigned> readers;
    bool needed = false;
    for (Operation *user : op->getUsers()) {
      Operation *local = block.findAncestorOpInBlock(*user);
      auto found = plan.kernelsOf.find(local);
      if (local != user || found == plan.kernelsOf.end()) needed = true;
      else readers.insert(found->second.begin(), found->second.end());
    }
    if (role == Role::Index) return placeIndex(op, readers.getArrayRef(), needed || readers.empty());
    auto joins = [&](Role role) {
      if (readers.size() == 1 && !needed) return join(op, role, readers[0], /*asOutput=*/false);
      return llvm::any_of(readers, [&](unsigned k) { return join(op, role, k, /*asOutput=*/true); });
    };
    if (auto reduction = dyn_cast<ReductionOpInterface>(op); reduction && reducedSize(reduction) <= smallReduction) {
      windows.insert(op);
      if (joins(Role::Window)) return;
      windows.erase(op);
    }
    if (role != Role::Alone && joins(role)) return;
    start(op, role);
  }

  /// Role::Window for reductions that joined their kernel as one.
  Role roleIn(Operation *op) const { return windows.contains(op) ? Role::Window : roleOf(op); }

  /// Index ops are copied into each kernel that can take them.
  void placeIndex(Operation *op, ArrayRef<unsigned> readers, bool needed) {
    for (unsigned k : readers)
      if (!join(op, Role::Index, k, /*asOutput=*/false)) needed = true;
    if (!needed) return;
    // Kernels that took a copy keep it: reading the source is as cheap as reading the result.
    start(op, Role::Index);
  }

  void start(Operation *op, Role role) {
    unsigned k = plan.kernels.size();
    Kernel &kernel = plan.kernels.emplace_back();
    Value result = op->getResult(0);
    kernel.domain = dimsOf(result.getType());
    if (role == Role::Reduction) {
      auto reduction = cast<ReductionOpInterface>(op);
      kernel.kind = "reduce";
      kernel.domain = dimsOf(op->getOperand(0).getType());
      kernel.reduced = llvm::to_vector(reduction.getReducedDims());
    } else if (role == Role::Contraction || role == Role::Alone) {
      kernel.kind = kindOf(op);
    }
    IndexMap map = role == Role::Reduction ? rows(kernel) : identity(kernel);
    for (Value value : op->getResults()) kernel.maps[value] = map;
    add(op, k, 1, /*home=*/true);
  }

  /// Puts the op into the kernel and says where its operands are then read.
  void add(Operation *op, unsigned k, unsigned ways, bool home) {
    Kernel &kernel = plan.kernels[k];
    kernel.ops.insert(op);
    auto &list = plan.kernelsOf[op];
    if (home) {
      kernel.homes.insert(op);
      list.insert(list.begin(), k);
    } else {
      list.push_back(k);
    }
    for (Value result : op->getResults()) kernel.ways[result] = ways;
  }

  /// How the kernel reaches `value` once all its users are in: one map where all agree, and how many ways.
  struct Reach {
    std::optional<IndexMap> map;
    unsigned ways = 0;
    bool readMany = false;
  };
  Reach reach(Value value, const Kernel &kernel) {
    Reach result;
    bool first = true;
    SmallVector<std::optional<IndexMap>> distinct;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (!kernel.ops.contains(user)) continue;
      Value through = user->getResult(0);
      bool many = kernel.readMany.contains(through);
      Role role = roleIn(user);
      if (role == Role::Window || role == Role::Contraction || role == Role::Alone) many = true;
      result.readMany |= many;
      std::optional<IndexMap> map;
      auto known = kernel.maps.find(through);
      if (role == Role::Reduction) map = identity(kernel);
      else if (known != kernel.maps.end()) map = operandMap(user, use.getOperandNumber(), known->second);
      unsigned waysThrough = std::max(1u, kernel.ways.lookup(through));
      bool seen = map && llvm::is_contained(distinct, map);
      if (!seen) result.ways += map ? 1 : waysThrough;
      distinct.push_back(map);
      if (first) result.map = map;
      else if (result.map != map) result.map = std::nullopt;
      first = false;
    }
    return result;
  }

  bool refuse(Operation *op, unsigned k, StringRef why) {
    Operation *consumer = nullptr;
    for (Operation *user : op->getUsers())
      if (plan.kernels[k].ops.contains(user)) consumer = user;
    if (consumer) plan.refusals.push_back({op, consumer, why.str()});
    return false;
  }

  bool join(Operation *op, Role role, unsigned k, bool asOutput) {
    Kernel &kernel = plan.kernels[k];
    if (kernel.ops.size() >= maxOps) return refuse(op, k, "the kernel has 256 operations already");
    if (roleOf(kernel.ops[0]) == Role::Alone && role != Role::Index)
      return refuse(op, k, "the consumer runs as a kernel of its own");
    if (op->getNumResults() != 1 && role != Role::Window) return refuse(op, k, "it has several results");
    unsigned inputs = 0;
    for (Operation *member : kernel.ops) inputs += member->getNumOperands();
    if (inputs + op->getNumOperands() > 4 * maxInputs) return refuse(op, k, "the kernel would read too many tensors");

    // All results must be reached alike; the first result stands for them.
    Reach where;
    for (Value result : op->getResults()) {
      Reach reached = reach(result, kernel);
      if (reached.ways == 0) continue;
      if (where.ways && where.map != reached.map) where.map = std::nullopt;
      else if (!where.ways) where.map = reached.map;
      where.ways = std::max(where.ways, reached.ways);
      where.readMany |= reached.readMany;
    }
    if (where.ways > maxWays) return refuse(op, k, "it is read at several different indices, each of which would compute it again");
    bool whole = where.map && *where.map == identity(kernel) &&
                 dimsOf(op->getResult(0).getType()) == kernel.domain;
    bool row = kernel.kind == "reduce" && where.map && sameButUnits(*where.map, rows(kernel));
    if (asOutput) {
      if (!whole && !row) return refuse(op, k, "others read it too, and the kernel does not run over all of it in order");
      if (op->getNumResults() != 1) return refuse(op, k, "others read it too, and it has several results");
      if (kernel.kind != "loop" && kernel.kind != "reduce") return refuse(op, k, "others read it too, and the kernel has one output");
      if (closesCycle(op, k)) return refuse(op, k, "what else reads it leads back into the kernel");
    }
    switch (role) {
    case Role::Index:
      if (where.readMany && isContraction(kernel) && !staysStrided(op))
        return refuse(op, k, "the contraction reads its operands by strides, and this index arithmetic has none");
      break;
    case Role::Elementwise: {
      if (where.readMany) return refuse(op, k, "the consumer reads each element many times");
      bool expensive = cast<ScalarOpInterface>(op).isExpensive();
      if (expensive && where.ways > maxCostlyWays) return refuse(op, k, "it is expensive and read at several different indices");
      if (expensive && !whole && !row && repeats(op, kernel, where.map) && !followsReduction(op, kernel, where.map))
        return refuse(op, k, "it is expensive and would be computed again for every repeated element");
      if (isContraction(kernel) && !whole) {
        if (expensive || !where.map) return refuse(op, k, "the contraction's epilogue runs over the result only");
      }
      break;
    }
    case Role::Window:
      if (where.readMany) return refuse(op, k, "the consumer reads each element many times");
      if (!whole || kernel.kind != "loop" || where.ways > 1) return refuse(op, k, "a window is computed once for each element of its result");
      break;
    case Role::Reduction:
      if (!joinReduction(cast<ReductionOpInterface>(op), kernel, where.map)) return refuse(op, k, "its reduced dimensions or domain differ from the kernel's");
      whole = false;
      row = true;
      where.map = rows(kernel);
      break;
    case Role::Contraction:
      if (asOutput) return refuse(op, k, "others read the contraction's result too");
      if (kernel.kind != "loop" || where.ways > 1 || !epilogueOnly(kernel)) return refuse(op, k, "the kernel is no plain epilogue of it");
      if (!isPermutation(where.map, dimsOf(op->getResult(0).getType()), kernel))
        return refuse(op, k, "the kernel does not run over the contraction's result once, element by element");
      kernel.kind = kindOf(op);
      break;
    case Role::Outside:
    case Role::Alias:
    case Role::Alone: return false;
    }
    for (Value result : op->getResults()) {
      if (where.map) kernel.maps[result] = *where.map;
      if (where.readMany) kernel.readMany.insert(result);
    }
    add(op, k, where.ways, /*home=*/role != Role::Index || asOutput);
    return true;
  }

  static bool isContraction(const Kernel &kernel) {
    return llvm::any_of(kernel.ops, [](Operation *op) { return roleOf(op) == Role::Contraction; });
  }

  /// Elementwise and index work only, so that it can follow a contraction.
  static bool epilogueOnly(const Kernel &kernel) {
    return llvm::all_of(kernel.ops, [](Operation *op) {
      Role role = roleOf(op);
      return role == Role::Elementwise || (role == Role::Index && cast<ElementalOpInterface>(op).getOperandDims(0));
    });
  }

  static bool isPermutation(const std::optional<IndexMap> &map, ArrayRef<DimExpr> dims, const Kernel &kernel) {
    if (!map) return false;
    SmallVector<bool> used(kernel.domain.size(), false);
    for (auto [d, size] : llvm::zip_equal(*map, dims)) {
      if (d < 0) {
        if (!size.isConstant(1)) return false;
        continue;
      }
      if (used[d] || kernel.domain[d] != size) return false;
      used[d] = true;
    }
    for (auto [d, size] : llvm::enumerate(kernel.domain))
      if (!used[d] && !size.isConstant(1)) return false;
    return true;
  }

  /// Whether a library can read the op's result as a strided part of its operand.
  static bool staysStrided(Operation *op) {
    auto elemental = cast<ElementalOpInterface>(op);
    return elemental.getOperandDims(0).has_value() || isa<SliceOp>(op);
  }

  /// Whether the domain asks for one element of `op` at several indices.
  static bool repeats(Operation *op, const Kernel &kernel, const std::optional<IndexMap> &map) {
    if (!map) {
      // Other index arithmetic (gather, concat, ...): compare how many elements there are.
      MLIRContext *context = op->getContext();
      DimExpr own = numElements(dimsOf(op->getResult(0).getType()), context), all = numElements(kernel.domain, context);
      if (!own || !all) return true;
      if (own.isConstant() && all.isConstant()) return all.getConstant() > own.getConstant();
      return own != all;
    }
    for (auto [d, size] : llvm::enumerate(kernel.domain))
      if (!size.isConstant(1) && !llvm::is_contained(*map, int64_t(d))) return true;
    return false;
  }

  /// Whether `op` is elementwise work on a reduction of the kernel's domain to the rows that `map` picks: the reduction will
  /// join after it and make the kernel one over rows, which computes the op once for each.
  bool followsReduction(Operation *op, const Kernel &kernel, const std::optional<IndexMap> &map) const {
    if (!map || kernel.kind != "loop" || !reduceFriendly(kernel)) return false;
    SmallVector<Operation *> work = {op};
    DenseSet<Operation *> seen;
    while (!work.empty() && seen.size() < 32) {
      Operation *next = work.pop_back_val();
      if (!seen.insert(next).second) continue;
      Role role = roleOf(next);
      if (role == Role::Reduction) {
        Kernel reduced;
        reduced.domain = kernel.domain;
        reduced.reduced = llvm::to_vector(cast<ReductionOpInterface>(next).getReducedDims());
        if (dimsOf(next->getOperand(0).getType()) == kernel.domain && sameButUnits(*map, rows(reduced))) return true;
        continue;
      }
      if (role != Role::Elementwise && role != Role::Index) continue;
      for (Value operand : next->getOperands())
        if (Operation *producer = operand.getDefiningOp()) work.push_back(producer);
    }
    return false;
  }

  bool joinReduction(ReductionOpInterface reduction, Kernel &kernel, const std::optional<IndexMap> &map) {
    if (!map || (kernel.kind != "loop" && kernel.kind != "reduce")) return false;
    SmallVector<DimExpr> operand = dimsOf(reduction->getOperand(0).getType());
    ArrayRef<int64_t> dims = reduction.getReducedDims();
    for (auto [i, d] : llvm::enumerate(dims))
      if (d != dims[0] + int64_t(i)) return false;
    Kernel changed;
    changed.domain = operand;
    changed.reduced = llvm::to_vector(dims);
    IndexMap rowMap = rows(changed);
    if (kernel.domain == operand) {
      if (kernel.kind == "reduce" && kernel.reduced != changed.reduced) return false;
      if (*map != rowMap) return false;
      if (kernel.kind == "loop" && !reduceFriendly(kernel)) return false;
    } else {
      // A kernel over the result, perhaps with units between: it takes the operand as its domain, and all it had is row
      // work.
      if (kernel.kind != "loop" || !sameButUnits(*map, identity(kernel)) || !reduceFriendly(kernel)) return false;
      SmallVector<int64_t> moved(kernel.domain.size(), -1);
      for (auto [from, to] : llvm::zip_equal(*map, rowMap))
        if (from >= 0) moved[from] = to;
      for (auto &entry : kernel.maps)
        for (int64_t &d : entry.second)
          if (d >= 0) d = moved[d];
      kernel.domain = operand;
    }
    kernel.kind = "reduce";
    kernel.reduced = changed.reduced;
    return true;
  }

  bool reduceFriendly(const Kernel &kernel) const {
    return llvm::all_of(kernel.ops, [&](Operation *op) {
      Role role = roleIn(op);
      return role == Role::Elementwise || role == Role::Index || role == Role::Reduction;
    });
  }

  /// Whether a reader of `op` outside kernel `k` leads back into it.
  bool closesCycle(Operation *op, unsigned k) {
    const Kernel &kernel = plan.kernels[k];
    int64_t last = 0;
    for (Operation *member : kernel.ops) last = std::max(last, positions[member]);
    SmallVector<Operation *> work;
    DenseSet<Operation *> seen;
    auto visit = [&](Operation *from) {
      for (Operation *user : from->getUsers())
        if (Operation *local = block.findAncestorOpInBlock(*user))
          if (seen.insert(local).second) work.push_back(local);
    };
    // A kernel runs as a whole: whatever leaves it depends on what enters it.
    DenseSet<unsigned> left;
    auto leave = [&](Operation *op) {
      for (unsigned other : plan.kernelsOf.lookup(op))
        if (other != k && left.insert(other).second)
          for (Operation *member : plan.kernels[other].homes) visit(member);
    };
    for (Operation *user : op->getUsers()) {
      Operation *local = block.findAncestorOpInBlock(*user);
      // Index work that stands in this kernel may stand in others too, and those read `op` from memory.
      if (local && kernel.ops.contains(local)) leave(local);
      else if (local && seen.insert(local).second) work.push_back(local);
    }
    while (!work.empty()) {
      Operation *next = work.pop_back_val();
      if (kernel.ops.contains(next)) return true;
      if (!plan.kernelsOf.count(next)) {
        visit(next);
        continue;
      }
      leave(next);
    }
    return false;
  }

  Block &block;
  FusionPlan plan;
  DenseMap<Operation *, int64_t> positions;
  DenseSet<Operation *> windows;
};

} // namespace

FusionPlan planFusion(Block &block) { return Planner(block).run(); }

} // namespace stator::fuse
