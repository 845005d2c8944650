// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Builder.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace stator::graph {

Operation *GraphBuilder::create(StringRef name, ValueRange operands, ArrayRef<NamedAttribute> attributes,
                                std::optional<TypeRange> resultTypes) {
  auto registered = RegisteredOperationName::lookup(name, context());
  if (!registered) fail("the op '" + name + "' is not registered");
  for (Value operand : operands)
    if (!operand) fail("'" + name + "' lacks an operand");
  // Whatever inference and verification say becomes the error's text.
  std::string said;
  ScopedDiagnosticHandler capture(context(), [&](Diagnostic &diagnostic) {
    if (said.empty()) said = diagnostic.str();
    return success();
  });
  auto refuse = [&]() {
    StringRef text(said);
    // The verifier's prefix names an op that the user has never heard of; what follows is the fact.
    text.consume_front(("'" + name + "' op ").str());
    fail(text.empty() ? "'" + name + "' cannot be built from these operands" : Twine(text));
  };

  DictionaryAttr dictionary = b.getDictionaryAttr(attributes);
  OperationState state(loc, name);
  state.addOperands(operands);
  state.attributes = dictionary;
  if (resultTypes) {
    state.addTypes(*resultTypes);
  } else {
    auto *infer = registered->getInterface<InferTypeOpInterface>();
    if (!infer) {
      // SameOperandsAndResultType and AllTypesMatch<x, result> ops infer through a trait that is an interface, too.
      fail("'" + name + "' needs result types");
    }
    size_t bytes = size_t(registered->getOpPropertyByteSize());
    SmallVector<std::max_align_t, 4> storage((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    OpaqueProperties properties(bytes ? storage.data() : nullptr);
    SmallVector<Type> inferred;
    bool good = true;
    if (bytes) {
      registered->initOpProperties(properties, OpaqueProperties(nullptr));
      good = succeeded(registered->setOpPropertiesFromAttribute(
          *registered, properties, dictionary, [&] { return emitError(loc) << "'" << name << "' op "; }));
    }
    good = good && succeeded(infer->inferReturnTypes(context(), loc, operands, dictionary, properties, {}, inferred));
    if (bytes) registered->destroyOpProperties(properties);
    if (!good) refuse();
    state.addTypes(inferred);
  }
  Operation *op = b.create(state);
  if (failed(registered->verifyInvariants(op))) {
    op->erase();
    refuse();
  }
  return op;
}

Ints GraphBuilder::staticDims(Value x, StringRef what) {
  Ints sizes;
  for (int64_t d = 0; d < rank(x); ++d) sizes.push_back(staticDim(x, d, what));
  return sizes;
}

int64_t GraphBuilder::staticDim(Value x, int64_t d, StringRef what) {
  auto size = dim(x, d).asConstant();
  if (!size)
    fail(what + " needs a size that is known when compiling, and dimension " + Twine(d) + " is " + dim(x, d).str());
  return *size;
}

int64_t GraphBuilder::axis(int64_t dim, int64_t rank) {
  int64_t n = std::max<int64_t>(rank, 1);
  if (dim < -n || dim >= n) fail("dimension " + Twine(dim) + " is outside a tensor of rank " + Twine(rank));
  return dim < 0 ? dim + n : dim;
}

Ints GraphBuilder::axes(ArrayRef<int64_t> dims, int64_t rank) {
  Ints result;
  for (int64_t dim : dims) {
    int64_t d = axis(dim, rank);
    if (llvm::is_contained(result, d)) fail("dimension " + Twine(dim) + " is given twice");
    result.push_back(d);
  }
  return result;
}

// --- constants ---

static DenseElementsAttr splat(RankedTensorType type, Number value) {
  Type element = type.getElementType();
  if (auto floating = dyn_cast<FloatType>(element)) {
    APFloat number(value.asDouble());
    if (value.kind == Number::Kind::Int)
      number = APFloat(APFloat::IEEEdouble(), APInt(64, 0)),
      number.convertFromAPInt(APInt(64, uint64_t(value.integer)), true, APFloat::rmNearestTiesToEven);
    bool inexact;
    number.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    return DenseElementsAttr::get(type, number);
  }
  unsigned width = element.getIntOrFloatBitWidth();
  if (width == 1) return DenseElementsAttr::get(type, !value.isZero());
  int64_t integer = value.integer;
  if (value.kind == Number::Kind::Float)
    integer = std::isnan(value.real) ? 0
              : value.real >= 0x1p63 ? INT64_MAX
              : value.real < -0x1p63 ? INT64_MIN
                                     : int64_t(value.real);
  return DenseElementsAttr::get(type, APInt(width, uint64_t(integer), true, /*implicitTrunc=*/true));
}

Value GraphBuilder::scalar(Number value, Type elementType) {
  return constant(splat(RankedTensorType::get({}, elementType), value));
}

Value GraphBuilder::full(Number value, ArrayRef<DimExpr> dims, Type elementType) {
  auto type = tensorOf(dims, elementType);
  if (type.hasStaticShape()) return constant(splat(RankedTensorType::get(type.getShape(), elementType), value));
  return broadcastTo(scalar(value, elementType), dims);
}

Value GraphBuilder::indices(ArrayRef<int64_t> values) {
  return constant(DenseElementsAttr::get(RankedTensorType::get({int64_t(values.size())}, i64()), values));
}

Value GraphBuilder::iota(ArrayRef<DimExpr> dims, int64_t dim, Type elementType, double start, double step) {
  return opAs<IotaOp>(tensorOf(dims, elementType), {}, {attr("dim", dim), real("start", start), real("step", step)});
}

Value GraphBuilder::size(DimExpr expr) {
  if (!expr) fail("a size leaves 64 bits");
  if (auto value = expr.asConstant()) return scalarInt(*value, i64());
  return opAs<SizeOp>(RankedTensorType::get({}, i64()), {}, {shape("expr", {expr})});
}

/// An infinity, or the largest number of a type without one.
static APFloat extreme(FloatType type, bool negative) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  return APFloat::semanticsHasInf(semantics) ? APFloat::getInf(semantics, negative)
                                             : APFloat::getLargest(semantics, negative);
}

Value GraphBuilder::highest(Type type) {
  if (auto floating = dyn_cast<FloatType>(type))
    return constant(DenseElementsAttr::get(RankedTensorType::get({}, type), extreme(floating, false)));
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1) return scalarInt(1, type);
  APInt value = type.isUnsignedInteger() ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  return constant(DenseElementsAttr::get(RankedTensorType::get({}, type), value));
}

Value GraphBuilder::lowest(Type type) {
  if (auto floating = dyn_cast<FloatType>(type))
    return constant(DenseElementsAttr::get(RankedTensorType::get({}, type), extreme(floating, true)));
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1) return scalarInt(0, type);
  APInt value = type.isUnsignedInteger() ? APInt(width, 0) : APInt::getSignedMinValue(width);
  return constant(DenseElementsAttr::get(RankedTensorType::get({}, type), value));
}

// --- shapes ---

Value GraphBuilder::cast(Value x, Type elementType) {
  if (element(x) == elementType) return x;
  return opAs<CastOp>(tensorOf(dims(x), elementType), {x});
}

Value GraphBuilder::reshape(Value x, ArrayRef<DimExpr> target) {
  for (DimExpr dim : target)
    if (!dim) fail("a size leaves 64 bits");
  Type type = tensorOf(target, element(x));
  if (type == x.getType()) return x;
  DimExpr have = numElements(dims(x), context()), want = numElements(target, context());
  if (!have || !want) fail("a tensor of more elements than 64 bits count");
  // Equal for a reason that the expressions do not show (an even size split in two): the program asserts it.
  if (have != want && !(have.isConstant() && want.isConstant()))
    x = withShape(rank(x) == 1 ? x : opAs<ReshapeOp>(tensorOf({have}, element(x)), {x}), {want});
  return x.getType() == type ? x : opAs<ReshapeOp>(type, {x});
}

Value GraphBuilder::flatten(Value x) {
  if (rank(x) == 1) return x;
  return reshape(x, {numElements(dims(x), context())});
}

Dims GraphBuilder::broadcastDims(ArrayRef<DimExpr> x, ArrayRef<DimExpr> y) {
  if (x.size() < y.size()) std::swap(x, y);
  Dims result(x.begin(), x.end());
  size_t shift = x.size() - y.size();
  for (size_t i = 0; i < y.size(); ++i) {
    DimExpr &mine = result[i + shift];
    if (mine == y[i] || y[i].isConstant(1)) continue;
    if (mine.isConstant(1) || (y[i].isConstant() && !mine.isConstant()))
      mine = y[i];
    else if (mine.isConstant() && y[i].isConstant())
      fail("shapes " + shapeText(x) + " and " + shapeText(y) + " do not broadcast: " + mine.str() + " against " +
           y[i].str());
  }
  return result;
}

Dims GraphBuilder::broadcastDims(ArrayRef<Value> values) {
  Dims result;
  for (Value value : values) result = broadcastDims(result, dims(value));
  return result;
}

Value GraphBuilder::withShape(Value x, ArrayRef<DimExpr> target) {
  Type type = tensorOf(target, element(x));
  if (type == x.getType()) return x;
  Dims mine = dims(x);
  bool fits = mine.size() == target.size();
  for (size_t i = 0; fits && i < mine.size(); ++i)
    fits = mine[i] == target[i] || !mine[i].isConstant() || !target[i].isConstant();
  if (!fits) fail("a tensor of shape " + shapeText(mine) + " where the program says " + shapeText(target));
  return opAs<AssertShapeOp>(type, {x});
}

Value GraphBuilder::broadcastTo(Value x, ArrayRef<DimExpr> target) {
  Dims mine = dims(x);
  if (ArrayRef<DimExpr>(mine) == target) return x;
  if (mine.size() > target.size()) fail("shape " + shapeText(mine) + " does not broadcast to " + shapeText(target));
  size_t shift = target.size() - mine.size();
  bool same = true;
  for (size_t i = 0; i < mine.size(); ++i)
    if (!mine[i].isConstant(1)) {
      same &= mine[i] == target[i + shift];
      if (mine[i].isConstant() && target[i + shift].isConstant() && mine[i] != target[i + shift])
        fail("shape " + shapeText(mine) + " does not broadcast to " + shapeText(target));
      mine[i] = target[i + shift];
    }
  if (!same) x = withShape(x, mine);
  Type type = tensorOf(target, element(x));
  return type == x.getType() ? x : opAs<BroadcastOp>(type, {x});
}

Value GraphBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  bool identity = int64_t(permutation.size()) == rank(x);
  for (size_t i = 0; identity && i < permutation.size(); ++i) identity = permutation[i] == int64_t(i);
  return identity ? x : op<TransposeOp>({x}, {ints("permutation", permutation)});
}

Value GraphBuilder::swapAxes(Value x, int64_t a, int64_t c) {
  if (rank(x) == 0) return x;
  requireDim(x, a);
  requireDim(x, c);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank(x)));
  std::swap(order[a], order[c]);
  return transpose(x, order);
}

Value GraphBuilder::moveAxis(Value x, int64_t from, int64_t to) {
  requireDim(x, from);
  requireDim(x, to);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank(x)));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return transpose(x, order);
}

Value GraphBuilder::unsqueeze(Value x, int64_t d) {
  if (d < 0 || d > rank(x)) fail("a new dimension " + Twine(d) + " of a tensor of rank " + Twine(rank(x)));
  Dims result = dims(x);
  result.insert(result.begin() + d, dim(1));
  return reshape(x, result);
}

Value GraphBuilder::squeeze(Value x, ArrayRef<int64_t> remove) {
  Dims result;
  for (auto [i, size] : llvm::enumerate(dims(x)))
    if (!llvm::is_contained(remove, int64_t(i)) || !size.isConstant(1)) result.push_back(size);
  return reshape(x, result);
}

DimExpr GraphBuilder::dim(Value x, int64_t d) {
  requireDim(x, d);
  return dimOf(x.getType(), unsigned(d));
}
void GraphBuilder::requireDim(Value x, int64_t d) {
  if (d < 0 || d >= rank(x)) fail("dimension " + Twine(d) + " of a tensor of rank " + Twine(rank(x)));
}
Value GraphBuilder::slice(Value x, int64_t d, DimExpr start, DimExpr size, int64_t step) {
  requireDim(x, d);
  if (!start || !size) fail("a size leaves 64 bits");
  if (start.isConstant(0) && step == 1 && size == dim(x, d)) return x;
  Dims result = dims(x), starts(result.size(), dim(0));
  Ints steps(result.size(), 1);
  result[d] = size;
  starts[d] = start;
  steps[d] = step;
  return opAs<SliceOp>(tensorOf(result, element(x)), {x},
                       {shape("starts", starts), ints("steps", steps)});
}

Value GraphBuilder::select(Value x, int64_t d, DimExpr index) {
  requireDim(x, d);
  Value one = slice(x, d, index, dim(1));
  Dims result = dims(one);
  result.erase(result.begin() + d);
  return reshape(one, result);
}

Value GraphBuilder::concat(ArrayRef<Value> xs, int64_t d) {
  if (xs.empty()) fail("nothing to concatenate");
  return xs.size() == 1 ? xs[0] : op<ConcatOp>(xs, {attr("dim", d)});
}

Value GraphBuilder::pad(Value x, Value value, ArrayRef<DimExpr> low, ArrayRef<DimExpr> high) {
  auto zero = [](DimExpr n) { return n && n.isConstant(0); };
  if (llvm::all_of(low, zero) && llvm::all_of(high, zero)) return x;
  return op<PadOp>({x, value}, {shape("low", low), shape("high", high)});
}

Value GraphBuilder::strided(Value x, ArrayRef<DimExpr> result, ArrayRef<DimExpr> strides, DimExpr offset) {
  for (DimExpr dim : result)
    if (!dim) fail("a size leaves 64 bits");
  return opAs<StridedOp>(tensorOf(result, element(x)), {flatten(x)}, {shape("strides", strides), shape("offset", {offset})});
}

Value GraphBuilder::updateSlice(Value x, Value updates, int64_t d, DimExpr start, int64_t step) {
  requireDim(x, d);
  Dims starts(size_t(rank(x)), dim(0));
  Ints steps(size_t(rank(x)), 1);
  starts[d] = start;
  steps[d] = step;
  return opAs<UpdateSliceOp>(x.getType(), {x, updates}, {shape("starts", starts), ints("steps", steps)});
}

Dims GraphBuilder::rowMajorStrides(Value x) {
  Dims strides(size_t(rank(x)), dim(1));
  for (int64_t d = rank(x) - 2; d >= 0; --d) strides[d] = DimExpr::mul(strides[d + 1], dim(x, d + 1));
  return strides;
}

Value GraphBuilder::reverse(Value x, ArrayRef<int64_t> d) {
  return d.empty() ? x : opAs<ReverseOp>(x.getType(), {x}, {ints("dims", d)});
}

Value GraphBuilder::take(Value x, Value indices, int64_t d) { return op<TakeOp>({x, indices}, {attr("dim", d)}); }

Value GraphBuilder::where(Value condition, Value x, Value y) {
  Dims common = broadcastDims({condition, x, y});
  return opAs<WhereOp>(tensorOf(common, element(x)),
                       {broadcastTo(condition, common), broadcastTo(x, common), broadcastTo(y, common)});
}

} // namespace stator::graph
