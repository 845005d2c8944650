// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Our declarations of the CUDA driver API against the toolkit's header.
#include "runtime/src/device/cuda/Driver.h"
#include "tests/unit/runtime/SameSignature.h"

#include <cuda.h>
#include <gtest/gtest.h>

namespace ours = stator::runtime::cuda;

#define STATOR_COMPARE(MEMBER, NAME, PARAMETERS)                                                                       \
  static_assert(stator::test::SameSignature<decltype(&NAME), decltype(ours::Driver::MEMBER)>::value, #NAME);
STATOR_CUDA_FUNCTIONS(STATOR_COMPARE)
#undef STATOR_COMPARE

TEST(CudaHeader, Numbers) {
#define STATOR_SAME(OURS, THEIRS) EXPECT_EQ(int(ours::OURS), int(THEIRS)) << #THEIRS
  STATOR_SAME(success, CUDA_SUCCESS);
  STATOR_SAME(errorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  STATOR_SAME(errorNoDevice, CUDA_ERROR_NO_DEVICE);
  STATOR_SAME(errorInvalidImage, CUDA_ERROR_INVALID_IMAGE);
  STATOR_SAME(errorNoBinary, CUDA_ERROR_NO_BINARY_FOR_GPU);
  STATOR_SAME(errorInvalidPtx, CUDA_ERROR_INVALID_PTX);
  STATOR_SAME(errorUnsupportedPtx, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  STATOR_SAME(errorNotFound, CUDA_ERROR_NOT_FOUND);
  STATOR_SAME(attributeMaxSharedOptIn, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  STATOR_SAME(attributeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  STATOR_SAME(attributeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  STATOR_SAME(functionMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  STATOR_SAME(streamNonBlocking, CU_STREAM_NON_BLOCKING);
  STATOR_SAME(jitErrorLog, CU_JIT_ERROR_LOG_BUFFER);
  STATOR_SAME(jitErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
#undef STATOR_SAME
}
