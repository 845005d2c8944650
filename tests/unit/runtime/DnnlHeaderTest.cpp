// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Our declarations of oneDNN against its own header.
#include "runtime/src/library/onednn/Dnnl.h"
#include "tests/unit/runtime/SameSignature.h"

#include <dnnl.h>
#include <gtest/gtest.h>

namespace ours = stator::runtime::dnnl;

#define STATOR_COMPARE(MEMBER, NAME, RESULT, PARAMETERS)                                                               \
  static_assert(stator::test::SameSignature<decltype(&NAME), decltype(ours::Api::MEMBER)>::value, #NAME);
STATOR_DNNL_FUNCTIONS(STATOR_COMPARE)
#undef STATOR_COMPARE

static_assert(sizeof(dnnl_memory_desc_t) <= sizeof(ours::MemoryDesc));
static_assert(sizeof(dnnl_matmul_desc_t) <= sizeof(ours::OperationDesc));
static_assert(sizeof(dnnl_convolution_desc_t) <= sizeof(ours::OperationDesc));
static_assert(sizeof(dnnl_deconvolution_desc_t) <= sizeof(ours::OperationDesc));
static_assert(alignof(dnnl_memory_desc_t) <= alignof(ours::MemoryDesc));
static_assert(sizeof(dnnl_exec_arg_t) == sizeof(ours::Argument) &&
              offsetof(dnnl_exec_arg_t, memory) == offsetof(ours::Argument, memory));
static_assert(sizeof(dnnl_dims_t) == sizeof(ours::Dims));

TEST(DnnlHeader, Numbers) {
#define STATOR_SAME(OURS, THEIRS) EXPECT_EQ(int(ours::OURS), int(THEIRS)) << #THEIRS
  STATOR_SAME(success, dnnl_success);
  STATOR_SAME(outOfMemory, dnnl_out_of_memory);
  STATOR_SAME(unimplemented, dnnl_unimplemented);
  STATOR_SAME(cpu, dnnl_cpu);
  STATOR_SAME(inOrder, dnnl_stream_in_order);
  STATOR_SAME(tagAny, dnnl_format_tag_any);
  STATOR_SAME(forwardInference, dnnl_forward_inference);
  STATOR_SAME(scratchpadUser, dnnl_scratchpad_mode_user);
  STATOR_SAME(convolutionDirect, dnnl_convolution_direct);
  STATOR_SAME(deconvolutionDirect, dnnl_deconvolution_direct);
  STATOR_SAME(queryImplementation, dnnl_query_impl_info_str);
  STATOR_SAME(querySource, dnnl_query_src_md);
  STATOR_SAME(queryWeights, dnnl_query_weights_md);
  STATOR_SAME(queryDestination, dnnl_query_dst_md);
  STATOR_SAME(queryScratchpad, dnnl_query_scratchpad_md);
  STATOR_SAME(f16, dnnl_f16);
  STATOR_SAME(bf16, dnnl_bf16);
  STATOR_SAME(f32, dnnl_f32);
  STATOR_SAME(s32, dnnl_s32);
  STATOR_SAME(s8, dnnl_s8);
  STATOR_SAME(u8, dnnl_u8);
  STATOR_SAME(argSource, DNNL_ARG_SRC);
  STATOR_SAME(argSource, DNNL_ARG_FROM);
  STATOR_SAME(argSource1, DNNL_ARG_SRC_1);
  STATOR_SAME(argDestination, DNNL_ARG_DST);
  STATOR_SAME(argDestination, DNNL_ARG_TO);
  STATOR_SAME(argWeights, DNNL_ARG_WEIGHTS);
  STATOR_SAME(argBias, DNNL_ARG_BIAS);
  STATOR_SAME(argScratchpad, DNNL_ARG_SCRATCHPAD);
  EXPECT_EQ(ours::argPostOp * 3, DNNL_ARG_ATTR_MULTIPLE_POST_OP(2));
  STATOR_SAME(relu, dnnl_eltwise_relu);
  STATOR_SAME(tanh, dnnl_eltwise_tanh);
  STATOR_SAME(elu, dnnl_eltwise_elu);
  STATOR_SAME(square, dnnl_eltwise_square);
  STATOR_SAME(abs, dnnl_eltwise_abs);
  STATOR_SAME(sqrt, dnnl_eltwise_sqrt);
  STATOR_SAME(linear, dnnl_eltwise_linear);
  STATOR_SAME(logistic, dnnl_eltwise_logistic);
  STATOR_SAME(exp, dnnl_eltwise_exp);
  STATOR_SAME(geluTanh, dnnl_eltwise_gelu_tanh);
  STATOR_SAME(swish, dnnl_eltwise_swish);
  STATOR_SAME(clip, dnnl_eltwise_clip);
  STATOR_SAME(geluErf, dnnl_eltwise_gelu_erf);
  STATOR_SAME(hardswish, dnnl_eltwise_hardswish);
  STATOR_SAME(binaryAdd, dnnl_binary_add);
  STATOR_SAME(binaryMul, dnnl_binary_mul);
  STATOR_SAME(binaryMax, dnnl_binary_max);
  STATOR_SAME(binaryMin, dnnl_binary_min);
  STATOR_SAME(binaryDiv, dnnl_binary_div);
  STATOR_SAME(binarySub, dnnl_binary_sub);
#undef STATOR_SAME
}
