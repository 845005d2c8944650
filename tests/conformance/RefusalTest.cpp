// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that have no value for some inputs: the evaluator and compiled code both say so.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/conformance/Harness.h"
#include <gtest/gtest.h>

using namespace stator::conformance;

TEST(Refusal, ByEvaluatorAndRuntime) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<stator::graph::GraphDialect, mlir::func::FuncDialect>();
  struct {
    Form form;
    const char *op, *evaluator, *runtime;
  } rows[] = {
      {{"x[n] -> [3], [3]:i64", "%r:2 = graph.topk %x k = 3 dim = 0 : $x", {{2}}},
       "topk",
       "topk",
       "topk takes 3 elements of a dimension of size n"},
      {{"x[n], c[]:i1{0..0} -> [n]", "graph.assert %c, \"must hold\" : $c\n%r = graph.neg %x : $x", {{4}}},
       "assert",
       "must hold",
       "must hold"},
      {{"x[n], y[m] -> [m]", "%r = graph.assert_shape %x : $x to $0", {{4, 5}}},
       "assert_shape",
       "dimension 0",
       "dimension 0 is n and must equal m"},
      {{"x[9], k[]:i64{-1..-1} -> [u]",
        "graph.bind_symbol \"u\", %k : $k\n%r = graph.slice %x starts <0> steps [1] : $x to $0"},
       "bind_symbol",
       "u",
       "u"},
  };
  for (Route route : {Route::Host, Route::HostBare, Route::Cuda}) {
    std::vector<Case> cases;
    for (auto &row : rows) {
      Case c = makeCase(context, {row.op, {"f32"}, exact, {}}, row.form, "f32", std::string("refused_") + row.op);
      // The bounds that a case's sizes give would exclude what is refused here.
      for (size_t at; (at = c.text.find(", 2, 100000>")) != std::string::npos;) c.text.replace(at, 4, ", 0,");
      c.refusal = row.evaluator, c.runtimeRefusal = row.runtime;
      cases.push_back(c);
    }
    EXPECT_EQ(runCases(context, cases, route).functions, std::size(rows));
  }
}
