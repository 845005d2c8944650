// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_DIALECTS_INTERFACES_INTERFACES_H
#define STATOR_DIALECTS_INTERFACES_INTERFACES_H

#include "dialects/interfaces/ElementEmitter.h"
#include "dialects/interfaces/HostTensor.h"
#include "dialects/interfaces/Scalar.h"
#include "mlir/IR/OpDefinition.h"

namespace stator {

/// How an importer makes operand element types one (see ImportableOpInterface).
enum class Promotion { None, Same, Float, Bool };

} // namespace stator

#include "dialects/interfaces/Interfaces.h.inc"

#endif // STATOR_DIALECTS_INTERFACES_INTERFACES_H
