/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a program is linked with where no driver is installed: a libcuda.so.1 whose every call fails. */
#include "cuda_driver.h"

#define UNKNOWN 999
CUresult cuInit(unsigned flags) { return UNKNOWN; }
CUresult cuDeviceGetCount(int *count) { return UNKNOWN; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) { return UNKNOWN; }
CUresult cuDeviceGetName(char *name, int length, CUdevice device) { return UNKNOWN; }
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) { return UNKNOWN; }
CUresult cuCtxSynchronize(void) { return UNKNOWN; }
CUresult cuModuleLoadData(CUmodule *module, const void *image) { return UNKNOWN; }
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) { return UNKNOWN; }
CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) { return UNKNOWN; }
CUresult cuMemFree_v2(CUdeviceptr pointer) { return UNKNOWN; }
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) { return UNKNOWN; }
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) { return UNKNOWN; }
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t bytes) { return UNKNOWN; }
CUresult cuStreamCreate(CUstream *stream, unsigned flags) { return UNKNOWN; }
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void **params, void **extra) {
  return UNKNOWN;
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, CUstream stream, void **params) {
  return UNKNOWN;
}
CUresult cuGetErrorName(CUresult error, const char **name) { return UNKNOWN; }
