// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights as MLIR resources: bytes beside the IR that every frontend makes in one way.
#ifndef STATOR_COMPILER_FRONTEND_RESOURCE_H
#define STATOR_COMPILER_FRONTEND_RESOURCE_H

#include "compiler/io/Buffer.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"

namespace stator {

/// A resource over `data`, which stays alive as long as the context. `name` is made unique. The alignment that the
/// resource states is `elementBytes`, whatever the bytes happen to have (text that is written must not depend on
/// addresses); data that has less is copied. Null where there is no memory for that.
std::optional<mlir::DenseResourceElementsHandle> makeResource(mlir::MLIRContext *context, llvm::StringRef name,
                                                              io::Buffer data, size_t elementBytes);

} // namespace stator

#endif // STATOR_COMPILER_FRONTEND_RESOURCE_H
