// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulator's declarations of the driver API against the toolkit's cuda.h: signatures of every exported function,
// sizes and places of members, numbers. Where no cuda.h is installed the test says that it was skipped.
#include <gtest/gtest.h>

#ifndef STATOR_HAS_CUDA_H
TEST(CudaHeader, MatchesTheSimulator) { GTEST_SKIP() << "cuda.h is not installed"; }
#else

// All versions of every function, and no macros that rename them.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>

#include "runtime/simulator/driver/Cuda.h"
#include "tests/unit/runtime/SameSignature.h"

// The signatures as the sources of the driver have them.
namespace defined {
using namespace stator::sim::cu;
STATOR_TEST_DECLARATIONS
} // namespace defined

namespace {

using stator::test::SameSignature;

#define STATOR_FUNCTION(NAME)                                                                                          \
  static_assert(SameSignature<decltype(&::NAME), decltype(&defined::NAME)>::value, #NAME " has another signature");
STATOR_TEST_FUNCTIONS
#undef STATOR_FUNCTION

namespace cu = stator::sim::cu;

TEST(CudaHeader, Layouts) {
  EXPECT_EQ(sizeof(cu::Uuid), sizeof(CUuuid));
  EXPECT_EQ(sizeof(cu::LaunchAttribute), sizeof(CUlaunchAttribute));
  EXPECT_EQ(offsetof(cu::LaunchAttribute, value), offsetof(CUlaunchAttribute, value));
  EXPECT_EQ(sizeof(cu::LaunchConfig), sizeof(CUlaunchConfig));
  EXPECT_EQ(offsetof(cu::LaunchConfig, sharedBytes), offsetof(CUlaunchConfig, sharedMemBytes));
  EXPECT_EQ(offsetof(cu::LaunchConfig, stream), offsetof(CUlaunchConfig, hStream));
  EXPECT_EQ(offsetof(cu::LaunchConfig, attributes), offsetof(CUlaunchConfig, attrs));
  EXPECT_EQ(offsetof(cu::LaunchConfig, attributeCount), offsetof(CUlaunchConfig, numAttrs));
  EXPECT_EQ(sizeof(cu::PoolProperties), sizeof(CUmemPoolProps));
  EXPECT_EQ(offsetof(cu::PoolProperties, location), offsetof(CUmemPoolProps, location));
  EXPECT_EQ(offsetof(cu::PoolProperties, maxSize), offsetof(CUmemPoolProps, maxSize));
  EXPECT_EQ(sizeof(cu::Copy2D), sizeof(CUDA_MEMCPY2D));
  EXPECT_EQ(offsetof(cu::Copy2D, srcHost), offsetof(CUDA_MEMCPY2D, srcHost));
  EXPECT_EQ(offsetof(cu::Copy2D, srcPitch), offsetof(CUDA_MEMCPY2D, srcPitch));
  EXPECT_EQ(offsetof(cu::Copy2D, dstMemoryType), offsetof(CUDA_MEMCPY2D, dstMemoryType));
  EXPECT_EQ(offsetof(cu::Copy2D, dstDevice), offsetof(CUDA_MEMCPY2D, dstDevice));
  EXPECT_EQ(offsetof(cu::Copy2D, widthInBytes), offsetof(CUDA_MEMCPY2D, WidthInBytes));
}

TEST(CudaHeader, ResultCodes) {
#define STATOR_SAME(OURS, THEIRS) EXPECT_EQ(static_cast<int>(cu::OURS), static_cast<int>(THEIRS)) << #THEIRS
  STATOR_SAME(invalidValue, CUDA_ERROR_INVALID_VALUE);
  STATOR_SAME(outOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  STATOR_SAME(notInitialized, CUDA_ERROR_NOT_INITIALIZED);
  STATOR_SAME(deinitialized, CUDA_ERROR_DEINITIALIZED);
  STATOR_SAME(noDevice, CUDA_ERROR_NO_DEVICE);
  STATOR_SAME(invalidDevice, CUDA_ERROR_INVALID_DEVICE);
  STATOR_SAME(invalidImage, CUDA_ERROR_INVALID_IMAGE);
  STATOR_SAME(invalidContext, CUDA_ERROR_INVALID_CONTEXT);
  STATOR_SAME(noBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
  STATOR_SAME(invalidPtx, CUDA_ERROR_INVALID_PTX);
  STATOR_SAME(unsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  STATOR_SAME(invalidSource, CUDA_ERROR_INVALID_SOURCE);
  STATOR_SAME(fileNotFound, CUDA_ERROR_FILE_NOT_FOUND);
  STATOR_SAME(invalidHandle, CUDA_ERROR_INVALID_HANDLE);
  STATOR_SAME(illegalState, CUDA_ERROR_ILLEGAL_STATE);
  STATOR_SAME(notFound, CUDA_ERROR_NOT_FOUND);
  STATOR_SAME(notReady, CUDA_ERROR_NOT_READY);
  STATOR_SAME(illegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  STATOR_SAME(launchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  STATOR_SAME(launchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
  STATOR_SAME(peerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  STATOR_SAME(peerAccessNotEnabled, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  STATOR_SAME(primaryContextActive, CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE);
  STATOR_SAME(hostMemoryAlreadyRegistered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  STATOR_SAME(hostMemoryNotRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  STATOR_SAME(misalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
  STATOR_SAME(launchFailed, CUDA_ERROR_LAUNCH_FAILED);
  STATOR_SAME(cooperativeLaunchTooLarge, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  STATOR_SAME(notPermitted, CUDA_ERROR_NOT_PERMITTED);
  STATOR_SAME(notSupported, CUDA_ERROR_NOT_SUPPORTED);
  STATOR_SAME(streamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  STATOR_SAME(streamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  STATOR_SAME(streamCaptureUnmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  STATOR_SAME(streamCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  STATOR_SAME(invalidClusterSize, CUDA_ERROR_INVALID_CLUSTER_SIZE);
  STATOR_SAME(unknown, CUDA_ERROR_UNKNOWN);
}

TEST(CudaHeader, Attributes) {
  STATOR_SAME(maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  STATOR_SAME(maxSharedPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  STATOR_SAME(maxRegistersPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  STATOR_SAME(clockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  STATOR_SAME(multiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  STATOR_SAME(globalMemoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  STATOR_SAME(l2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  STATOR_SAME(maxThreadsPerSm, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  STATOR_SAME(capabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  STATOR_SAME(capabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  STATOR_SAME(maxSharedPerSm, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  STATOR_SAME(maxRegistersPerSm, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  STATOR_SAME(managedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
  STATOR_SAME(concurrentManagedAccess, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
  STATOR_SAME(cooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
  STATOR_SAME(maxSharedPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  STATOR_SAME(hostRegisterSupported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
  STATOR_SAME(virtualMemoryManagement, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
  STATOR_SAME(maxBlocksPerSm, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  STATOR_SAME(maxPersistingL2CacheSize, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
  STATOR_SAME(reservedSharedPerBlock, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  STATOR_SAME(memoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
  STATOR_SAME(clusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
  STATOR_SAME(tensorMapAccessSupported, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED);
  STATOR_SAME(unifiedFunctionPointers, CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS);
  STATOR_SAME(functionMaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  STATOR_SAME(functionShared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  STATOR_SAME(functionLocal, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  STATOR_SAME(functionRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
  STATOR_SAME(functionPtxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION);
  STATOR_SAME(functionBinaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  STATOR_SAME(functionMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  STATOR_SAME(functionCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  STATOR_SAME(functionClusterRequired, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
  STATOR_SAME(functionClusterX, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
  STATOR_SAME(functionNonPortableCluster, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  STATOR_SAME(functionClusterPolicy, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  STATOR_SAME(LaunchAttribute::cooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  STATOR_SAME(LaunchAttribute::clusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  STATOR_SAME(pointerContext, CU_POINTER_ATTRIBUTE_CONTEXT);
  STATOR_SAME(pointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
  STATOR_SAME(pointerDevice, CU_POINTER_ATTRIBUTE_DEVICE_POINTER);
  STATOR_SAME(pointerHost, CU_POINTER_ATTRIBUTE_HOST_POINTER);
  STATOR_SAME(pointerIsManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED);
  STATOR_SAME(pointerDeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
  STATOR_SAME(pointerRangeStart, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
  STATOR_SAME(pointerRangeSize, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
  STATOR_SAME(pointerMapped, CU_POINTER_ATTRIBUTE_MAPPED);
  STATOR_SAME(jitErrorLog, CU_JIT_ERROR_LOG_BUFFER);
  STATOR_SAME(jitErrorLogSize, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
#undef STATOR_SAME
}

} // namespace
#endif
