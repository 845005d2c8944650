// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's .npy files, versions 1 to 3, little-endian.
#ifndef STATOR_COMPILER_IO_NPY_H
#define STATOR_COMPILER_IO_NPY_H

#include "compiler/io/Safetensors.h"

namespace stator::io {

/// Parses a whole file. Fortran order is turned into row-major. bool, integers, f16, f32, f64; pickled objects,
/// structured and big-endian types are refused.
Result<Tensor> parseNpy(const Buffer &bytes, const std::string &name);
Result<Tensor> readNpy(const std::string &path);
/// Types that NumPy lacks are refused: bf16 and f8.
Status writeNpy(const std::string &path, const Tensor &tensor);

} // namespace stator::io

#endif // STATOR_COMPILER_IO_NPY_H
