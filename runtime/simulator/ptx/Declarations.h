// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables and parameters of PTX: `.global .align 4 .b8 table[24] = {...}`, `.param .u64 .ptr .global .align 16 x`.
#pragma once

#include "runtime/simulator/ptx/Cursor.h"
#include "runtime/simulator/ptx/Syntax.h"

namespace stator::sim::ptx {

/// Parses after the state space: attributes, type, and one or more declarators up to and including ';'.
std::vector<Variable> parseVariables(Cursor &cursor, Space space);
/// Parses one parameter, the `.param` or `.reg` token included. `type` is Type::none never.
Param parseParam(Cursor &cursor, bool &isRegister);
/// Parses `( param, param )` and lays the parameters out as the driver does (natural alignment, in order).
std::vector<Param> parseParams(Cursor &cursor, std::vector<bool> &isRegister);

} // namespace stator::sim::ptx
