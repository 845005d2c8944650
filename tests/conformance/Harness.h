// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs cases by the evaluator and by compiled code, many functions in one artifact, all in this process.
#ifndef STATOR_TESTS_CONFORMANCE_HARNESS_H
#define STATOR_TESTS_CONFORMANCE_HARNESS_H

#include "tests/conformance/Case.h"

namespace stator::conformance {

/// How a case gets from its text to code.
enum class Route {
  Host,     ///< the whole compiler, host code
  HostBare, ///< without simplify and fuse: each op a kernel of its own
  Folded,   ///< the whole compiler, every input a constant of the program
  Cuda      ///< the whole compiler, PTX on the simulated device
};

struct Tally {
  size_t functions = 0, runs = 0, elements = 0, wrong = 0;
};

/// Runs every case; what differs is a test failure that names the case. Known answers are compared with both
/// executions.
Tally runCases(mlir::MLIRContext &context, const std::vector<Case> &cases, Route route);

} // namespace stator::conformance

#endif // STATOR_TESTS_CONFORMANCE_HARNESS_H
