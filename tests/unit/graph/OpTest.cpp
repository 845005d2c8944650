// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/graph/OpTest.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>

using namespace mlir;

namespace stator::test {
namespace {

int64_t valueOf(graph::DimExpr dim, const llvm::StringMap<int64_t> &symbols) {
  auto value = dim.evaluate([&](StringRef name) -> std::optional<int64_t> {
    auto it = symbols.find(name);
    return it == symbols.end() ? std::nullopt : std::optional<int64_t>(it->second);
  });
  EXPECT_TRUE(value) << dim.str() << " has no value";
  return value.value_or(0);
}

/// Emits reads as `test.read` ops and sizes as constants.
struct ReadingEmitter final : ElementEmitter {
  ReadingEmitter(OpBuilder &b, Location loc, const llvm::StringMap<int64_t> &symbols)
      : ElementEmitter(b, loc), symbols(symbols) {}
  Scalar element(OpOperand &operand, ValueRange indices) override {
    Type type = cast<RankedTensorType>(operand.get().getType()).getElementType();
    OperationState state(s.loc, "test.read", indices, storageType(type));
    state.addAttribute("operand", s.b.getI64IntegerAttr(operand.getOperandNumber()));
    return {s.b.create(state)->getResult(0), type};
  }
  Value size(graph::DimExpr dim) override { return index(valueOf(dim, symbols)); }

  const llvm::StringMap<int64_t> &symbols;
};

/// Runs emitted ops: arithmetic by its folders, scf.if by one side, reads with a check of their indices.
struct Interpreter {
  explicit Interpreter(ArrayRef<const HostTensor *> operands) : operands(operands) {}

  ArrayRef<const HostTensor *> operands;
  DenseMap<Value, Attribute> values;

  bool runBlock(Block &block) {
    for (Operation &op : block)
      if (!runOp(op)) return false;
    return true;
  }
  bool runOp(Operation &op) {
    if (isa<scf::YieldOp>(op)) return true;
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Region &side = cast<IntegerAttr>(values[branch.getCondition()]).getValue().isZero() ? branch.getElseRegion()
                                                                                         : branch.getThenRegion();
      if (!runBlock(side.front())) return false;
      for (auto [result, yielded] : llvm::zip(op.getResults(), side.front().getTerminator()->getOperands()))
        values[result] = values[yielded];
      return true;
    }
    if (op.getName().getStringRef() == "test.read") return read(op);
    if (isa<arith::TruncFOp>(op)) return narrow(op); // Its folder declines what is inexact.
    SmallVector<Attribute> constants;
    for (Value operand : op.getOperands()) constants.push_back(values[operand]);
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(constants, results)) || results.size() != op.getNumResults()) {
      ADD_FAILURE() << "cannot interpret " << op.getName().getStringRef().str();
      return false;
    }
    for (auto [result, value] : llvm::zip(op.getResults(), results))
      values[result] = isa<Attribute>(value) ? cast<Attribute>(value) : values[cast<Value>(value)];
    return true;
  }
  bool narrow(Operation &op) {
    auto type = cast<FloatType>(op.getResult(0).getType());
    APFloat value = cast<FloatAttr>(values[op.getOperand(0)]).getValue();
    bool losesInfo;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    values[op.getResult(0)] = FloatAttr::get(type, value);
    return true;
  }
  bool read(Operation &op) {
    const HostTensor &from = *operands[op.getAttrOfType<IntegerAttr>("operand").getInt()];
    SmallVector<int64_t> index;
    for (auto [d, operand] : llvm::enumerate(op.getOperands())) {
      index.push_back(cast<IntegerAttr>(values[operand]).getInt());
      if (int64_t(d) < from.rank() && index[d] >= 0 && index[d] < from.shape[d]) continue;
      ADD_FAILURE() << "reads index " << index[d] << " of dimension " << d;
      return false;
    }
    if (int64_t(index.size()) != from.rank()) {
      ADD_FAILURE() << "reads with " << index.size() << " indices at rank " << from.rank();
      return false;
    }
    int64_t at = from.linear(index);
    Type type = op.getResult(0).getType();
    if (isa<FloatType>(type))
      values[op.getResult(0)] = FloatAttr::get(type, from.getDouble(at));
    else
      values[op.getResult(0)] =
          IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), from.getInt(at), true, true));
    return true;
  }
};

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

double elementOf(const HostTensor &tensor, int64_t i) {
  return tensor.isFloat() ? tensor.getDouble(i) : double(tensor.getInt(i));
}

} // namespace

OpTest::OpTest() {
  context.loadDialect<graph::GraphDialect, func::FuncDialect, arith::ArithDialect, scf::SCFDialect>();
  context.allowUnregisteredDialects();
}

HostTensor OpTest::tensor(StringRef element, ArrayRef<int64_t> shape, ArrayRef<double> values) {
  HostTensor result(parseType(element, &context), shape);
  EXPECT_EQ(result.size(), int64_t(values.size()));
  for (auto [i, value] : llvm::enumerate(values)) {
    if (result.isFloat())
      result.setDouble(i, value);
    else
      result.setInt(i, int64_t(value));
  }
  return result;
}

OwningOpRef<ModuleOp> OpTest::parse(StringRef text, std::string &error) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (error.empty()) error = diagnostic.str();
    for (Diagnostic &note : diagnostic.getNotes()) error += "\nnote: " + note.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module && error.empty()) error = "did not parse";
  return module;
}

double OpTest::emitted(Operation *op, unsigned result, int64_t number, ArrayRef<const HostTensor *> operands,
                       const HostTensor &shape, const llvm::StringMap<int64_t> &symbols) {
  Block block;
  OpBuilder b(&context);
  b.setInsertionPointToEnd(&block);
  ReadingEmitter emitter(b, op->getLoc(), symbols);
  // Indices are arguments, so that nothing folds while it is emitted.
  Interpreter interpreter(operands);
  SmallVector<Value> indices;
  for (int64_t d = 0; d < shape.rank(); ++d) indices.push_back(block.addArgument(b.getIndexType(), op->getLoc()));
  int64_t rest = number;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    interpreter.values[indices[d]] = b.getIndexAttr(rest % shape.shape[d]);
    rest /= shape.shape[d];
  }
  Scalar scalar = cast<ElementalOpInterface>(op).emitElement(emitter, result, indices);
  EXPECT_EQ(scalar.type, shape.elementType);
  if (!interpreter.runBlock(block)) return std::nan("");
  Attribute value = interpreter.values[scalar.value];
  HostTensor out(shape.elementType, {});
  if (auto number = dyn_cast<FloatAttr>(value)) {
    bool losesInfo;
    APFloat wide = number.getValue();
    wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    out.setDouble(0, wide.convertToDouble());
  } else {
    out.setInt(0, cast<IntegerAttr>(value).getValue().sextOrTrunc(64).getSExtValue());
  }
  return elementOf(out, 0);
}

std::vector<HostTensor> OpTest::evaluate(ModuleOp module, ArrayRef<HostTensor> inputs, EvalEnv &env) {
  auto function = module.lookupSymbol<func::FuncOp>("f");
  DenseMap<Value, HostTensor> values;
  for (auto [argument, input] : llvm::zip(function.getArguments(), inputs)) values[argument] = input;
  std::vector<HostTensor> outputs;
  for (Operation &op : function.getBody().front()) {
    SmallVector<const HostTensor *> operands;
    for (Value operand : op.getOperands()) operands.push_back(&values[operand]);
    if (isa<func::ReturnOp>(op)) {
      for (const HostTensor *operand : operands) outputs.push_back(*operand);
      break;
    }
    SmallVector<HostTensor> results;
    for (Value result : op.getResults()) {
      SmallVector<int64_t> shape;
      for (graph::DimExpr dim : graph::dimsOf(result.getType())) shape.push_back(valueOf(dim, env.symbols));
      results.emplace_back(cast<RankedTensorType>(result.getType()).getElementType(), shape);
    }
    if (failed(cast<EvaluableOpInterface>(op).evaluate(env, operands, results))) return {};
    if (checkEmission && isa<ElementalOpInterface>(op))
      for (auto [r, result] : llvm::enumerate(results))
        for (int64_t i = 0; i < result.size(); ++i) {
          double got = emitted(&op, r, i, operands, result, env.symbols);
          EXPECT_TRUE(same(got, elementOf(result, i)))
              << op.getName().getStringRef().str() << " emits " << got << " for element " << i << ", evaluation gives "
              << elementOf(result, i);
        }
    for (auto [result, tensor] : llvm::zip(op.getResults(), results)) values[result] = tensor;
  }
  return outputs;
}

std::vector<HostTensor> OpTest::run(StringRef text, ArrayRef<HostTensor> inputs, llvm::StringMap<int64_t> symbols) {
  std::string error;
  auto module = parse(text, error);
  EXPECT_EQ(error, "");
  if (!module) return {};
  EvalEnv env;
  env.symbols = std::move(symbols);
  auto results = evaluate(*module, inputs, env);
  EXPECT_EQ(env.message, "");
  return results;
}

std::string OpTest::errorOf(StringRef text, ArrayRef<HostTensor> inputs, llvm::StringMap<int64_t> symbols) {
  std::string error;
  auto module = parse(text, error);
  if (!module) return error;
  EvalEnv env;
  env.symbols = std::move(symbols);
  evaluate(*module, inputs, env);
  return env.message;
}

std::string OpTest::folded(StringRef text) {
  std::string error;
  auto module = parse(text, error);
  EXPECT_EQ(error, "");
  if (!module) return "";
  EXPECT_TRUE(succeeded(applyPatternsGreedily(*module, RewritePatternSet(&context))));
  EXPECT_TRUE(succeeded(verify(*module)));
  std::string out;
  llvm::raw_string_ostream os(out);
  module->print(os);
  return out;
}

void OpTest::expectTensor(const HostTensor &got, ArrayRef<int64_t> shape, ArrayRef<double> values) {
  ASSERT_EQ(std::vector<int64_t>(got.shape.begin(), got.shape.end()), shape.vec());
  ASSERT_EQ(got.size(), int64_t(values.size()));
  for (auto [i, value] : llvm::enumerate(values))
    EXPECT_TRUE(same(elementOf(got, i), value)) << "element " << i << " is " << elementOf(got, i) << ", not " << value;
}

} // namespace stator::test
