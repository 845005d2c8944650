// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/SymbolicExpr.h"
#include "dialects/graph/Graph.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace stator;

namespace {

struct SymbolicExpr : testing::Test {
  SymbolicExpr() : context(MLIRContext::Threading::DISABLED) { context.loadDialect<graph::GraphDialect>(); }
  std::string text(const std::string &source) {
    std::string error;
    graph::DimExpr expr = torch_export::parseSymbolic(&context, source, error);
    return expr ? expr.str() : "error: " + error;
  }
  MLIRContext context;
};

TEST_F(SymbolicExpr, SympyRepr) {
  EXPECT_EQ(text("Symbol('s77', positive=True, integer=True)"), "s77");
  EXPECT_EQ(text("Integer(5)"), "5");
  EXPECT_EQ(text("Mul(Integer(2), Symbol('s0', positive=True, integer=True))"), "2 * s0");
  EXPECT_EQ(text("Add(Symbol('s1', integer=True), Integer(-3), Symbol('s0', integer=True))"), "s0 + s1 + -3");
  EXPECT_EQ(text("Pow(Symbol('s0'), Integer(2))"), "s0 * s0");
  EXPECT_EQ(text("Add(Integer(1), FloorDiv(Add(Symbol('s0'), Integer(-1)), Integer(2)))"), "floordiv(s0 + -1, 2) + 1");
  EXPECT_EQ(text("Max(Integer(0), Add(Integer(-5), Symbol('u0', integer=True)))"), "max(0, u0 + -5)");
  EXPECT_EQ(text("Mod(Symbol('s0'), Integer(4))"), "mod(s0, 4)");
  EXPECT_EQ(text("ModularIndexing(Symbol('s0'), Integer(2), Integer(3))"), "mod(floordiv(s0, 2), 3)");
  EXPECT_EQ(text("TruncToInt(IntTrueDiv(Symbol('s0'), Integer(2)))"), "floordiv(s0, 2)");
  EXPECT_EQ(text("Mul(Rational(1, 2), Symbol('s0'))"), "floordiv(s0, 2)");
  EXPECT_EQ(text("Mul(Rational(1, 2), Mul(Integer(4), Symbol('s0')))"), "2 * s0");
}

TEST_F(SymbolicExpr, Infix) {
  EXPECT_EQ(text("s0"), "s0");
  EXPECT_EQ(text("2*s0 + 1"), "2 * s0 + 1");
  EXPECT_EQ(text("(s0 - 1)//2 + 1"), "floordiv(s0 + -1, 2) + 1");
  EXPECT_EQ(text("s0**2*s1"), "s0 * s0 * s1");
  EXPECT_EQ(text("-s0 + 4"), "-1 * s0 + 4");
  EXPECT_EQ(text("Max(1, s0 % 3)"), text("Max(Integer(1), Mod(Symbol('s0'), Integer(3)))"));
}

TEST_F(SymbolicExpr, Refuses) {
  for (std::string bad : {"", "s0 +", "Foo(s0)", "Integer(99999999999999999999)", "Symbol('a b')", "Symbol('x\"\n')",
                          "s0 s1", "FloorDiv(s0, 0)", "Pow(s0, s1)", "Pow(s0, Integer(1000000))", "Eq(s0, 1)",
                          "Mul(Integer(4611686018427387904), Integer(4))", "Add()", "((s0)", "1/0", "s0.x"})
    EXPECT_EQ(text(bad).rfind("error: ", 0), 0u) << bad << " -> " << text(bad);
  EXPECT_EQ(text(std::string(100000, '(')).rfind("error: ", 0), 0u);
  std::string nested;
  for (int i = 0; i < 100000; ++i) nested += "Add(";
  EXPECT_EQ(text(nested).rfind("error: ", 0), 0u);
  EXPECT_EQ(text(std::string(100000, '-') + "1").rfind("error: ", 0), 0u);
}

TEST_F(SymbolicExpr, SaysWhy) {
  auto holds = [&](const std::string &source, const std::string &part) {
    EXPECT_NE(text(source).find(part), std::string::npos) << source << " -> " << text(source);
  };
  holds("Integer(99999999999999999999)", "the number 99999999999999999999 does not fit 64 bits");
  holds("Symbol(s0)", "expected the symbol's name");
  holds("Add()", "'Add' without arguments");
  holds("floor(s0, 2)", "'floor' takes one argument");
  holds("Foo(s0)", "the function 'Foo' of 1 arguments cannot be a size");
  holds("Mod(s0, Integer(0))", "division by zero, or the size leaves 64 bits");
}

} // namespace
