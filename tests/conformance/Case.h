// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conformance table: what a row says, and the cases it expands to.
//
// A row is an op, the element types it takes, how exact its answer must be, and forms: small functions in a short
// notation.
//
//   {"transpose", allTypes, exact, {{"x[n, 7] -> [7, n]", "%r = graph.transpose %x [1, 0] : $x"}}}
//
// Signature: inputs `name[dims]`, `->`, results `[dims]`, and, after `where`, types that the body mentions. Dimensions
// are numbers or expressions over symbols; each symbol makes the form run at several sizes. `:type` gives an element
// type other than the row's, `{low..high}` the range of an input's values. In the body `$name` is the type of an input
// (or of a name after `where`), `$0` the type of the first result, `$E` the element type. Results are `%r`, or `%r#0`,
// `%r#1`, ... of several.
//
// Every row is run with every element type, form and size by the evaluator and by compiled code, whose answers must
// agree.
#ifndef STATOR_TESTS_CONFORMANCE_CASE_H
#define STATOR_TESTS_CONFORMANCE_CASE_H

#include "dialects/graph/Graph.h"
#include "dialects/interfaces/HostTensor.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <string>
#include <vector>

namespace stator::conformance {

/// How far an answer may be from the evaluator's, which computes in f64 and rounds once.
struct Tolerance {
  /// Units in the last place of the element's computing type (f32 for narrow floats, whose results may then differ by
  /// one unit of their own). 0: the same bits.
  double ulps = 0;
  /// As many units in the last place of the largest operand element are allowed besides: functions that subtract.
  double operandUlps = 0;
  /// Exponentials that overflow inside make results below |x| * 2^-126 vanish.
  bool underflows = false;
  /// Sums of this many products or fewer: terms * u * (the same function of the operands' absolute values) is allowed.
  double terms = 0;
};
inline constexpr Tolerance exact{};
constexpr Tolerance ulps(double n) { return {n, 0, false, 0}; }
constexpr Tolerance ofOperand(double n) { return {2, n, true, 0}; }
constexpr Tolerance sumOf(double terms) { return {0, 0, false, terms}; }

enum class Fill {
  Special,  ///< zeros, ones, extremes, subnormals, infinities, NaN; of integers the extremes
  Integers, ///< -4 to 4: sums and products of them are exact
  Powers,   ///< 1, -1, 2, 0.5: products of them are exact (integers: 1, -1, 2)
  Random,   ///< -2 to 2
};

struct Form {
  std::string signature, body;
  /// Values of the symbols in the order in which they appear, one list a run; empty: 0, 1, 5, 33, 130 for each.
  std::vector<std::vector<int64_t>> sizes = {};
};

struct Row {
  std::string op;
  std::vector<std::string> elements;
  Tolerance tolerance;
  std::vector<Form> forms;
  Fill fill = Fill::Special;
};

inline const std::vector<std::string> floatTypes = {"f32", "f16", "bf16", "f64"};
inline const std::vector<std::string> narrowTypes = {"f8E4M3FN", "f8E5M2"};
inline const std::vector<std::string> integerTypes = {"i64", "i32", "i16", "i8", "ui8"};
inline const std::vector<std::string> boolType = {"i1"};
inline const std::vector<std::string> storageTypes = {"ui16", "ui32", "ui64"};
std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string> &b);
inline const std::vector<std::string> numberTypes = floatTypes + integerTypes;
inline const std::vector<std::string> allTypes = floatTypes + narrowTypes + integerTypes + storageTypes + boolType;

/// A tensor of a signature.
struct Slot {
  std::string name;
  std::vector<std::string> dims;
  std::string element;
  /// The values' range where given.
  std::optional<std::pair<double, double>> range;
};

/// A form with an element type: one function.
struct Case {
  std::string name, op, element;
  Tolerance tolerance;
  Fill fill = Fill::Special;
  std::vector<Slot> inputs, results;
  std::vector<std::string> symbols;
  std::vector<std::vector<int64_t>> sizes;
  /// func.func @name.
  std::string text;
  /// Inputs and right answers where the case knows them; one run then.
  std::vector<HostTensor> knownInputs, knownResults;
  /// Where the case has no value: what the evaluator and the runtime say of it.
  std::string refusal, runtimeRefusal;
};

/// `name` must be unique in a module and a valid symbol.
Case makeCase(mlir::MLIRContext &context, const Row &row, const Form &form, const std::string &element,
              const std::string &name);
/// All cases of a row.
std::vector<Case> expand(mlir::MLIRContext &context, const Row &row);

/// Inputs of a run. `seed` turns the pools.
std::vector<HostTensor> inputsOf(mlir::MLIRContext &context, const Case &c, const std::map<std::string, int64_t> &sizes,
                                 unsigned seed);

/// The rows of every family.
std::vector<Row> elementwiseRows();
std::vector<Row> reduceRows();
std::vector<Row> shapeRows();
std::vector<Row> gatherRows();
std::vector<Row> scanRows();
std::vector<Row> windowRows();
std::vector<Row> controlRows();

} // namespace stator::conformance

#endif // STATOR_TESTS_CONFORMANCE_CASE_H
