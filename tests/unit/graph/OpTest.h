// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates small graphs written as text, and checks on the way that what each op emits for an element is what its
// evaluation gives: the emitted arithmetic is interpreted, and a read outside a tensor fails the test.
#ifndef STATOR_TESTS_UNIT_GRAPH_OPTEST_H
#define STATOR_TESTS_UNIT_GRAPH_OPTEST_H

#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"
#include <vector>

namespace stator::test {

class OpTest : public testing::Test {
protected:
  OpTest();

  /// A tensor of element type `element` ("f32", "i64", "i1", ...) with these elements in row-major order.
  HostTensor tensor(llvm::StringRef element, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values);

  /// The results of function @f of the module `text` for these arguments. A diagnostic, an evaluation error or a
  /// difference between evaluation and emission is a failure of the test.
  std::vector<HostTensor> run(llvm::StringRef text, llvm::ArrayRef<HostTensor> inputs,
                              llvm::StringMap<int64_t> symbols = {});
  /// The first error: of parsing and verification, else of evaluation; empty where all is well.
  std::string errorOf(llvm::StringRef text, llvm::ArrayRef<HostTensor> inputs = {},
                      llvm::StringMap<int64_t> symbols = {});
  /// The module as text after the ops' folders ran once over it, without types that the reader does not need.
  std::string folded(llvm::StringRef text);

  /// Shape and elements, as doubles: `expectTensor(t, {2}, {1, 2})`. NaN equals NaN and -0 differs from 0.
  static void expectTensor(const HostTensor &got, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values);

  mlir::MLIRContext context;
  /// Emission clamps where evaluation refuses; tests of that compare emission alone.
  bool checkEmission = true;

  /// Element `number` of result `result` of `op`, by interpreting what it emits.
  double emitted(mlir::Operation *op, unsigned result, int64_t number, llvm::ArrayRef<const HostTensor *> operands,
                 const HostTensor &shape, const llvm::StringMap<int64_t> &symbols);
  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text, std::string &error);

private:
  std::vector<HostTensor> evaluate(mlir::ModuleOp module, llvm::ArrayRef<HostTensor> inputs, EvalEnv &env);
};

} // namespace stator::test

#endif // STATOR_TESTS_UNIT_GRAPH_OPTEST_H
