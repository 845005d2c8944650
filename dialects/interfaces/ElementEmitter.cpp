// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/interfaces/ElementEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace stator {

static std::optional<int64_t> known(Value value) { return getConstantIntValue(value); }

Value ElementEmitter::index(int64_t value) { return arith::ConstantIndexOp::create(s.b, s.loc, value); }

// Constants fold here, not in a later pass: index arithmetic is most of what is emitted.
Value ElementEmitter::add(Value a, Value c) {
  auto x = known(a), y = known(c);
  if (x && y) return index(*x + *y);
  if (x && *x == 0) return c;
  if (y && *y == 0) return a;
  return arith::AddIOp::create(s.b, s.loc, a, c);
}
Value ElementEmitter::sub(Value a, Value c) {
  auto x = known(a), y = known(c);
  if (x && y) return index(*x - *y);
  if (y && *y == 0) return a;
  return arith::SubIOp::create(s.b, s.loc, a, c);
}
Value ElementEmitter::mul(Value a, Value c) {
  auto x = known(a), y = known(c);
  if (x && y) return index(*x * *y);
  if ((x && *x == 0) || (y && *y == 1)) return a;
  if ((y && *y == 0) || (x && *x == 1)) return c;
  return arith::MulIOp::create(s.b, s.loc, a, c);
}
Value ElementEmitter::floorDiv(Value a, Value c) {
  auto x = known(a), y = known(c);
  if (x && y && *y > 0 && *x >= 0) return index(*x / *y);
  if (y && *y == 1) return a;
  return arith::DivUIOp::create(s.b, s.loc, a, c);
}
Value ElementEmitter::mod(Value a, Value c) {
  auto x = known(a), y = known(c);
  if (x && y && *y > 0 && *x >= 0) return index(*x % *y);
  if (y && *y == 1) return index(0);
  return arith::RemUIOp::create(s.b, s.loc, a, c);
}
Value ElementEmitter::compare(Value a, Value c, bool orEqual) {
  return arith::CmpIOp::create(s.b, s.loc, orEqual ? arith::CmpIPredicate::sle : arith::CmpIPredicate::slt, a, c);
}

Scalar ElementEmitter::guarded(Value condition, function_ref<Scalar()> inside, function_ref<Scalar()> otherwise) {
  OpBuilder &b = s.b;
  // Both sides are built first, since the result type is known only from them.
  Type type;
  auto build = [&](function_ref<Scalar()> side, Region &region) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&region);
    Scalar value = side();
    type = value.type;
    scf::YieldOp::create(b, s.loc, value.value);
  };
  auto placeholder = scf::IfOp::create(b, s.loc, TypeRange(), condition, /*addThenBlock=*/false, /*addElseBlock=*/false);
  build(inside, placeholder.getThenRegion());
  build(otherwise, placeholder.getElseRegion());
  auto result = scf::IfOp::create(b, s.loc, TypeRange{storageType(type)}, condition, false, false);
  result.getThenRegion().takeBody(placeholder.getThenRegion());
  result.getElseRegion().takeBody(placeholder.getElseRegion());
  placeholder.erase();
  return {result.getResult(0), type};
}

SmallVector<Scalar> ElementEmitter::loop(Value lower, Value upper, Value step, ArrayRef<Scalar> initial,
                                         function_ref<SmallVector<Scalar>(Value, ArrayRef<Scalar>)> body) {
  OpBuilder &b = s.b;
  SmallVector<Value> start;
  for (Scalar value : initial) start.push_back(value.value);
  auto wrap = [&](ValueRange values) {
    SmallVector<Scalar> scalars;
    for (auto [value, like] : llvm::zip_equal(values, initial)) scalars.push_back({value, like.type});
    return scalars;
  };
  auto forOp = scf::ForOp::create(b, s.loc, lower, upper, step, start);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forOp.getBody());
    SmallVector<Scalar> next = body(forOp.getInductionVar(), wrap(forOp.getRegionIterArgs()));
    SmallVector<Value> yielded;
    for (Scalar value : next) yielded.push_back(value.value);
    // With no state scf.for has built its own terminator.
    if (!initial.empty()) scf::YieldOp::create(b, s.loc, yielded);
  }
  return wrap(forOp.getResults());
}

} // namespace stator
