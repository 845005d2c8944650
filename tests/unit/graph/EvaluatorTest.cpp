// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/graph/GraphTest.h"

using namespace stator;
using namespace stator::graph;

namespace {

class EvaluatorTest : public GraphTest {
protected:
  void expectError(const std::string &text, llvm::ArrayRef<HostTensor> inputs, const std::string &part) {
    std::string message = evaluationError(text, inputs);
    EXPECT_NE(message.find(part), std::string::npos) << "got: " << message << "\nwanted: " << part;
  }
};

constexpr const char *twoInputs = R"(
func.func @f(%a: tensor<?x?xf32, #graph.shape<s0, 2 * s1 + 1>> {graph.name = "left"}, %b: tensor<?xf32, #graph.shape<s0>>)
    -> tensor<?xf32, #graph.shape<s0>> attributes {graph.symbols = [#graph.symbol<"s0", 1, 4>, #graph.symbol<"s1", 0, 8>]} {
  %r = graph.sum %a dims = [1] : tensor<?x?xf32, #graph.shape<s0, 2 * s1 + 1>>
  %t = graph.add %r, %b : tensor<?xf32, #graph.shape<s0>>
  return %t : tensor<?xf32, #graph.shape<s0>>
})";

TEST_F(EvaluatorTest, SymbolsComeFromTheInputs) {
  auto results = run(twoInputs, {f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({2}, {10, 20})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(numbers(results[0]), (std::vector<double>{16, 35}));
}

TEST_F(EvaluatorTest, InputsThatContradictTheTypesAreRefused) {
  expectError(twoInputs, {f32({2, 3}, counting(6)), f32({3}, counting(3))},
              "dimension 0 of argument 1 is 3, but s0 is 2 (s0 is dimension 0 of argument 0 'left')");
  expectError(twoInputs, {f32({5, 3}, counting(15)), f32({5}, counting(5))},
              "dimension 0 of argument 0 'left' is 5, which puts s0 = 5 outside its bounds [1, 4]");
  expectError(twoInputs, {f32({2, 4}, counting(8)), f32({2}, counting(2))},
              "dimension 1 of argument 0 'left' is 4, from which 2 * s1 + 1 cannot be solved");
  expectError(twoInputs, {f32({2, 19}, counting(38)), f32({2}, counting(2))}, "puts s1 = 9 outside its bounds [0, 8]");
  expectError(twoInputs, {f32({2, 3}, counting(6))}, "takes 2 inputs, not 1");
  expectError(twoInputs, {f32({6}, counting(6)), f32({2}, counting(2))}, "argument 0 'left' has rank 1, not 2");
  expectError(twoInputs, {i64({2, 3}, counting(6)), f32({2}, counting(2))},
              "argument 0 'left' has element type i64, not f32");
  expectError("func.func @f(%x: tensor<3xf32>) { return }", {f32({4}, counting(4))},
              "dimension 0 of argument 0 is 4, not 3");
}

TEST_F(EvaluatorTest, ExpressionsOfKnownSymbolsAreChecked) {
  const char *text =
      R"(func.func @f(%a: tensor<?x?xf32, #graph.shape<s0, s1>>, %b: tensor<?xf32, #graph.shape<s0 * s1>>) { return })";
  EXPECT_TRUE(run(text, {f32({2, 3}, counting(6)), f32({6}, counting(6))}).empty());
  expectError(text, {f32({2, 3}, counting(6)), f32({5}, counting(5))},
              "dimension 0 of argument 1 is 5, not s0 * s1 = 6");
  // Several values of s0 would do: none is guessed.
  for (std::string expr : {"mod(s0, 2)", "floordiv(s0, 4)", "max(1, s0)", "s0 * s0"})
    expectError("func.func @f(%a: tensor<?xf32, #graph.shape<" + expr + ">>) { return }", {f32({1}, {1})},
                "dimension 0 of argument 0 is 1, from which " + expr + " cannot be solved");
}

TEST_F(EvaluatorTest, IfTakesOneSide) {
  const char *text = R"(func.func @f(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
    %r = graph.if %c : tensor<i1> -> (tensor<2xf32>) {
      %y = graph.add %x, %x : tensor<2xf32>
      graph.yield %y : tensor<2xf32>
    } else {
      graph.yield %x : tensor<2xf32>
    }
    return %r : tensor<2xf32> })";
  EXPECT_EQ(numbers(run(text, {tensor("i1", {}, {1}), f32({2}, {1, 2})})[0]), (std::vector<double>{2, 4}));
  EXPECT_EQ(numbers(run(text, {tensor("i1", {}, {0}), f32({2}, {1, 2})})[0]), (std::vector<double>{1, 2}));
}

constexpr const char *doubling = R"(func.func @f(%n: tensor<i64>, %x: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
  %one = graph.constant dense<1> : tensor<i64>
  %r:2 = graph.while %n, %x : tensor<i64>, tensor<i64> -> (tensor<i64>, tensor<i64>) {
  ^bb0(%i: tensor<i64>, %v: tensor<i64>):
    %go = graph.ge %i, %one : tensor<i64>
    graph.yield %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %v: tensor<i64>):
    %j = graph.sub %i, %one : tensor<i64>
    %w = graph.add %v, %v : tensor<i64>
    graph.yield %j, %w : tensor<i64>, tensor<i64>
  }
  return %r#0, %r#1 : tensor<i64>, tensor<i64> })";

TEST_F(EvaluatorTest, WhileRunsUntilItsConditionFails) {
  auto results = run(doubling, {i64({}, {10}), i64({}, {3})});
  EXPECT_EQ(results[0].getInt(0), 0);
  EXPECT_EQ(results[1].getInt(0), 3072);
  EXPECT_EQ(run(doubling, {i64({}, {0}), i64({}, {3})})[1].getInt(0), 3);
}

TEST_F(EvaluatorTest, FusionsComputeWhatTheirBodiesDo) {
  auto results = run(R"(func.func @f(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>) {
    %r:2 = graph.fusion "k" "reduce" (%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>) {
    ^bb0(%a: tensor<3xf32>):
      %d = graph.add %a, %a : tensor<3xf32>
      %s = graph.sum %d dims = [0] : tensor<3xf32>
      graph.yield %d, %s : tensor<3xf32>, tensor<f32>
    }
    return %r#0, %r#1 : tensor<3xf32>, tensor<f32> })",
                     {f32({3}, {1, 2, 3})});
  EXPECT_EQ(numbers(results[0]), (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(results[1].getDouble(0), 12);
}

TEST_F(EvaluatorTest, StateIsKeptBetweenRuns) {
  auto function = parse(
      R"(func.func @f(%count: tensor<i64> {graph.state = "count", graph.initial = dense<5> : tensor<i64>}, %x: tensor<i64>)
      -> (tensor<i64> {graph.updates = "count"}, tensor<i64>) {
    %n = graph.add %count, %x : tensor<i64>
    return %n, %count : tensor<i64>, tensor<i64> })");
  Evaluator evaluator(function);
  EXPECT_EQ((*evaluator.run({i64({}, {2})}))[1].getInt(0), 5);
  EXPECT_EQ((*evaluator.run({i64({}, {2})}))[1].getInt(0), 7);
  EXPECT_EQ(evaluator.state["count"].getInt(0), 9);
  evaluator.state["count"] = f32({}, {1});
  EXPECT_TRUE(failed(evaluator.run({i64({}, {2})})));
  EXPECT_NE(evaluator.error().find("argument 0 has element type f32"), llvm::StringRef::npos);
  expectError("func.func @f(%s: tensor<i64> {graph.state = \"lost\"}) { return }", {},
              "state 'lost' has no value: it has no initial value");
}

TEST_F(EvaluatorTest, SymbolsBoundByValuesSizeWhatFollows) {
  const char *text =
      R"(func.func @f(%n: tensor<i64>) -> tensor<?xi64, #graph.shape<u0>> attributes {graph.symbols = [#graph.symbol<"u0", 0, 4>]} {
    graph.bind_symbol "u0", %n : tensor<i64>
    %r = graph.iota dim = 0 start = 1.0 step = 2.0 : tensor<?xi64, #graph.shape<u0>>
    return %r : tensor<?xi64, #graph.shape<u0>> })";
  EXPECT_EQ(numbers(run(text, {i64({}, {3})})[0]), (std::vector<double>{1, 3, 5}));
  expectError(text, {i64({}, {5})}, "test.mlir:2:5: graph.bind_symbol: symbol u0 is 5, outside its bounds [0, 4]");
  expectError(text, {i64({}, {-1})}, "symbol u0 is -1");
  expectError(R"(func.func @f() -> tensor<?xi64, #graph.shape<u0>> {
    %r = graph.iota dim = 0 start = 1.0 step = 2.0 : tensor<?xi64, #graph.shape<u0>>
    return %r : tensor<?xi64, #graph.shape<u0>> })",
              {}, "dimension 0 of result 0, u0, has no value");
}

TEST_F(EvaluatorTest, AssertionsFailWithTheirMessageAndPlace) {
  const char *text =
      "func.func @f(%c: tensor<i1>) {\n  graph.assert %c, \"sizes must be even\" : tensor<i1>\n  return }";
  EXPECT_TRUE(run(text, {tensor("i1", {}, {1})}).empty());
  expectError(text, {tensor("i1", {}, {0})}, "test.mlir:2:3: graph.assert: sizes must be even");
  const char *shapes =
      R"(func.func @f(%a: tensor<?xf32, #graph.shape<s0>>, %b: tensor<?xf32, #graph.shape<s1>>) -> tensor<?xf32, #graph.shape<s1>> {
    %r = graph.assert_shape %a : tensor<?xf32, #graph.shape<s0>> to tensor<?xf32, #graph.shape<s1>>
    return %r : tensor<?xf32, #graph.shape<s1>> })";
  EXPECT_EQ(numbers(run(shapes, {f32({2}, {1, 2}), f32({2}, {3, 4})})[0]), (std::vector<double>{1, 2}));
  expectError(shapes, {f32({2}, {1, 2}), f32({3}, counting(3))}, "graph.assert_shape: dimension 0 is 2, where s1 is 3");
}

TEST_F(EvaluatorTest, ErrorsNameTheProgramsNode) {
  expectError("func.func @f(%c: tensor<i1>) { graph.assert %c, \"no\" : tensor<i1> loc(\"node_7\"(\"model.py\":12:3))  "
              "return }",
              {tensor("i1", {}, {0})}, "'node_7' at model.py:12:3: graph.assert: no");
}

TEST_F(EvaluatorTest, NegativeSizesAreErrors) {
  expectError(R"(func.func @f(%x: tensor<1x1x?xf32, #graph.shape<1, 1, s0>>) {
    %r = graph.avg_pool %x kernel = [9] strides = [1] padding = [0] : tensor<1x1x?xf32, #graph.shape<1, 1, s0>>
    return })",
              {f32({1, 1, 2}, {1, 2})}, "dimension 2 of result 0, s0 + -8, is -6");
}

TEST_F(EvaluatorTest, OpsWithoutValueAreErrors) {
  expectError("func.func @f(%x: tensor<2xf32>) { graph.write %x, %x : tensor<2xf32> return }", {f32({2}, {1, 2})},
              "graph.write cannot be evaluated");
}

TEST_F(EvaluatorTest, ObserverSeesEveryOpInOrder) {
  auto function = parse(doubling);
  Evaluator evaluator(function);
  std::vector<std::string> seen;
  evaluator.onResults = [&](mlir::Operation *op, llvm::ArrayRef<HostTensor> results) {
    seen.push_back(op->getName().getStringRef().str() + " " + std::to_string(results[0].getInt(0)));
  };
  ASSERT_TRUE(succeeded(evaluator.run({i64({}, {1}), i64({}, {4})})));
  EXPECT_EQ(seen, (std::vector<std::string>{"graph.constant 1", "graph.ge 1", "graph.sub 0", "graph.add 8",
                                            "graph.ge 0", "graph.while 0"}));
}

// A chain of ops needs two tensors at a time, however long it is, and no stack.
TEST_F(EvaluatorTest, DeadValuesAreDropped) {
  std::string text = "func.func @f(%x0: tensor<1000xf32>) -> tensor<1000xf32> {\n";
  int length = 5000;
  for (int i = 0; i < length; ++i)
    text += "%x" + std::to_string(i + 1) + " = graph.neg %x" + std::to_string(i) + " : tensor<1000xf32>\n";
  text += "return %x" + std::to_string(length) + " : tensor<1000xf32> }";
  auto function = parse(text);
  Evaluator evaluator(function);
  auto results = evaluator.run({f32({1000}, counting(1000))});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ(numbers((*results)[0]), counting(1000));
  EXPECT_EQ(evaluator.peakBytes(), 2 * 4000u);
}

TEST_F(EvaluatorTest, OneValueReturnedTwiceAndInputsReturned) {
  auto results = run("func.func @f(%x: tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) { %y = "
                     "graph.neg %x : tensor<1xf32> "
                     "return %y, %x, %y : tensor<1xf32>, tensor<1xf32>, tensor<1xf32> }",
                     {f32({1}, {3})});
  EXPECT_EQ(results[0].getDouble(0), -3);
  EXPECT_EQ(results[1].getDouble(0), 3);
  EXPECT_EQ(results[2].getDouble(0), -3);
}

// The softmax and layer-norm formulas as import decomposes them.
TEST_F(EvaluatorTest, SoftmaxOfSpecialRows) {
  auto softmax =
      [&](const std::vector<double> &row) {
        std::string n = std::to_string(row.size()), type = "tensor<1x" + n + "xf32>";
        return numbers(run("func.func @f(%x: " + type + ") -> " + type + R"( {
      %m = graph.reduce_max %x dims = [1] : )" +
                               type + R"(
      %mr = graph.reshape %m : tensor<1xf32> to tensor<1x1xf32>
      %mb = graph.broadcast %mr : tensor<1x1xf32> to )" +
                               type + R"(
      %d = graph.sub %x, %mb : )" +
                               type + R"(
      %e = graph.exp %d : )" + type +
                               R"(
      %s = graph.sum %e dims = [1] : )" +
                               type + R"(
      %sr = graph.reshape %s : tensor<1xf32> to tensor<1x1xf32>
      %sb = graph.broadcast %sr : tensor<1x1xf32> to )" +
                               type + R"(
      %q = graph.div %e, %sb : )" +
                               type + R"(
      return %q : )" + type + " }",
                           {f32({1, int64_t(row.size())}, row)})[0]);
      };
  EXPECT_EQ(softmax({-inf, 0}), (std::vector<double>{0, 1}));
  EXPECT_EQ(softmax({88, 89, 1000}), (std::vector<double>{0, 0, 1}));
  for (auto row : {std::vector<double>{-inf, -inf}, {inf, 0}, {quietNaN, 1}})
    for (double value : softmax(row)) EXPECT_TRUE(std::isnan(value));
  EXPECT_TRUE(softmax({}).empty());
}

TEST_F(EvaluatorTest, CentredConstantRowIsExactlyZero) {
  auto results = run(R"(func.func @f(%x: tensor<1x4xf32>, %n: tensor<1xf32>) -> (tensor<1x4xf32>, tensor<1xf32>) {
    %s = graph.sum %x dims = [1] : tensor<1x4xf32>
    %m = graph.div %s, %n : tensor<1xf32>
    %mr = graph.reshape %m : tensor<1xf32> to tensor<1x1xf32>
    %mb = graph.broadcast %mr : tensor<1x1xf32> to tensor<1x4xf32>
    %d = graph.sub %x, %mb : tensor<1x4xf32>
    %q = graph.mul %d, %d : tensor<1x4xf32>
    %v = graph.sum %q dims = [1] : tensor<1x4xf32>
    return %d, %v : tensor<1x4xf32>, tensor<1xf32> })",
                     {f32({1, 4}, {30000, 30000, 30000, 30000}), f32({1}, {4})});
  EXPECT_EQ(numbers(results[0]), std::vector<double>(4, 0));
  EXPECT_EQ(results[1].getDouble(0), 0);
}

TEST_F(EvaluatorTest, ConstantsAreViewed) {
  auto function = parse(R"(func.func @f() -> (tensor<3xf32>, tensor<4xi1>, tensor<2xf32>, tensor<2xi64>) {
    %w = graph.constant dense_resource<w> : tensor<3xf32>
    %b = graph.constant dense<[true, false, false, true]> : tensor<4xi1>
    %s = graph.constant dense<1.5> : tensor<2xf32>
    %l = graph.constant dense<[7, -8]> : tensor<2xi64>
    return %w, %b, %s, %l : tensor<3xf32>, tensor<4xi1>, tensor<2xf32>, tensor<2xi64>
  }
  {-# dialect_resources: { builtin: { w: "0x040000000000803F0000004000004040" } } #-})");
  Evaluator evaluator(function);
  auto results = evaluator.run({});
  ASSERT_TRUE(succeeded(results)) << evaluator.error().str();
  EXPECT_EQ(numbers((*results)[0]), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(numbers((*results)[1]), (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(numbers((*results)[2]), (std::vector<double>{1.5, 1.5}));
  EXPECT_EQ(numbers((*results)[3]), (std::vector<double>{7, -8}));
  // The weight's bytes are where the resource keeps them.
  auto again = evaluator.run({});
  EXPECT_EQ((*results)[0].data(), (*again)[0].data());
}

TEST_F(EvaluatorTest, MalformedControlFlowIsRefused) {
  auto contains = [&](const std::string &body, const std::string &part) {
    std::string message =
        parseError("func.func @f(%c: tensor<i1>, %v: tensor<2xi1>, %x: tensor<2xf32>) { " + body + " return }");
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  contains("%r = graph.if %v : tensor<2xi1> -> (tensor<2xf32>) { graph.yield %x : tensor<2xf32> } else { graph.yield "
           "%x : tensor<2xf32> }",
           "needs a 0-d condition");
  contains("%r = graph.if %c : tensor<i1> -> (tensor<2xf32>) { graph.yield %c : tensor<i1> } else { graph.yield %x : "
           "tensor<2xf32> }",
           "values of its then region of the types of its results");
  contains("%r = graph.if %c : tensor<i1> -> (tensor<2xf32>) { graph.yield %x : tensor<2xf32> } else { graph.yield }",
           "has 0 values of its else region for 1 results");
  contains("%r = graph.while %x : tensor<2xf32> -> (tensor<2xf32>) { ^bb0(%a: tensor<2xf32>): graph.yield %v : "
           "tensor<2xi1> } do "
           "{ ^bb0(%a: tensor<2xf32>): graph.yield %a : tensor<2xf32> }",
           "values of its condition");
  contains(
      "%r = graph.while %x : tensor<2xf32> -> (tensor<2xf32>) { ^bb0(%a: tensor<i1>): graph.yield %a : tensor<i1> } do "
      "{ ^bb0(%a: tensor<2xf32>): graph.yield %a : tensor<2xf32> }",
      "condition arguments of the types of its initial values");
  contains("%r = graph.fusion \"\" \"loop\" (%x) : (tensor<2xf32>) -> (tensor<2xf32>) { ^bb0(%a: tensor<2xf32>): "
           "graph.yield %a : tensor<2xf32> }",
           "needs a name");
  contains("%r = graph.fusion \"k\" \"loop\" (%x) : (tensor<2xf32>) -> (tensor<2xf32>) { ^bb0(%a: tensor<3xf32>): "
           "graph.yield %a : tensor<3xf32> }",
           "block arguments");
  contains("graph.bind_symbol \"2 * s0\", %c : tensor<i1>", "needs an i64 value");
  contains("graph.assert %v, \"\" : tensor<2xi1>", "needs a 0-d condition");
  contains("%r = graph.assert_shape %x : tensor<2xf32> to tensor<3xf32>", "can never hold: dimension 0 is 2, not 3");
}

} // namespace
