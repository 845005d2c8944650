// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_COMPILER_FRONTEND_DIDYOUMEAN_H
#define STATOR_COMPILER_FRONTEND_DIDYOUMEAN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace stator {

/// The name in `known` that `name` was probably meant to be, as ": did you mean 'dims'?"; "" where none is near.
std::string didYouMean(llvm::StringRef name, llvm::ArrayRef<std::string> known);

} // namespace stator

#endif // STATOR_COMPILER_FRONTEND_DIDYOUMEAN_H
