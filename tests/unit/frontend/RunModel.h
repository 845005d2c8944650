// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs an imported program on the evaluator and compares it with what PyTorch computed.
#ifndef STATOR_TESTS_UNIT_FRONTEND_RUNMODEL_H
#define STATOR_TESTS_UNIT_FRONTEND_RUNMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include <string>

namespace stator::tests {

struct Tolerance {
  double relative = 1.3e-5, absolute = 1e-5;
};

/// Resolves writes, as normalize does first, and runs `main` of the module on the tensors of a safetensors file (by
/// input name, or "0", "1", ...) and compares its user results with those of another ("0", "1", ...). Integers and
/// bools must be equal, NaN and infinities stand in the same places, narrow floats have the tolerance of their
/// precision. `states`, where given, holds the expected mutable state by name. Empty where all is well, else what
/// differs first.
std::string runAndCompare(mlir::ModuleOp module, const std::string &inputs, const std::string &expected,
                          const std::string &states = "", Tolerance tolerance = {});

} // namespace stator::tests

#endif // STATOR_TESTS_UNIT_FRONTEND_RUNMODEL_H
