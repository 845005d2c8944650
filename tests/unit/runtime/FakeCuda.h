// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Controls of the recording CUDA driver; see FakeCuda.cpp.
#ifndef STATOR_TESTS_UNIT_RUNTIME_FAKECUDA_H
#define STATOR_TESTS_UNIT_RUNTIME_FAKECUDA_H

#include <string>

extern "C" {
std::string fake_cuda_take_log();
std::string fake_cuda_left_over();
void fake_cuda_set_capability(int capability);
void fake_cuda_fail_launch(int result);
void fake_cuda_refuse_cubins(int refuse);
}

#endif
