// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/HostElements.h"
#include "tests/unit/graph/GraphTest.h"

using namespace stator;
using namespace stator::graph;

namespace {

class FoldTest : public GraphTest {
protected:
  /// Folds the first op of the function with these operands; literals of the results.
  std::optional<llvm::SmallVector<mlir::DenseElementsAttr>>
  fold(const std::string &text, llvm::ArrayRef<mlir::Attribute> operands, int64_t limit = 100) {
    mlir::Operation *op = &parse(text).getBody().front().front();
    llvm::SmallVector<HostTensor> tensors;
    std::string error;
    for (mlir::Attribute operand : operands)
      tensors.push_back(*hostTensorOf(mlir::cast<mlir::ElementsAttr>(operand), error));
    auto values = foldByEvaluation(op, tensors, limit);
    if (!values) return std::nullopt;
    llvm::SmallVector<mlir::DenseElementsAttr> literals;
    for (auto [value, type] : llvm::zip_equal(*values, op->getResultTypes()))
      literals.push_back(elementsOf(value, mlir::cast<mlir::RankedTensorType>(type)));
    return literals;
  }
  mlir::Attribute attribute(llvm::StringRef text) { return mlir::parseAttribute(text, &context); }
};

constexpr const char *product = "func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) { %r = graph.matmul %a, %b : "
                                "tensor<2x2xf32>, tensor<2x2xf32> return }";

TEST_F(FoldTest, ConstantOperandsGiveALiteral) {
  mlir::Attribute a = attribute("dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>"),
                  one = attribute("dense<1.0> : tensor<2x2xf32>");
  auto folded = fold(product, {a, one});
  ASSERT_TRUE(folded);
  EXPECT_EQ((*folded)[0], attribute("dense<[[3.0, 3.0], [7.0, 7.0]]> : tensor<2x2xf32>"));
  // Equal elements make a splat.
  folded = fold(product, {one, one});
  ASSERT_TRUE(folded);
  EXPECT_TRUE((*folded)[0].isSplat());
  EXPECT_EQ((*folded)[0], attribute("dense<2.0> : tensor<2x2xf32>"));
}

TEST_F(FoldTest, BoolsAndEmptyTensorsSurvive) {
  const char *any = "func.func @f(%x: tensor<3x2xi1>) { %r = graph.any %x dims = [1] : tensor<3x2xi1> return }";
  auto folded = fold(any, {attribute("dense<[[true, false], [false, false], [true, true]]> : tensor<3x2xi1>")});
  ASSERT_TRUE(folded);
  EXPECT_EQ((*folded)[0], attribute("dense<[true, false, true]> : tensor<3xi1>"));
  folded = fold(any, {attribute("dense<true> : tensor<3x2xi1>")});
  ASSERT_TRUE(folded);
  EXPECT_EQ((*folded)[0], attribute("dense<true> : tensor<3xi1>"));
  folded = fold("func.func @f(%x: tensor<0x2xf32>) { %r = graph.sum %x dims = [1] : tensor<0x2xf32> return }",
                {attribute("dense<> : tensor<0x2xf32>")});
  ASSERT_TRUE(folded);
  EXPECT_EQ((*folded)[0].getType(), type("tensor<0xf32>"));
  EXPECT_EQ((*folded)[0].getNumElements(), 0);
}

TEST_F(FoldTest, DeclinesWhatItCannotOrShouldNotFold) {
  mlir::Attribute one = attribute("dense<1.0> : tensor<2x2xf32>");
  EXPECT_FALSE(fold(product, {one, one}, 3));
  EXPECT_TRUE(fold(product, {one, one}, 4));
  EXPECT_FALSE(fold("func.func @f(%x: tensor<?xf32, #graph.shape<s0>>) { %r = graph.neg %x : tensor<?xf32, "
                    "#graph.shape<s0>> return }",
                    {one}));
  EXPECT_FALSE(fold("func.func @f(%c: tensor<i1>) { graph.assert %c, \"\" : tensor<i1> return }",
                    {attribute("dense<true> : tensor<i1>")}));
}

TEST_F(FoldTest, ResourcesOfTheWrongSizeAreErrors) {
  parse(R"(module attributes {graph.w = dense_resource<w> : tensor<3xf32>} { func.func @f() { return } }
    {-# dialect_resources: { builtin: { w: "0x040000000000803F00000040" } } #-})");
  auto value = module->getOperation()->getAttrOfType<mlir::ElementsAttr>("graph.w");
  ASSERT_TRUE(value);
  std::string error;
  EXPECT_TRUE(failed(hostTensorOf(value, error)));
  EXPECT_EQ(error, "resource 'w' has 8 bytes where its type needs 12");
}

} // namespace
