// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_COMPILER_PLACES_H
#define STATOR_COMPILER_PLACES_H

#include "mlir/IR/Location.h"
#include <string>
#include <vector>

namespace stator {

/// The places that a location stands for, innermost first and without repeats: "file:line" and names of nodes; eight at
/// most.
std::vector<std::string> placesOf(mlir::Location location);

} // namespace stator

#endif // STATOR_COMPILER_PLACES_H
