// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Function bodies: scopes, registers, labels, statements.
#pragma once

#include "runtime/simulator/ptx/Cursor.h"
#include "runtime/simulator/ptx/Syntax.h"

namespace stator::sim::ptx {

/// Parses after the opening '{' of `function` up to and including the closing one. Throws SyntaxError.
void parseBody(Cursor &cursor, const Module &module, Function &function);

} // namespace stator::sim::ptx
