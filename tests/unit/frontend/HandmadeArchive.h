// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Archives that no exporter wrote, and what the importer makes of them.
#ifndef STATOR_TESTS_UNIT_FRONTEND_HANDMADEARCHIVE_H
#define STATOR_TESTS_UNIT_FRONTEND_HANDMADEARCHIVE_H

#include "compiler/frontend/torch_export/TorchExport.h"
#include <map>
#include <string>

namespace stator::tests {

/// A stored zip of the members.
std::string makeZip(const std::map<std::string, std::string> &members);

struct Outcome {
  bool imported;
  /// One diagnostic a line; notes are indented.
  std::string errors;
};

/// Imports the archive that `bytes` are.
Outcome importBytes(const std::string &bytes, const torch_export::ImportOptions &options = {});

/// Imports a program of one call. `arguments` are values apart by spaces, in the order of the operator's schema unless
/// `name=` stands before one:
///   f32[2,3]  a tensor of its own (f32, f64, i32, i64, u8, b8)     {f32[2] None}  a list of tensors
///   1  1.5  true  None  'text'  [1,2]  [1.5]                       :i32           an element type
///   u0        a size that depends on data                          @(a b -> a)    a sub-graph
/// `results` are tensors that the program states, lists of them, or `?`: one whose type is not stated.
Outcome importCall(const std::string &target, const std::string &arguments, const std::string &results = "?");

} // namespace stator::tests

#endif // STATOR_TESTS_UNIT_FRONTEND_HANDMADEARCHIVE_H
