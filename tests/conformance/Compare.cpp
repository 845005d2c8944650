// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/conformance/Compare.h"
#include "dialects/interfaces/Scalar.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>

using namespace mlir;

namespace stator::conformance {

/// The element's place in the order of its type's values: neighbours differ by 1, -0 and 0 are both 0.
static int64_t ordinal(const HostTensor &tensor, int64_t i) {
  size_t n = elementBytes(tensor.elementType);
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.data() + i * n, n);
  uint64_t sign = uint64_t(1) << (8 * n - 1);
  return bits & sign ? -int64_t(bits & ~sign) : int64_t(bits);
}

static std::string text(const HostTensor &tensor, int64_t i) {
  if (!tensor.isFloat()) return std::to_string(tensor.getInt(i));
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.17g", tensor.getDouble(i));
  return buffer;
}

/// Spacing of the computing type's values at |x|.
static double spacing(Type element, double x) {
  bool wide = computeType(element).isF64();
  int exponent = x == 0 || !std::isfinite(x) ? -2000 : std::ilogb(x);
  return std::ldexp(1.0, std::max(exponent, wide ? -1022 : -126) - (wide ? 52 : 23));
}

static bool agrees(const HostTensor &got, const HostTensor &want, int64_t i, const Tolerance &tolerance,
                   ArrayRef<HostTensor> operands, const HostTensor *magnitude) {
  if (!want.isFloat()) return got.getInt(i) == want.getInt(i);
  double g = got.getDouble(i), w = want.getDouble(i);
  if (std::isnan(w) || std::isnan(g)) return std::isnan(w) && std::isnan(g);
  if (g == w && (g != 0 || std::signbit(g) == std::signbit(w))) return true;
  Type element = want.elementType, compute = computeType(element);
  bool narrow = element != compute;
  if (tolerance.ulps > 0) {
    // The reference is rounded itself: half a unit more. A narrow result may fall to the other side of a tie.
    if (g == 0 && w == 0 && !tolerance.underflows) return false;
    int64_t allowed = narrow ? 1 : int64_t(std::floor(tolerance.ulps + 0.5));
    if (std::abs(ordinal(got, i) - ordinal(want, i)) <= allowed) return true;
  }
  if (!std::isfinite(g) || !std::isfinite(w)) return false;
  double operand = 0;
  for (const HostTensor &x : operands)
    if (x.isFloat() && x.shape == want.shape && std::isfinite(x.getDouble(i)))
      operand = std::max(operand, std::fabs(x.getDouble(i)));
  double allowed = tolerance.operandUlps * spacing(element, operand);
  if (tolerance.underflows) allowed += std::max(operand, 1.0) * (compute.isF64() ? 0x1p-1022 : 0x1p-126);
  if (tolerance.terms > 0) {
    double unit = compute.isF64() ? 0x1p-53 : 0x1p-24;
    allowed += 2 * tolerance.terms * unit * magnitude->getDouble(i) + (compute.isF64() ? 0x1p-1074 : 0x1p-149);
  }
  if (allowed == 0) return false;
  // Where the exact value may lie anywhere in what is allowed, a narrow result may be one unit away.
  if (narrow && std::abs(ordinal(got, i) - ordinal(want, i)) <= 1) return true;
  return std::fabs(g - w) <= allowed;
}

std::string difference(const HostTensor &got, const HostTensor &want, const Tolerance &tolerance,
                       ArrayRef<HostTensor> operands, const HostTensor *magnitude) {
  if (got.shape != want.shape) return "another shape";
  int64_t count = 0, first = -1;
  for (int64_t i = 0, n = want.size(); i < n; ++i)
    if (!agrees(got, want, i, tolerance, operands, magnitude) && count++ == 0) first = i;
  if (!count) return "";
  std::string message = std::to_string(count) + " of " + std::to_string(want.size()) + " elements differ; element " +
                        std::to_string(first) + " is " + text(got, first) + ", expected " + text(want, first);
  if (want.isFloat()) message += " (" + std::to_string(ordinal(got, first) - ordinal(want, first)) + " units)";
  for (const HostTensor &operand : operands)
    if (operand.shape == want.shape) message += ", operand " + text(operand, first);
  return message;
}

} // namespace stator::conformance
