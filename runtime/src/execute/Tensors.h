// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks callers' tensors and copies between strided and dense ones.
#ifndef STATOR_RUNTIME_EXECUTE_TENSORS_H
#define STATOR_RUNTIME_EXECUTE_TENSORS_H

#include "runtime/src/artifact/Plan.h"
#include "stator/runtime.h"

namespace stator::runtime {

/// "input 2 ('x')", for error texts.
std::string tensorTitle(const char *role, size_t index, const TensorSpec &spec);

/// Checks dtype, rank, sign and overflow of sizes and strides, `bytes`, and that data is there. `title` begins errors.
/// Does not compare the shape with the program's.
void checkTensor(const stator_tensor &tensor, const TensorSpec &spec, const std::string &title, bool written,
                 bool needsData);

/// Number of elements; the tensor has been checked.
int64_t elementCount(const stator_tensor &tensor);
/// Whether elements lie in row-major order without gaps (strides of sizes 0 and 1 do not matter).
bool isDense(const stator_tensor &tensor);
bool isAligned(const stator_tensor &tensor, size_t alignment);

/// Dense row-major copy of a strided host tensor, and the other way.
void gatherElements(char *dense, const stator_tensor &strided);
void scatterElements(const stator_tensor &strided, const char *dense);

} // namespace stator::runtime
#endif
