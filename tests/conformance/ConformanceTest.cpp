// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every row of the table with every element type, form and size: compiled code against the evaluator.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "tests/conformance/Harness.h"
#include <gtest/gtest.h>

using namespace stator::conformance;

namespace {
class Conformance : public ::testing::Test {
protected:
  Conformance() {
    context.loadDialect<stator::graph::GraphDialect, mlir::func::FuncDialect>();
    context.disableMultithreading();
  }

  /// Runs every `stride`-th case of the rows, of one element type if one is given.
  void run(const std::vector<Row> &rows, Route route, const std::string &only = "", size_t stride = 1) {
    std::vector<Case> part;
    Tally total;
    auto flush = [&] {
      if (part.empty()) return;
      Tally tally = runCases(context, part, route);
      total.functions += tally.functions, total.runs += tally.runs, total.elements += tally.elements;
      part.clear();
    };
    size_t count = 0;
    for (auto [number, row] : llvm::enumerate(rows))
      for (const std::string &element : row.elements)
        for (auto [i, form] : llvm::enumerate(row.forms)) {
          if ((!only.empty() && element != only) || count++ % stride) continue;
          part.push_back(makeCase(context, row, form, element,
                                  row.op + "_" + element + "_" + std::to_string(i) + "_" + std::to_string(number)));
          // One artifact for some functions: linking has a price, and so has holding them.
          if (part.size() == 100) flush();
        }
    flush();
    std::printf("%zu functions, %zu runs, %zu elements\n", total.functions, total.runs, total.elements);
    EXPECT_GT(total.functions, 0u);
  }

  mlir::MLIRContext context;
};
} // namespace

class ElementwiseOf : public Conformance, public ::testing::WithParamInterface<std::string> {};
TEST_P(ElementwiseOf, Host) { run(elementwiseRows(), Route::Host, GetParam()); }
INSTANTIATE_TEST_SUITE_P(Conformance, ElementwiseOf, ::testing::ValuesIn(allTypes),
                         [](auto &info) { return info.param; });

// What is printed reads back as what it was.
TEST_F(Conformance, ElementwiseTextRoundTrips) {
  auto print = [](mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  };
  for (const Row &row : elementwiseRows()) {
    Case c = makeCase(context, row, row.forms.front(), row.elements.front(), row.op);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(c.text, &context);
    ASSERT_TRUE(module) << c.text;
    std::string text = print(*module);
    EXPECT_NE(text.find("graph." + row.op + " "), std::string::npos) << text;
    auto again = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(print(*again), text);
  }
}

TEST_F(Conformance, Reduce) { run(reduceRows(), Route::Host); }
TEST_F(Conformance, Shape) { run(shapeRows(), Route::Host); }
TEST_F(Conformance, Gather) { run(gatherRows(), Route::Host); }
TEST_F(Conformance, Scan) { run(scanRows(), Route::Host); }
TEST_F(Conformance, Window) { run(windowRows(), Route::Host); }
TEST_F(Conformance, Control) { run(controlRows(), Route::Host); }

// A part of everything as PTX on the simulated device: strides that meet all forms and types of a family in turn.
TEST_F(Conformance, OnTheSimulatedDevice) {
  run(elementwiseRows(), Route::Cuda, "", 7);
  run(reduceRows(), Route::Cuda, "", 2);
  run(shapeRows(), Route::Cuda, "", 5);
  run(gatherRows(), Route::Cuda, "", 3);
  run(scanRows(), Route::Cuda, "", 2);
  run(windowRows(), Route::Cuda, "", 3);
  run(controlRows(), Route::Cuda);
}
