// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The libFuzzer target; tests/fuzz/CMakeLists.txt says how to build and run it.
#include "tests/fuzz/PtxInput.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  stator::fuzz::runPtx(data, size);
  return 0;
}
