// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that the importer refuses: each gives one diagnostic, which names the operator and says what is wrong.
#include "tests/unit/frontend/HandmadeArchive.h"
#include <gtest/gtest.h>

namespace stator::tests {
namespace {

struct Row {
  const char *target, *arguments, *text;
  const char *results = "?";
};

void expectRefusals(const std::string &library, std::initializer_list<Row> rows) {
  for (const Row &row : rows) {
    std::string name = library + "." + row.target;
    Outcome outcome = importCall("torch.ops." + name, row.arguments, row.results);
    EXPECT_FALSE(outcome.imported) << name << " " << row.arguments;
    std::string wanted = name + ": ";
    EXPECT_EQ(outcome.errors.substr(0, wanted.size()), wanted) << name << " " << row.arguments;
    EXPECT_NE(outcome.errors.find(row.text, wanted.size()), std::string::npos)
        << name << " " << row.arguments << "\nwanted " << row.text << "\ngot    " << outcome.errors;
    EXPECT_EQ(outcome.errors.find('\n'), outcome.errors.size() - 1) << outcome.errors;
  }
}

TEST(Refusal, NotationOfACallThatImports) {
  for (const Row &row : std::initializer_list<Row>{{"add.Tensor", "f32[2,3] f32[3] alpha=2", "", "f32[2,3]"},
                                                   {"cat.default", "{f32[2] f32[3]} 0", "", "f32[5]"},
                                                   {"unbind.int", "f32[2,3] 0", "", "{f32[3] f32[3]}"},
                                                   {"sum.dim_IntList", "i32[2,3] [0] dtype=:f64", "", "f64[3]"}}) {
    Outcome outcome = importCall(std::string("torch.ops.aten.") + row.target, row.arguments, row.results);
    EXPECT_TRUE(outcome.imported) << row.target << " " << outcome.errors;
  }
}

TEST(Refusal, Arguments) {
  expectRefusals(
      "aten", {{"flatten.using_ints", "f32[2,3] 1.5", "argument 'start_dim' is a float where an integer is expected"},
               {"linspace.default", "u0 1 3", "argument 'start' must be known when compiling"},
               {"permute.default", "f32[2,3] dims=u0", "argument 'dims' must be known when compiling"},
               {"avg_pool2d.default", "f32[1,1,4,4] [1,2,3]", "argument 'kernel_size' has 3 numbers where 2"},
               {"relu.default", "f32[2]", "it has more results than the operator gives", "? ?"},
               {"relu.default", "f32[2]", "a negative size", "f32[-2]"}});
}

TEST(Refusal, ActivationsAndArithmetic) {
  expectRefusals("aten", {{"softmax.int", "i64[2] 0", "softmax of integers without a dtype"},
                          {"gelu.default", "f32[2] approximate='fancy'", "unknown approximation 'fancy'"},
                          {"celu.default", "f32[2] 0.0", "celu with an alpha of 0"},
                          {"softplus.default", "f32[2] 0", "softplus with a beta of 0"},
                          {"add.Tensor", "i64[2] i64[2] alpha=1.5", "a float alpha with integer operands"},
                          {"add.Tensor", "b8[2] b8[2] alpha=2", "an alpha other than 1 with bools"},
                          {"div.Tensor_mode", "b8[2] b8[2] rounding_mode='floor'", "integer division of bools"},
                          {"div.Tensor_mode", "f32[2] f32[2] rounding_mode='up'", "unknown rounding mode 'up'"},
                          {"pow.Tensor_Scalar", "i64[2] -1", "an integer to a negative power"}});
}

TEST(Refusal, Arrangement) {
  expectRefusals(
      "aten", {{"cat.default", "{} 0", "nothing to join"},
               {"cat.default", "{f32[2] None} 0", "None among the tensors to join"},
               {"cat.default", "{f32[] f32[]} 0", "joining 0-d tensors"},
               {"cat.default", "{f32[2,2] f32[2]} 0", "joining tensors of rank 2 and 1"},
               {"repeat.default", "f32[2] [-1]", "a negative number of repetitions"},
               {"roll.default", "f32[4] [1,2]", "several shifts without dimensions"},
               {"roll.default", "f32[4] [1,2] [0]", "as many shifts as dimensions are needed"},
               {"rot90.default", "f32[2,2] 1 [0]", "a rotation needs two dimensions"},
               {"diff.default", "f32[4] 65", "a difference of order 65"},
               {"sum_to_size.default", "f32[2] [2,2]", "a sum to more dimensions"},
               {"combinations.default", "f32[4] 9", "combinations of 9 of 4"},
               {"combinations.default", "f32[512] 3", "too many combinations"},
               {"split_with_sizes.default", "f32[4] [1,1] 0", "the pieces do not make up the whole", "{f32[1] f32[1]}"},
               {"unbind.int", "f32[3] 0", "unbind gives 2 results", "{f32[] f32[]}"},
               {"slice.Tensor", "f32[4] 0 u0", "a slice bound of unknown sign: u0"},
               {"slice.Tensor", "f32[4] 0 0 4 0", "a slice with step 0"},
               {"select.int", "f32[4] 0 u0", "an index of unknown sign: u0"}});
}

TEST(Refusal, Views) {
  expectRefusals("aten", {{"view.default", "f32[4] [-1,-1]", "two sizes of -1"},
                          {"view.dtype", "f32[2] :i32", "reading a tensor's bits as another element type"},
                          {"flatten.using_ints", "f32[2,3] 1 0", "flatten from dimension 1 to 0"},
                          {"permute.default", "f32[2,3] [0]", "a permutation of 1 of 2 dimensions"},
                          {"movedim.intlist", "f32[2,3] [0,1] [0]", "as many destinations as sources are needed"},
                          {"expand.default", "f32[2,3] [3]", "to fewer dimensions"},
                          {"unfold.default", "f32[4] 0 2 0", "unfold with size 2 and step 0"},
                          {"diagonal.default", "f32[2,2] 0 1 1", "a diagonal needs two dimensions"},
                          {"diagonal_scatter.default", "f32[2] f32[2] 0 0 0", "a diagonal needs two dimensions"},
                          {"diag_embed.default", "f32[2] 4294967296", "a diagonal at 4294967296"},
                          {"diag_embed.default", "f32[2] 0 1 1", "diag_embed into one dimension"}});
}

TEST(Refusal, Creation) {
  expectRefusals("aten", {{"zeros.default", "[-1]", "a negative size"},
                          {"arange.start", "5 1", "arange from 5.0"},
                          {"arange.start", "0 u0", "arange of an unknown size"},
                          {"linspace.default", "0 1 -1", "a sequence of -1 steps"},
                          {"tril_indices.default", "-1 2", "indices of a triangle of -1 by 2"}});
}

TEST(Refusal, Products) {
  expectRefusals(
      "aten",
      {{"einsum.default", "'i1->i' {f32[2,2]}", "the equation has the character '1'"},
       {"einsum.default", "'i,j' {f32[2]}", "the equation has 2 operands and 1 are given"},
       {"einsum.default", "'ii->j' {f32[2,2]}", "the equation's result has a label that no operand has"},
       {"tensordot.default", "f32[2,2] f32[2,2] [0] []", "tensordot over 1 and 0 dimensions"},
       {"linalg_multi_dot.default", "{}", "a product of no matrices"},
       {"scaled_dot_product_attention.default", "f32[4] f32[4] f32[4]", "attention of tensors of rank below 2"},
       {"scaled_dot_product_attention.default", "f32[1,3,2,4] f32[1,2,2,4] f32[1,2,2,4] enable_gqa=true",
        "attention of 3 query heads over 2 key heads"},
       {"scaled_dot_product_attention.default", "f32[2,0] f32[2,0] f32[2,0]", "attention with an empty embedding"}});
  expectRefusals("transformers", {{"grouped_mm_fallback.default", "f32[2,3] f32[0,3,4] i32[0]",
                                   "a grouped matrix product without groups"}});
}

TEST(Refusal, Indices) {
  expectRefusals(
      "aten",
      {{"index_put.default", "f32[3,4] {b8[3] i64[1]} f32[]", "writing by a mask together with other indices"},
       {"index_put.default", "f32[3,4,5] {None b8[4]} f32[5]", "writing several values by a mask"},
       {"embedding_bag.default", "f32[4] i64[2] i64[1]", "embedding_bag of tensors of unexpected ranks", "? ? ? ?"},
       {"scatter.src", "f32[3] 0 i64[2] f32[2,2]", "scatter of a source and an index of different ranks"},
       {"scatter.reduce", "f32[3] 0 i64[2] f32[2] reduce='max'", "unknown reduction 'max'"},
       {"scatter_reduce.two", "f32[3] 0 i64[2] f32[2] 'median'", "unknown reduction 'median'"},
       {"take_along_dim.default", "f32[2,2] i64[2] 0", "take_along_dim of tensors of different ranks"},
       {"searchsorted.Tensor", "f32[3] f32[2] sorter=i64[3]", "searchsorted with a sorter"}});
}

TEST(Refusal, Reductions) {
  expectRefusals("aten", {{"mean.default", "i64[2]", "the mean of integers without a dtype"},
                          {"max.default", "f32[0]", "the extremum of no elements"},
                          {"var.correction", "i64[2]", "the variance of integers"},
                          {"var_mean.correction", "i64[2]", "the variance of integers", "? ?"},
                          {"histc.default", "f32[2] 0", "a histogram of 0 bins"},
                          {"linalg_vector_norm.default", "i64[2]", "a norm of integers"},
                          {"linalg_matrix_norm.default", "f32[2,2] 1 [0]", "a matrix norm needs two dimensions"},
                          {"linalg_matrix_norm.default", "f32[2,2] 3", "a matrix norm of order 3.0"},
                          {"median.default", "f32[0]", "the median of no elements"},
                          {"kthvalue.default", "f32[3] 4", "the value number 4 of 3", "? ?"},
                          {"quantile.default", "f32[3] f32[2,2]", "quantiles of rank 2"},
                          {"mse_loss.default", "f32[2] f32[2] 3", "unknown reduction 3"},
                          {"nll_loss_nd.default", "f32[2,3] i64[2,3]", "targets of rank 2 for scores of rank 2"},
                          {"multi_margin_loss.default", "f32[2,3] i64[2] 3", "a margin loss with p = 3.0"}});
}

TEST(Refusal, Images) {
  expectRefusals("aten",
                 {{"conv2d.padding", "f32[1,1,4,4] f32[1,1,3,3] None [2,2] 'same'", "padding 'same' with a stride"},
                  {"conv2d.padding", "f32[1,1,4,4] f32[1,1,3,3] None [1,1] 'odd'", "unknown padding 'odd'"},
                  {"im2col.default", "f32[1,1,4,4] [2,2] [1,1] [-1,0] [1,1]", "a window with the number -1"},
                  {"pad.default", "f32[3] [1,1] 'wrap'", "unknown padding mode 'wrap'"},
                  {"avg_pool2d.default", "f32[1,1,4,4] [2,2] divisor_override=0", "a divisor of 0"},
                  {"adaptive_avg_pool2d.default", "f32[1,1,4,4] [1,2,3]", "an output size of 3 numbers"},
                  {"upsample_nearest2d.vec", "f32[1,1,2,2] None [-1.0,1.0]", "a scale factor of -1.0"},
                  {"upsample_nearest2d.vec", "f32[1,1,2,2] [1] None", "an output size of 1 numbers"},
                  {"_upsample_bilinear2d_aa.vec", "f32[1,1,2,0] [2,2] false None", "an antialiased resize from 0 to 2",
                   "f32[1,1,2,2]"},
                  {"grid_sampler.default", "f32[1,1,2,2] f32[1,2,2,2] 0 3 false", "unknown padding mode 3"},
                  {"affine_grid_generator.default", "f32[1,2,3] [1,1,4] false", "affine_grid over 1 dimensions"},
                  {"channel_shuffle.default", "f32[1,4,2] 0", "channel_shuffle with 0 groups"},
                  {"batch_norm.default", "f32[2,3] f32[3,1] f32[3] f32[3] f32[3] false 0.1 0.5 false",
                   "a parameter per channel of rank 2"},
                  {"instance_norm.default", "f32[1,2,3] None None f32[2] f32[2] true 0.1 0.5 false",
                   "instance normalization that tracks statistics while it trains"}});
  expectRefusals(
      "torchvision",
      {{"roi_align.default", "f32[2,2] f32[1,5] 1.0 2 2 2 false",
        "pooling over boxes takes a 4-d input and boxes of five numbers"},
       {"roi_align.default", "f32[1,1,4,4] f32[1,5] 1.0 2 2 -1 false", "roi_align needs a sampling_ratio"},
       {"deform_conv2d.default", "f32[4] f32[1,1,3,3] f32[1,18,2,2] f32[1] f32[1] 1 1 0 0 1 1 1 1 false",
        "deform_conv2d takes 4-d tensors"},
       {"deform_conv2d.default", "f32[1,1,4,4] f32[1,1,3,3] f32[1,17,2,2] f32[1] f32[1] 1 1 0 0 1 1 1 1 false",
        "deform_conv2d needs two offsets for each tap"}});
}

TEST(Refusal, RecurrentLayers) {
  expectRefusals(
      "aten",
      {{"lstm.input", "f32[2,1,3] {f32[1,1,2]} {} true 1 0.0 false false false", "an LSTM with 1 states", "? ? ?"},
       {"lstm_cell.default", "f32[1,3] {f32[1,2]} f32[8,3] f32[8,2]", "an LSTM cell with 1 states", "? ?"},
       {"gru_cell.default", "f32[1,3] f32[1,2,2] f32[6,3] f32[6,2]",
        "a recurrent cell over tensors of unexpected ranks"},
       {"gru_cell.default", "f32[1,3] f32[1,2] f32[7,3] f32[7,2]", "a recurrent weight of 7 rows"}});
}

TEST(Refusal, SubGraphs) {
  expectRefusals(
      "higher_order",
      {{"cond", "b8[]", "a conditional with too few arguments"},
       {"cond", "None @() @() {}", "a conditional without a condition", ""},
       {"cond", "b8[] @(a -> a) @(a -> a) {}", "a sub-graph takes 1 inputs and gets 0", "f32[2]"},
       {"cond", "b8[] @(a -> a) @(a -> a) {None}", "a sub-graph's tensor input is None", "f32[2]"},
       {"cond", "b8[] @() @() {}", "a branch gives 0 results where 1 are expected", "f32[2]"},
       {"cond", "b8[] @(a -> a) @(a -> None) {f32[2]}", "a branch gives None", "f32[2]"},
       {"while_loop", "@(a -> a) @(a -> a)", "a loop without carried values"},
       {"while_loop", "@(a -> a) @(a -> a) {None}", "a loop operand is None"},
       {"while_loop", "@(a -> a a) @(a -> a) {b8[]}", "a loop's sub-graph gives the wrong number of results"},
       {"while_loop", "@(a -> a) @(a -> None) {b8[]}", "a loop's sub-graph gives None"},
       {"wrap_with_autocast", "'cpu'", "an autocast region with too few arguments"},
       {"wrap_with_autocast", "1 None true true @(a -> a) f32[2]", "an autocast region with unknown arguments"}});
}

} // namespace
} // namespace stator::tests
