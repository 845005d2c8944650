// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of oneDNN 2.x's C API that is used here, declared by ourselves and bound at run time. Where oneDNN's headers
// are installed, a test compares every number and size below with them.
#ifndef STATOR_RUNTIME_LIBRARY_ONEDNN_DNNL_H
#define STATOR_RUNTIME_LIBRARY_ONEDNN_DNNL_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace stator::runtime::dnnl {

using Status = int;
using Dim = int64_t;
constexpr int maxNdims = 12;
using Dims = Dim[maxNdims];

using Engine = struct EngineTag *;
using Stream = struct StreamTag *;
using Memory = struct MemoryTag *;
using Primitive = struct PrimitiveTag *;
using PrimitiveDesc = struct PrimitiveDescTag *;
using Attr = struct AttrTag *;
using PostOps = struct PostOpsTag *;

/// oneDNN's descriptors are structs that its functions fill in; only room for them is needed here.
struct MemoryDesc {
  alignas(16) char room[1024];
};
struct OperationDesc {
  alignas(16) char room[8192];
};
/// dnnl_exec_arg_t.
struct Argument {
  int index;
  Memory memory;
};

enum : int {
  success = 0,
  outOfMemory = 1,
  unimplemented = 3,
  cpu = 1,
  inOrder = 1,
  tagAny = 1,
  forwardInference = 96,
  scratchpadUser = 1,
  convolutionDirect = 0x1,
  deconvolutionDirect = 0xa,
  queryImplementation = 8,
  querySource = 129,
  queryWeights = 131,
  queryDestination = 133,
  queryScratchpad = 136,
};
enum : int { f16 = 1, bf16 = 2, f32 = 3, s32 = 4, s8 = 5, u8 = 6 };
enum : int {
  argSource = 1,
  argSource1 = 2,
  argDestination = 17,
  argWeights = 33,
  argBias = 41,
  argScratchpad = 80,
  argPostOp = 16384, // times (position + 1), or-ed with argSource1
};
enum : int {
  relu = 0x1f,
  tanh = 0x2f,
  elu = 0x3f,
  square = 0x4f,
  abs = 0x5f,
  sqrt = 0x6f,
  linear = 0x7f,
  logistic = 0xaf,
  exp = 0xbf,
  geluTanh = 0xcf,
  swish = 0xdf,
  clip = 0xff,
  geluErf = 0x30,
  hardswish = 0x70,
  binaryAdd = 0x1fff0,
  binaryMul = 0x1fff1,
  binaryMax = 0x1fff2,
  binaryMin = 0x1fff3,
  binaryDiv = 0x1fff4,
  binarySub = 0x1fff5,
};

/// X(member, exported name, result, parameters).
#define STATOR_DNNL_FUNCTIONS(X)                                                                                       \
  X(engineCreate, dnnl_engine_create, Status, (Engine *, int kind, size_t index))                                      \
  X(engineDestroy, dnnl_engine_destroy, Status, (Engine))                                                              \
  X(streamCreate, dnnl_stream_create, Status, (Stream *, Engine, unsigned flags))                                      \
  X(streamDestroy, dnnl_stream_destroy, Status, (Stream))                                                              \
  X(streamWait, dnnl_stream_wait, Status, (Stream))                                                                    \
  X(describeStrides, dnnl_memory_desc_init_by_strides, Status,                                                         \
    (MemoryDesc *, int ndims, const Dim *dims, int type, const Dim *strides))                                          \
  X(describeTag, dnnl_memory_desc_init_by_tag, Status, (MemoryDesc *, int ndims, const Dim *dims, int type, int tag))  \
  X(descBytes, dnnl_memory_desc_get_size, size_t, (const MemoryDesc *))                                                \
  X(descEqual, dnnl_memory_desc_equal, int, (const MemoryDesc *, const MemoryDesc *))                                  \
  X(memoryCreate, dnnl_memory_create, Status, (Memory *, const MemoryDesc *, Engine, void *data))                      \
  X(memoryDestroy, dnnl_memory_destroy, Status, (Memory))                                                              \
  X(memoryDesc, dnnl_memory_get_memory_desc, Status, (Memory, const MemoryDesc **))                                    \
  X(memorySetData, dnnl_memory_set_data_handle, Status, (Memory, void *))                                              \
  X(attrCreate, dnnl_primitive_attr_create, Status, (Attr *))                                                          \
  X(attrDestroy, dnnl_primitive_attr_destroy, Status, (Attr))                                                          \
  X(attrScratchpad, dnnl_primitive_attr_set_scratchpad_mode, Status, (Attr, int))                                      \
  X(attrPostOps, dnnl_primitive_attr_set_post_ops, Status, (Attr, PostOps))                                            \
  X(postOpsCreate, dnnl_post_ops_create, Status, (PostOps *))                                                          \
  X(postOpsDestroy, dnnl_post_ops_destroy, Status, (PostOps))                                                          \
  X(appendEltwise, dnnl_post_ops_append_eltwise, Status, (PostOps, float scale, int algorithm, float a, float b))      \
  X(appendSum, dnnl_post_ops_append_sum, Status, (PostOps, float scale))                                               \
  X(appendBinary, dnnl_post_ops_append_binary, Status, (PostOps, int algorithm, const MemoryDesc *))                   \
  X(describeMatmul, dnnl_matmul_desc_init, Status,                                                                     \
    (OperationDesc *, const MemoryDesc *source, const MemoryDesc *weights, const MemoryDesc *bias,                     \
     const MemoryDesc *))                                                                                              \
  X(describeConvolution, dnnl_dilated_convolution_forward_desc_init, Status,                                           \
    (OperationDesc *, int kind, int algorithm, const MemoryDesc *source, const MemoryDesc *weights,                    \
     const MemoryDesc *bias, const MemoryDesc *, const Dim *strides, const Dim *dilates, const Dim *low,               \
     const Dim *high))                                                                                                 \
  X(describeDeconvolution, dnnl_dilated_deconvolution_forward_desc_init, Status,                                       \
    (OperationDesc *, int kind, int algorithm, const MemoryDesc *source, const MemoryDesc *weights,                    \
     const MemoryDesc *bias, const MemoryDesc *, const Dim *strides, const Dim *dilates, const Dim *low,               \
     const Dim *high))                                                                                                 \
  X(primitiveDescCreate, dnnl_primitive_desc_create, Status,                                                           \
    (PrimitiveDesc *, const OperationDesc *, Attr, Engine, PrimitiveDesc hint))                                        \
  X(primitiveDescDestroy, dnnl_primitive_desc_destroy, Status, (PrimitiveDesc))                                        \
  X(reorderDescCreate, dnnl_reorder_primitive_desc_create, Status,                                                     \
    (PrimitiveDesc *, const MemoryDesc *, Engine, const MemoryDesc *, Engine, Attr))                                   \
  X(query, dnnl_primitive_desc_query, Status, (PrimitiveDesc, int what, int index, void *result))                      \
  X(queryDesc, dnnl_primitive_desc_query_md, const MemoryDesc *, (PrimitiveDesc, int what, int index))                 \
  X(primitiveCreate, dnnl_primitive_create, Status, (Primitive *, PrimitiveDesc))                                      \
  X(primitiveDestroy, dnnl_primitive_destroy, Status, (Primitive))                                                     \
  X(execute, dnnl_primitive_execute, Status, (Primitive, Stream, int count, const Argument *))

/// The opened library.
struct Api {
#define STATOR_DECLARE(MEMBER, NAME, RESULT, PARAMETERS) RESULT(*MEMBER) PARAMETERS = nullptr;
  STATOR_DNNL_FUNCTIONS(STATOR_DECLARE)
#undef STATOR_DECLARE

  /// OpenMP as the library itself uses it; nullptr where it is built on something else.
  void (*ompSetThreads)(int) = nullptr;
  int (*ompMaxThreads)() = nullptr;
  void (*ompParallel)(void (*)(void *), void *, unsigned threads, unsigned flags) = nullptr;

  std::string version;
  void *handle = nullptr;

  Api() = default;
  Api(const Api &) = delete;

  /// libdnnl.so.2; nullptr where it is absent, of another major version or incomplete. Never closed: OpenMP's threads
  /// may still be inside it.
  static std::shared_ptr<const Api> open();
};

} // namespace stator::runtime::dnnl
#endif
