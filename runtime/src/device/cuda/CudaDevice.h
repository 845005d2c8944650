// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An NVIDIA GPU (or a simulated one) behind the CUDA driver API.
#ifndef STATOR_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define STATOR_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/src/artifact/Model.h"
#include "runtime/src/device/Device.h"

namespace stator::runtime {

struct CudaOptions {
  const char *library; // see stator_session_options.cuda_library
  int index;           // which GPU
  void *stream;        // the caller's CUstream; nullptr: one of our own
};

/// Throws STATOR_UNAVAILABLE where there is no driver, no such GPU, or no image for it.
std::unique_ptr<Device> openCudaDevice(std::shared_ptr<Model> model, const CudaOptions &options);

} // namespace stator::runtime
#endif
