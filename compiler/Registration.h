// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place that lists dialects and passes.
#ifndef STATOR_COMPILER_REGISTRATION_H
#define STATOR_COMPILER_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace stator {

/// Every dialect that a program may be written in at any phase.
void registerDialects(mlir::DialectRegistry &registry);
/// Every pass and the phases' pipelines (`--stator-PHASE`), for textual pipelines.
void registerPasses();

} // namespace stator

#endif // STATOR_COMPILER_REGISTRATION_H
