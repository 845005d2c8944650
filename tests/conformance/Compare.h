// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_TESTS_CONFORMANCE_COMPARE_H
#define STATOR_TESTS_CONFORMANCE_COMPARE_H

#include "tests/conformance/Case.h"

namespace stator::conformance {

/// What is wrong with `got`, "" if nothing: the first wrong element, how many there are, and the operands there where
/// they have the result's shape. NaN agrees with NaN; the signs of zeros and infinities must agree. `magnitude` is the
/// function of the operands' absolute values for tolerances of sums.
std::string difference(const HostTensor &got, const HostTensor &want, const Tolerance &tolerance,
                       llvm::ArrayRef<HostTensor> operands, const HostTensor *magnitude);

} // namespace stator::conformance

#endif // STATOR_TESTS_CONFORMANCE_COMPARE_H
