// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/device/cuda/CudaDevice.h"

#include "runtime/src/Failure.h"

namespace stator::runtime {

std::unique_ptr<Device> openCudaDevice(std::shared_ptr<Model>, const CudaOptions &) {
  fail(STATOR_UNAVAILABLE, "the CUDA device is not there yet");
}

} // namespace stator::runtime
