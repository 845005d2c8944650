// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_TESTS_CONFORMANCE_SEMANTICSCASES_H
#define STATOR_TESTS_CONFORMANCE_SEMANTICSCASES_H

#include "tests/conformance/Case.h"

namespace stator::conformance {

/// A program with its right answer. `number` is that of the report it comes from (the table's comments tell); notation
/// as for rows, where `N=7` declares a size that is tried as a number and as a symbol.
struct SemanticsCase {
  unsigned number;
  std::string op, element, signature, body;
  /// Elements in row-major order; a single number stands for every element.
  std::vector<std::vector<double>> inputs, results;
  Tolerance tolerance = exact;
};

const std::vector<SemanticsCase> &semanticsCases();

/// Cases that are tested in another place, and where.
const std::map<unsigned, std::string> &semanticsElsewhere();

} // namespace stator::conformance

#endif // STATOR_TESTS_CONFORMANCE_SEMANTICSCASES_H
