// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs built node by node: order by their edges, every kind of node, what is refused; tensor maps through the driver.
#include "runtime/simulator/driver/Cuda.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

using namespace stator::sim::cu;

extern "C" {
Result cuInit(unsigned);
Result cuCtxCreate_v2(Context *, unsigned, Device);
Result cuCtxDestroy_v2(Context);
Result cuModuleLoadData(Module *, const void *);
Result cuModuleGetFunction(Function *, Module, const char *);
Result cuMemAlloc_v2(DevicePointer *, size_t);
Result cuMemcpyDtoH_v2(void *, DevicePointer, size_t);
Result cuGraphCreate(Graph *, unsigned);
Result cuGraphDestroy(Graph);
Result cuGraphAddKernelNode_v2(GraphNode *, Graph, const GraphNode *, size_t, const KernelNodeParams *);
Result cuGraphAddMemcpyNode(GraphNode *, Graph, const GraphNode *, size_t, const Copy3D *, Context);
Result cuGraphAddMemsetNode(GraphNode *, Graph, const GraphNode *, size_t, const MemsetNodeParams *, Context);
Result cuGraphAddHostNode(GraphNode *, Graph, const GraphNode *, size_t, const HostNodeParams *);
Result cuGraphAddEmptyNode(GraphNode *, Graph, const GraphNode *, size_t);
Result cuGraphAddDependencies(Graph, const GraphNode *, const GraphNode *, size_t);
Result cuGraphGetNodes(Graph, GraphNode *, size_t *);
Result cuGraphInstantiateWithFlags(GraphExec *, Graph, unsigned long long);
Result cuGraphExecKernelNodeSetParams_v2(GraphExec, GraphNode, const KernelNodeParams *);
Result cuGraphLaunch(GraphExec, Stream);
Result cuTensorMapEncodeTiled(void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                              const uint32_t *, int, int, int, int);
Result cuTensorMapReplaceAddress(void *, void *);
}

namespace {

/// out[i] = out[i] * 2 + k for 32 threads: the order of launches shows.
const char *kText = R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry step(.param .u64 out, .param .u32 k)
{
  .reg .b32 %r<5>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [out];
  ld.param.u32 %r1, [k];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %d2, %r2, 4;
  add.s64 %d1, %d1, %d2;
  ld.global.u32 %r3, [%d1];
  mad.lo.u32 %r3, %r3, 2, %r1;
  st.global.u32 [%d1], %r3;
  ret;
}
)";

class GraphTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("STATOR_SIM_CHIP", "h100,a100", 1);
    setenv("STATOR_SIM_QUIET", "1", 1);
    ASSERT_EQ(cuInit(0), success);
    ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), success);
    ASSERT_EQ(cuModuleLoadData(&module, kText), success);
    ASSERT_EQ(cuModuleGetFunction(&function, module, "step"), success);
    ASSERT_EQ(cuMemAlloc_v2(&memory, 256), success);
    ASSERT_EQ(cuGraphCreate(&graph, 0), success);
  }
  void TearDown() override {
    EXPECT_EQ(cuGraphDestroy(graph), success);
    EXPECT_EQ(cuCtxDestroy_v2(context), success);
  }
  Result addStep(GraphNode &node, unsigned k, const std::vector<GraphNode> &after, unsigned threads = 32) {
    KernelNodeParams p = paramsOf(k, threads);
    return cuGraphAddKernelNode_v2(&node, graph, after.data(), after.size(), &p);
  }
  KernelNodeParams paramsOf(unsigned value, unsigned threads = 32) {
    k = value;
    params[0] = &memory;
    params[1] = &k;
    KernelNodeParams p = {};
    p.function = function;
    p.gridX = p.gridY = p.gridZ = p.blockY = p.blockZ = 1;
    p.blockX = threads;
    p.kernelParams = params;
    return p;
  }
  Context context = {};
  Module module = {};
  Function function = {};
  DevicePointer memory = 0;
  Graph graph = {};
  unsigned k = 0;
  void *params[2];
};

TEST_F(GraphTest, EdgesDecideTheOrder) {
  GraphNode set, first, second, copy, host, empty;
  // Added from the back to the front; only the edges say what comes first.
  ASSERT_EQ(addStep(second, 3, {}), success);
  ASSERT_EQ(addStep(first, 1, {}), success);
  MemsetNodeParams m = {memory, 0, 5, 4, 32, 1};
  ASSERT_EQ(cuGraphAddMemsetNode(&set, graph, nullptr, 0, &m, context), success);
  std::vector<unsigned> got(32);
  Copy3D c = {};
  c.srcMemoryType = 2, c.srcDevice = memory;
  c.dstMemoryType = 1, c.dstHost = got.data();
  c.widthInBytes = 128, c.height = c.depth = 1;
  ASSERT_EQ(cuGraphAddMemcpyNode(&copy, graph, &second, 1, &c, context), success);
  int called = 0;
  HostNodeParams h = {[](void *data) { ++*static_cast<int *>(data); }, &called};
  ASSERT_EQ(cuGraphAddHostNode(&host, graph, &copy, 1, &h), success);
  ASSERT_EQ(cuGraphAddEmptyNode(&empty, graph, &host, 1), success);
  GraphNode from[] = {set, first}, to[] = {first, second};
  ASSERT_EQ(cuGraphAddDependencies(graph, from, to, 2), success);
  size_t count = 0;
  ASSERT_EQ(cuGraphGetNodes(graph, nullptr, &count), success);
  EXPECT_EQ(count, 6u);
  GraphExec exec;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), success);
  EXPECT_EQ(called, 0);
  ASSERT_EQ(cuGraphLaunch(exec, {}), success);
  EXPECT_EQ(got[7], (5 * 2 + 1) * 2 + 3u);
  EXPECT_EQ(called, 1);
  // New parameters for one node of the executable graph.
  KernelNodeParams p = paramsOf(100);
  ASSERT_EQ(cuGraphExecKernelNodeSetParams_v2(exec, first, &p), success);
  ASSERT_EQ(cuGraphLaunch(exec, {}), success);
  EXPECT_EQ(got[7], (5 * 2 + 100) * 2 + 3u);
}

TEST_F(GraphTest, WhatIsRefused) {
  GraphNode a, b;
  EXPECT_EQ(addStep(a, 1, {}, 2000), invalidValue);
  ASSERT_EQ(addStep(a, 1, {}), success);
  ASSERT_EQ(addStep(b, 2, {a}), success);
  EXPECT_EQ(addStep(b, 2, {a, a}), invalidValue);
  EXPECT_EQ(cuGraphAddDependencies(graph, &a, &a, 1), invalidValue);
  ASSERT_EQ(cuGraphAddDependencies(graph, &b, &a, 1), success);
  GraphExec exec;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), invalidValue); // a circle
}

TEST_F(GraphTest, TensorMapsAreChecked) {
  alignas(64) unsigned char map[192];
  uint64_t dims[] = {64, 64}, strides[] = {128};
  uint32_t box[] = {64, 64}, steps[] = {1, 1};
  void *place = reinterpret_cast<void *>(memory);
  EXPECT_EQ(cuTensorMapEncodeTiled(map, 6, 2, place, dims, strides, box, steps, 0, 3, 0, 0), success);
  EXPECT_EQ(cuTensorMapReplaceAddress(map, reinterpret_cast<void *>(memory + 128)), success);
  EXPECT_EQ(cuTensorMapReplaceAddress(map, reinterpret_cast<void *>(memory + 8)), invalidValue);
  EXPECT_EQ(cuTensorMapEncodeTiled(map + 32, 6, 2, place, dims, strides, box, steps, 0, 3, 0, 0), invalidValue);
  EXPECT_EQ(cuTensorMapEncodeTiled(map, 6, 6, place, dims, strides, box, steps, 0, 3, 0, 0), invalidValue);
  EXPECT_EQ(cuTensorMapEncodeTiled(map, 7, 2, place, dims, strides, box, steps, 0, 3, 0, 0),
            invalidValue); // 256-byte rows
  EXPECT_EQ(cuTensorMapEncodeTiled(map, 6, 2, place, dims, strides, box, steps, 0, 9, 0, 0), invalidValue);
  EXPECT_EQ(cuTensorMapEncodeTiled(nullptr, 6, 2, place, dims, strides, box, steps, 0, 3, 0, 0), invalidValue);
  Context older;
  ASSERT_EQ(cuCtxCreate_v2(&older, 0, 1), success);
  EXPECT_EQ(cuTensorMapEncodeTiled(map, 6, 2, place, dims, strides, box, steps, 0, 3, 0, 0), notSupported);
  EXPECT_EQ(cuCtxDestroy_v2(older), success);
}

} // namespace
