// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fixture for tests of graph ops: programs as text, tensors as lists of numbers.
#ifndef STATOR_TESTS_UNIT_GRAPH_GRAPHTEST_H
#define STATOR_TESTS_UNIT_GRAPH_GRAPHTEST_H

#include "dialects/graph/Evaluator.h"
#include "dialects/graph/Graph.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <gtest/gtest.h>

namespace stator::graph {

class GraphTest : public ::testing::Test {
protected:
  GraphTest() {
    context.loadDialect<GraphDialect, mlir::func::FuncDialect>();
    context.printOpOnDiagnostic(false);
  }

  /// Parses and verifies a module; the first function of it. Fails the test where there is an error.
  mlir::func::FuncOp parse(const std::string &text) {
    mlir::ScopedDiagnosticHandler handler(&context, [](mlir::Diagnostic &d) { ADD_FAILURE() << d.str(); });
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context, "test.mlir");
    if (!module) {
      ADD_FAILURE() << "does not parse: " << text;
      return {};
    }
    return *module->getOps<mlir::func::FuncOp>().begin();
  }
  /// All diagnostics of text that must not parse and verify, notes included, one a line.
  std::string parseError(const std::string &text) {
    std::string messages;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
      messages += d.str() + "\n";
      for (mlir::Diagnostic &note : d.getNotes()) messages += note.str() + "\n";
    });
    auto parsed = mlir::parseSourceString<mlir::ModuleOp>(text, &context, "test.mlir");
    EXPECT_FALSE(parsed) << "parses, but must not: " << text;
    return messages;
  }

  mlir::Type type(llvm::StringRef name) { return mlir::parseType(name, &context); }
  HostTensor tensor(llvm::StringRef elementType, llvm::ArrayRef<int64_t> shape, const std::vector<double> &values) {
    HostTensor result(type(elementType), shape);
    EXPECT_EQ(result.size(), int64_t(values.size()));
    for (size_t i = 0; i < values.size(); ++i) {
      if (result.isFloat())
        result.setDouble(i, values[i]);
      else
        result.setInt(i, int64_t(values[i]));
    }
    return result;
  }
  HostTensor f32(llvm::ArrayRef<int64_t> shape, const std::vector<double> &values) {
    return tensor("f32", shape, values);
  }
  HostTensor i64(llvm::ArrayRef<int64_t> shape, const std::vector<double> &values) {
    return tensor("i64", shape, values);
  }

  /// Evaluates the first function of the text.
  std::vector<HostTensor> run(const std::string &text, llvm::ArrayRef<HostTensor> inputs) {
    mlir::func::FuncOp function = parse(text);
    if (!function) return {};
    Evaluator evaluator(function);
    auto results = evaluator.run(inputs);
    if (failed(results)) {
      ADD_FAILURE() << evaluator.error().str();
      return {};
    }
    return {results->begin(), results->end()};
  }
  /// `op` as the body of a function of one result: "%r = graph.sum %x ...", with "%x: tensor<...>" arguments.
  HostTensor runOp(const std::string &arguments, const std::string &op, const std::string &resultType,
                   llvm::ArrayRef<HostTensor> inputs) {
    auto results =
        run("func.func @f(" + arguments + ") -> " + resultType + " { %r = " + op + " return %r : " + resultType + " }",
            inputs);
    return results.empty() ? HostTensor() : results[0];
  }
  std::string evaluationError(const std::string &text, llvm::ArrayRef<HostTensor> inputs) {
    mlir::func::FuncOp function = parse(text);
    if (!function) return "";
    Evaluator evaluator(function);
    EXPECT_TRUE(failed(evaluator.run(inputs)));
    return evaluator.error().str();
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

inline std::vector<double> numbers(const HostTensor &tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.size(); ++i) values.push_back(tensor.getDouble(i));
  return values;
}
inline std::vector<int64_t> shape(const HostTensor &tensor) { return {tensor.shape.begin(), tensor.shape.end()}; }

/// 0, 1, 2, ... below n.
inline std::vector<double> counting(int64_t n) {
  std::vector<double> values(n);
  for (int64_t i = 0; i < n; ++i) values[i] = double(i);
  return values;
}

inline constexpr double inf = INFINITY;
inline constexpr double quietNaN = NAN;

} // namespace stator::graph

#endif // STATOR_TESTS_UNIT_GRAPH_GRAPHTEST_H
