// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GraphBuilder: type promotion, reductions and the composites that frontends share.
#include "dialects/graph/Builder.h"

using namespace mlir;

namespace stator::graph {

bool isFloat(Type type) { return isa<FloatType>(type); }
bool isBool(Type type) { return type.isInteger(1); }
bool isNarrowFloat(Type type) { return isFloat(type) && type.getIntOrFloatBitWidth() < 32; }
Type computeType(Type type) { return isNarrowFloat(type) ? Float32Type::get(type.getContext()) : type; }

// --- promotion ---

static int category(Type type) { return isFloat(type) ? 2 : isBool(type) ? 0 : 1; }

Type promoteTypes(Type a, Type c) {
  if (a == c) return a;
  int x = category(a), y = category(c);
  if (x != y) return x > y ? a : c;
  unsigned wide = a.getIntOrFloatBitWidth(), other = c.getIntOrFloatBitWidth();
  MLIRContext *context = a.getContext();
  if (x == 2) {
    if (wide != other) return wide > other ? a : c;
    if (wide == 16) return Float32Type::get(context); // f16 with bf16.
    throw BuildError("no element type holds both f8 types");
  }
  bool unsignedA = a.isUnsignedInteger(), unsignedC = c.isUnsignedInteger();
  if (unsignedA == unsignedC) return wide > other ? a : c;
  // A signed type that holds both; PyTorch has none for u64 and refuses u16 and u32.
  unsigned unsignedWidth = unsignedA ? wide : other, signedWidth = unsignedA ? other : wide;
  if (unsignedWidth != 8) throw BuildError("PyTorch does not promote unsigned types wider than 8 bits");
  return IntegerType::get(context, std::max(2 * unsignedWidth, signedWidth));
}

static Type combine(Type higher, Type lower) {
  if (!higher || !lower) return higher ? higher : lower;
  if (isFloat(higher)) return higher;
  if (isBool(higher) || isFloat(lower)) return promoteTypes(higher, lower);
  return higher;
}

Type resultType(ArrayRef<Operand> operands, MLIRContext *context) {
  Type withDims, zeroDims, numbers;
  auto merge = [](Type &into, Type type) { into = into ? promoteTypes(into, type) : type; };
  for (const Operand &operand : operands) {
    if (!operand.value) {
      Type type = operand.number.kind == Number::Kind::Float ? Type(Float32Type::get(context))
                  : operand.number.kind == Number::Kind::Int ? Type(IntegerType::get(context, 64))
                                                             : Type(IntegerType::get(context, 1));
      merge(numbers, type);
      continue;
    }
    Type type = GraphBuilder::element(operand.value);
    if (operand.weak)
      merge(numbers, isFloat(type) ? Type(Float32Type::get(context)) : type);
    else
      merge(GraphBuilder::rank(operand.value) == 0 ? zeroDims : withDims, type);
  }
  return combine(withDims, combine(zeroDims, numbers));
}

Value GraphBuilder::as(const Operand &operand, Type elementType) {
  return operand.value ? cast(operand.value, elementType) : scalar(operand.number, elementType);
}

SmallVector<Value> GraphBuilder::promote(ArrayRef<Operand> operands, Promotion rule) {
  SmallVector<Value> values;
  Type type;
  if (rule == Promotion::Bool) type = i1();
  if (rule == Promotion::Same || rule == Promotion::Float) type = resultType(operands);
  if (rule == Promotion::Float && !isFloat(type)) type = f32();
  for (const Operand &operand : operands)
    values.push_back(as(operand, type ? type : operand.value ? element(operand.value) : resultType({operand})));
  return values;
}

// --- reductions ---

Value GraphBuilder::reduceNamed(StringRef name, Value x, ArrayRef<int64_t> list, bool keep) {
  Ints reduced = list.empty() ? counting(0, rank(x)) : axes(list, rank(x));
  if (rank(x) == 0) reduced.clear();
  llvm::sort(reduced);
  Value result = create(name, {x}, {ints("dims", reduced)})->getResult(0);
  if (!keep) return result;
  Dims kept = dims(x);
  for (int64_t d : reduced) kept[d] = dim(1);
  return reshape(result, kept);
}

Value GraphBuilder::count(Value x, ArrayRef<int64_t> list, Type elementType) {
  Ints reduced = list.empty() ? counting(0, rank(x)) : axes(list, rank(x));
  DimExpr n = dim(1);
  if (rank(x) != 0)
    for (int64_t d : reduced) n = DimExpr::mul(n, dim(x, d));
  if (n && n.isConstant()) return scalarInt(n.getConstant(), elementType);
  return cast(size(n), elementType);
}

Value GraphBuilder::mean(Value x, ArrayRef<int64_t> list, bool keep) {
  return div(sum(x, list, keep), count(x, list, element(x)));
}

Value GraphBuilder::variance(Value x, ArrayRef<int64_t> list, double correction, bool keep) {
  Value centred = sub(x, mean(x, list, true));
  Value total = sum(mul(centred, centred), list, keep);
  Value divisor = count(x, list, element(x));
  if (correction != 0) divisor = maximum(sub(divisor, correction), 0.0);
  return div(total, divisor);
}

// --- composites ---

Value GraphBuilder::softmax(Value x, int64_t d) {
  if (rank(x) == 0) return reshape(softmax(reshape(x, {dim(1)}), 0), {});
  Value e = unary<ExpOp>(sub(x, reduce<ReduceMaxOp>(x, {d}, true)));
  return div(e, sum(e, {d}, true));
}

Value GraphBuilder::logSoftmax(Value x, int64_t d) {
  if (rank(x) == 0) return reshape(logSoftmax(reshape(x, {dim(1)}), 0), {});
  Value shifted = sub(x, reduce<ReduceMaxOp>(x, {d}, true));
  return sub(shifted, unary<LogOp>(sum(unary<ExpOp>(shifted), {d}, true)));
}

Value GraphBuilder::normalize(Value x, ArrayRef<int64_t> list, double eps, Value *meanOut, Value *rstdOut) {
  Value average = mean(x, list, true);
  Value centred = sub(x, average);
  Value spread = mean(mul(centred, centred), list, true);
  Value rstd = unary<RsqrtOp>(add(spread, eps));
  if (meanOut) *meanOut = average;
  if (rstdOut) *rstdOut = rstd;
  return mul(centred, rstd);
}

Value GraphBuilder::matmul(Value lhs, Value rhs, bool transposeLhs, bool transposeRhs) {
  if (rank(lhs) < 2 || rank(rhs) < 2)
    fail("a matrix product needs matrices, not shapes " + shapeText(dims(lhs)) + " and " + shapeText(dims(rhs)));
  Dims left = dims(lhs), right = dims(rhs);
  ArrayRef<DimExpr> l(left), r(right);
  DimExpr &inner = left[left.size() - (transposeLhs ? 2 : 1)], &other = right[right.size() - (transposeRhs ? 1 : 2)];
  Dims batch = broadcastDims(l.drop_back(2), r.drop_back(2));
  // One spelling for the contracted size, too.
  if (inner != other) (inner.isConstant() ? other : inner) = inner.isConstant() ? inner : other;
  Dims wantLeft = batch, wantRight = batch;
  wantLeft.append(left.end() - 2, left.end());
  wantRight.append(right.end() - 2, right.end());
  if (right.size() == 2) wantRight = right; // One matrix is shared by every batch.
  SmallVector<NamedAttribute> attributes;
  if (transposeLhs) attributes.push_back(unit("transpose_lhs"));
  if (transposeRhs) attributes.push_back(unit("transpose_rhs"));
  return op<MatmulOp>({broadcastTo(lhs, wantLeft), broadcastTo(rhs, wantRight)}, attributes);
}

} // namespace stator::graph
