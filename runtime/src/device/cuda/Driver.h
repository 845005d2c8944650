// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of the CUDA driver API that is used here, declared by ourselves and bound at run time, so that nothing of
// CUDA is needed to build. Where a toolkit is installed, a test compares the declarations with its cuda.h.
#ifndef STATOR_RUNTIME_DEVICE_CUDA_DRIVER_H
#define STATOR_RUNTIME_DEVICE_CUDA_DRIVER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace stator::runtime::cuda {

using Result = int;
using DeviceNumber = int;
using Address = unsigned long long;
using Context = struct CUctx_st *;
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using Stream = struct CUstream_st *;

enum : Result {
  success = 0,
  errorOutOfMemory = 2,
  errorNoDevice = 100,
  errorInvalidImage = 200,
  errorNoBinary = 209,
  errorInvalidPtx = 218,
  errorUnsupportedPtx = 222,
  errorNotFound = 500,
};
enum : int {
  attributeMaxSharedOptIn = 97,
  attributeMajor = 75,
  attributeMinor = 76,
  functionMaxDynamicShared = 8,
  streamNonBlocking = 1,
  jitErrorLog = 5,
  jitErrorLogBytes = 6,
};

/// X(member, exported name, parameters); all return a Result.
#define STATOR_CUDA_FUNCTIONS(X)                                                                                       \
  X(init, cuInit, (unsigned flags))                                                                                    \
  X(driverVersion, cuDriverGetVersion, (int *))                                                                        \
  X(errorName, cuGetErrorName, (Result, const char **))                                                                \
  X(errorString, cuGetErrorString, (Result, const char **))                                                            \
  X(deviceCount, cuDeviceGetCount, (int *))                                                                            \
  X(deviceGet, cuDeviceGet, (DeviceNumber *, int ordinal))                                                             \
  X(deviceName, cuDeviceGetName, (char *, int length, DeviceNumber))                                                   \
  X(deviceAttribute, cuDeviceGetAttribute, (int *, int attribute, DeviceNumber))                                       \
  X(contextRetain, cuDevicePrimaryCtxRetain, (Context *, DeviceNumber))                                                \
  X(contextRelease, cuDevicePrimaryCtxRelease_v2, (DeviceNumber))                                                      \
  X(contextPush, cuCtxPushCurrent_v2, (Context))                                                                       \
  X(contextPop, cuCtxPopCurrent_v2, (Context *))                                                                       \
  X(contextSynchronize, cuCtxSynchronize, ())                                                                          \
  X(streamCreate, cuStreamCreate, (Stream *, unsigned flags))                                                          \
  X(streamDestroy, cuStreamDestroy_v2, (Stream))                                                                       \
  X(streamSynchronize, cuStreamSynchronize, (Stream))                                                                  \
  X(allocate, cuMemAlloc_v2, (Address *, size_t))                                                                      \
  X(release, cuMemFree_v2, (Address))                                                                                  \
  X(allocateHost, cuMemAllocHost_v2, (void **, size_t))                                                                \
  X(releaseHost, cuMemFreeHost, (void *))                                                                              \
  X(copy, cuMemcpyAsync, (Address to, Address from, size_t, Stream))                                                   \
  X(copyToDevice, cuMemcpyHtoDAsync_v2, (Address, const void *, size_t, Stream))                                       \
  X(copyToHost, cuMemcpyDtoHAsync_v2, (void *, Address, size_t, Stream))                                               \
  X(set8, cuMemsetD8Async, (Address, unsigned char, size_t count, Stream))                                             \
  X(set16, cuMemsetD16Async, (Address, unsigned short, size_t count, Stream))                                          \
  X(set32, cuMemsetD32Async, (Address, unsigned, size_t count, Stream))                                                \
  X(moduleLoad, cuModuleLoadDataEx, (Module *, const void *, unsigned count, int *options, void **values))             \
  X(moduleUnload, cuModuleUnload, (Module))                                                                            \
  X(moduleFunction, cuModuleGetFunction, (Function *, Module, const char *))                                           \
  X(functionSetAttribute, cuFuncSetAttribute, (Function, int attribute, int value))                                    \
  X(launch, cuLaunchKernel,                                                                                            \
    (Function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,      \
     unsigned shared, Stream, void **parameters, void **extra))

/// The opened driver library. Never closed: drivers do not like it.
struct Driver {
#define STATOR_DECLARE(MEMBER, NAME, PARAMETERS) Result(*MEMBER) PARAMETERS = nullptr;
  STATOR_CUDA_FUNCTIONS(STATOR_DECLARE)
#undef STATOR_DECLARE

  /// What the simulator offers beyond the driver API; nullptr in a real driver.
  Result (*tensorBegin)(Address, size_t, const char *name) = nullptr;
  Result (*tensorEnd)(Address) = nullptr;
  Result (*nameMemory)(Address, const char *name) = nullptr;

  std::string path;

  /// Opens and initialises `choice`: a path, "sim" for the simulator beside this library, nullptr for the environment
  /// variable STATOR_CUDA or else libcuda.so.1. Throws STATOR_UNAVAILABLE.
  static std::shared_ptr<const Driver> open(const char *choice);

  /// Throws a Failure with the driver's own words unless `result` is success.
  void check(Result result, const char *what) const;
};

} // namespace stator::runtime::cuda
#endif
