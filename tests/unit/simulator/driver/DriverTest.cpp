// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver API inside one process: several devices, contexts, refusals, graphs, the extensions for memory plans.
#include "runtime/simulator/driver/Driver.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace stator::sim::cu;

extern "C" {
Result cuInit(unsigned);
Result cuDeviceGetCount(int *);
Result cuDeviceGetName(char *, int, Device);
Result cuDeviceGetAttribute(int *, int, Device);
Result cuDeviceTotalMem_v2(size_t *, Device);
Result cuCtxCreate_v2(Context *, unsigned, Device);
Result cuCtxDestroy_v2(Context);
Result cuCtxSetCurrent(Context);
Result cuCtxSynchronize();
Result cuModuleLoadData(Module *, const void *);
Result cuModuleLoadDataEx(Module *, const void *, unsigned, int *, void **);
Result cuModuleGetFunction(Function *, Module, const char *);
Result cuMemAlloc_v2(DevicePointer *, size_t);
Result cuMemFree_v2(DevicePointer);
Result cuMemsetD32_v2(DevicePointer, unsigned, size_t);
Result cuMemcpyDtoH_v2(void *, DevicePointer, size_t);
Result cuStreamCreate(Stream *, unsigned);
Result cuStreamBeginCapture_v2(Stream, int);
Result cuStreamEndCapture(Stream, Graph *);
Result cuGraphInstantiateWithFlags(GraphExec *, Graph, unsigned long long);
Result cuGraphLaunch(GraphExec, Stream);
Result cuFuncSetAttribute(Function, int, int);
Result cuLaunchKernel(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void **,
                      void **);
Result cuLaunchKernelEx(const LaunchConfig *, Function, void **, void **);
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, Function, int, size_t);
Result cuGetErrorName(Result, const char **);
Result statorSimTensorBegin(DevicePointer, size_t, const char *);
Result statorSimTensorEnd(DevicePointer);
Result statorSimName(DevicePointer, const char *);
}

namespace {

/// out[i] += k for 32 threads; `extern` shared memory of any size.
const char *kText = R"(.version 7.8
.target sm_75
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry bump(.param .u64 out, .param .u32 k)
{
  .reg .b32 %r<5>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [out];
  ld.param.u32 %r1, [k];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %d2, %r2, 4;
  add.s64 %d1, %d1, %d2;
  ld.global.u32 %r3, [%d1];
  add.u32 %r3, %r3, %r1;
  st.global.u32 [%d1], %r3;
  mov.u32 %r4, dynamic;
  st.shared.u32 [%r4], %r3;
  ret;
}
)";

class DriverTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    setenv("STATOR_SIM_CHIP", "a100,h100,t4", 1);
    setenv("STATOR_SIM_QUIET", "1", 1);
    ASSERT_EQ(cuInit(0), success);
  }
  void use(int device) {
    ASSERT_EQ(cuCtxCreate_v2(&context[device], 0, device), success);
    ASSERT_EQ(cuModuleLoadData(&module[device], kText), success);
    ASSERT_EQ(cuModuleGetFunction(&bump[device], module[device], "bump"), success);
    ASSERT_EQ(cuMemAlloc_v2(&memory[device], 256), success);
    ASSERT_EQ(cuMemsetD32_v2(memory[device], 5, 64), success);
  }
  Result launch(int device, DevicePointer to, unsigned k, unsigned threads = 32, unsigned shared = 64,
                Stream stream = {}) {
    void *params[] = {&to, &k};
    return cuLaunchKernel(bump[device], 1, 1, 1, threads, 1, 1, shared, stream, params, nullptr);
  }
  unsigned word(DevicePointer at) {
    unsigned value = 0;
    EXPECT_EQ(cuMemcpyDtoH_v2(&value, at, 4), success);
    return value;
  }
  void TearDown() override {
    for (Context c : context) EXPECT_TRUE(!c || cuCtxDestroy_v2(c) == success);
  }
  Context context[3] = {};
  Module module[3] = {};
  Function bump[3] = {};
  DevicePointer memory[3] = {};
};

TEST_F(DriverTest, ChipsByName) {
  int count = 0;
  ASSERT_EQ(cuDeviceGetCount(&count), success);
  ASSERT_EQ(count, 3);
  // Multiprocessors, shared memory a block may have, capability, clusters.
  const struct {
    const char *name;
    int sms, shared, major, minor, clusters;
  } expected[] = {
      {"A100", 108, 163 * 1024, 8, 0, 0}, {"H100", 132, 227 * 1024, 9, 0, 1}, {"T4", 40, 64 * 1024, 7, 5, 0}};
  for (int d = 0; d < 3; ++d) {
    char name[64];
    ASSERT_EQ(cuDeviceGetName(name, sizeof name, d), success);
    EXPECT_NE(std::string(name).find(expected[d].name), std::string::npos) << name;
    auto attribute = [&](int which) {
      int value = -1;
      EXPECT_EQ(cuDeviceGetAttribute(&value, which, d), success);
      return value;
    };
    EXPECT_EQ(attribute(multiprocessorCount), expected[d].sms);
    EXPECT_EQ(attribute(maxSharedPerBlockOptin), expected[d].shared);
    EXPECT_EQ(attribute(capabilityMajor), expected[d].major);
    EXPECT_EQ(attribute(capabilityMinor), expected[d].minor);
    EXPECT_EQ(attribute(clusterLaunch), expected[d].clusters);
  }
  int value;
  EXPECT_EQ(cuDeviceGetAttribute(&value, multiprocessorCount, 3), invalidDevice);
}

TEST_F(DriverTest, DevicesAreSeparate) {
  use(0);
  use(1);
  ASSERT_EQ(launch(1, memory[1], 7), success);
  EXPECT_EQ(cuCtxSynchronize(), success);
  EXPECT_EQ(word(memory[1]), 12u);
  EXPECT_EQ(word(memory[0]), 5u);
  // The second device does not see the first one's memory; its context fails and stays failed, the other does not.
  ASSERT_EQ(launch(1, memory[0], 1), success);
  EXPECT_EQ(cuCtxSynchronize(), illegalAddress);
  EXPECT_EQ(launch(1, memory[1], 1), illegalAddress);
  ASSERT_EQ(cuCtxSetCurrent(context[0]), success);
  EXPECT_EQ(cuCtxSynchronize(), success);
  ASSERT_EQ(launch(0, memory[0], 2), success);
  EXPECT_EQ(word(memory[0]), 7u);
}

TEST_F(DriverTest, RefusedLaunches) {
  use(0);
  EXPECT_EQ(launch(0, memory[0], 1, 1025), invalidValue);
  EXPECT_EQ(launch(0, memory[0], 1, 0), invalidValue);
  EXPECT_EQ(launch(0, memory[0], 1, 32, 48 * 1024 + 1), invalidValue);
  EXPECT_EQ(cuFuncSetAttribute(bump[0], functionMaxDynamicShared, 164 * 1024), invalidValue);
  ASSERT_EQ(cuFuncSetAttribute(bump[0], functionMaxDynamicShared, 163 * 1024), success);
  EXPECT_EQ(launch(0, memory[0], 1, 32, 163 * 1024), success);
  EXPECT_EQ(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), invalidHandle);
  EXPECT_EQ(cuLaunchKernel(bump[0], 1, 65536, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), invalidValue);
  unsigned k = 1;
  void *params[] = {&memory[0], &k};
  LaunchAttribute attribute{};
  attribute.id = LaunchAttribute::clusterDimension;
  attribute.value.cluster = {2, 1, 1};
  LaunchConfig config{2, 1, 1, 32, 1, 1, 64, nullptr, &attribute, 1};
  EXPECT_EQ(cuLaunchKernelEx(&config, bump[0], params, nullptr), invalidClusterSize); // no clusters before 9.0
  attribute.id = LaunchAttribute::cooperative;
  attribute.value.cooperativeValue = 1;
  config.gridX = 1000000;
  EXPECT_EQ(cuLaunchKernelEx(&config, bump[0], params, nullptr), cooperativeLaunchTooLarge);
  // Nothing of this was a launch.
  EXPECT_EQ(cuCtxSynchronize(), success);
}

TEST_F(DriverTest, ClusterSizes) {
  use(1);
  unsigned k = 1;
  void *params[] = {&memory[1], &k};
  LaunchAttribute attribute{};
  attribute.id = LaunchAttribute::clusterDimension;
  LaunchConfig config{16, 1, 1, 32, 1, 1, 64, nullptr, &attribute, 1};
  attribute.value.cluster = {16, 1, 1};
  EXPECT_EQ(cuLaunchKernelEx(&config, bump[1], params, nullptr), invalidClusterSize);
  ASSERT_EQ(cuFuncSetAttribute(bump[1], functionNonPortableCluster, 1), success);
  attribute.value.cluster = {5, 1, 1};
  EXPECT_EQ(cuLaunchKernelEx(&config, bump[1], params, nullptr), invalidValue); // 16 blocks are no multiple of 5
  attribute.value.cluster = {0, 1, 1};
  EXPECT_EQ(cuLaunchKernelEx(&config, bump[1], params, nullptr), invalidClusterSize);
}

TEST_F(DriverTest, RefusedModules) {
  use(2);
  Module m;
  auto load = [&](const char *text) { return cuModuleLoadData(&m, text); };
  EXPECT_EQ(load(".version 7.8\n.target sm_80\n.address_size 64\n"), invalidPtx); // the T4 has 7.5
  EXPECT_EQ(load(".version 99.0\n.target sm_75\n.address_size 64\n"), unsupportedPtxVersion);
  EXPECT_EQ(load(""), invalidPtx);
  EXPECT_EQ(load("x"), invalidPtx);
  EXPECT_EQ(load("\177ELF"), noBinaryForGpu);
  EXPECT_EQ(cuModuleLoadData(&m, nullptr), invalidValue);
  char log[256] = "";
  int options[] = {jitErrorLog, jitErrorLogSize};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  EXPECT_EQ(cuModuleLoadDataEx(&m, ".version 7.8\n.target sm_75\n.address_size 64\n.entry k() {\n  bogus.u32 x;\n}\n",
                               2, options, values),
            invalidPtx);
  EXPECT_NE(std::string(log).find("line 5"), std::string::npos) << log;
  EXPECT_NE(std::string(log).find("bogus"), std::string::npos) << log;
  Function f;
  EXPECT_EQ(cuModuleGetFunction(&f, module[2], "other"), notFound);
}

TEST_F(DriverTest, MemoryIsCounted) {
  use(2);
  size_t total = 0;
  ASSERT_EQ(cuDeviceTotalMem_v2(&total, 2), success);
  EXPECT_EQ(total, size_t{16} << 30);
  DevicePointer p = 0;
  EXPECT_EQ(cuMemAlloc_v2(&p, size_t{17} << 30), outOfMemory);
  EXPECT_EQ(cuMemAlloc_v2(&p, 0), invalidValue);
  ASSERT_EQ(cuMemAlloc_v2(&p, size_t{15} << 30), success);
  DevicePointer q = 0;
  EXPECT_EQ(cuMemAlloc_v2(&q, size_t{2} << 30), outOfMemory);
  EXPECT_EQ(cuMemFree_v2(p + 4), invalidValue);
  EXPECT_EQ(cuMemFree_v2(p), success);
  EXPECT_EQ(cuMemFree_v2(p), invalidValue);
}

TEST_F(DriverTest, GraphsReplayWhatWasCaptured) {
  use(0);
  Stream stream;
  ASSERT_EQ(cuStreamCreate(&stream, 1), success);
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, 0), success);
  ASSERT_EQ(launch(0, memory[0], 1, 32, 64, stream), success);
  ASSERT_EQ(launch(0, memory[0], 10, 32, 64, stream), success);
  EXPECT_EQ(launch(0, memory[0], 10, 2000, 64, stream), invalidValue); // checked when it is captured
  Graph graph;
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), success);
  EXPECT_EQ(word(memory[0]), 5u);
  GraphExec exec;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), success);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cuGraphLaunch(exec, stream), success);
  EXPECT_EQ(word(memory[0]), 38u);
}

TEST_F(DriverTest, OccupancyFollowsTheChip) {
  use(0);
  int blocks = 0;
  // 2048 threads, 32 blocks and 164 KiB a multiprocessor; a block takes 1 KiB more than it asks for.
  ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bump[0], 1024, 0), success);
  EXPECT_EQ(blocks, 2);
  ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bump[0], 32, 0), success);
  EXPECT_EQ(blocks, 32);
  ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bump[0], 32, 40 * 1024), success);
  EXPECT_EQ(blocks, 4);
}

TEST_F(DriverTest, TensorsOfAPlan) {
  use(0);
  DevicePointer arena = 0;
  ASSERT_EQ(cuMemAlloc_v2(&arena, 1024), success);
  ASSERT_EQ(cuMemsetD32_v2(arena, 0, 256), success);
  ASSERT_EQ(statorSimName(arena, "arena"), success);
  ASSERT_EQ(statorSimTensorBegin(arena + 128, 128, "x"), success);
  EXPECT_EQ(statorSimTensorBegin(arena + 1000, 128, "y"), invalidValue);
  ASSERT_EQ(cuMemsetD32_v2(arena + 128, 1, 32), success);
  EXPECT_EQ(launch(0, arena + 128, 1), success);
  EXPECT_EQ(cuCtxSynchronize(), success);
  ASSERT_EQ(statorSimTensorEnd(arena + 128), success);
  EXPECT_EQ(statorSimTensorEnd(arena + 128), invalidValue);
  EXPECT_EQ(launch(0, arena + 128, 1), success);
  EXPECT_EQ(cuCtxSynchronize(), illegalAddress);
}

TEST_F(DriverTest, ErrorsHaveNames) {
  for (Result code : {success, invalidValue, illegalAddress, misalignedAddress, launchTimeout, launchFailed}) {
    const char *name = nullptr;
    EXPECT_EQ(cuGetErrorName(code, &name), success);
    EXPECT_EQ(std::string(name).rfind("CUDA_", 0), 0u);
  }
  const char *name = "";
  EXPECT_EQ(cuGetErrorName(static_cast<Result>(12345), &name), invalidValue);
  EXPECT_EQ(name, nullptr);
}

} // namespace
