// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An error about an op, as verifiers and type inference report it: it names both parties, with a note at each value
// that disagrees.
#ifndef STATOR_DIALECTS_GRAPH_COMPLAINT_H
#define STATOR_DIALECTS_GRAPH_COMPLAINT_H

#include "dialects/graph/Symbols.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace stator::graph {

/// Collects the message; reported when it goes out of scope. Without a location (type inference that only asks) nothing
/// is said. Converts to failure, so that `return Complaint(...) << "...";` reads as it should.
class Complaint {
public:
  Complaint(std::optional<mlir::Location> location, llvm::StringRef op) {
    if (location) {
      diagnostic.emplace(mlir::emitError(*location));
      *diagnostic << "'" << op << "' op ";
    }
  }
  explicit Complaint(mlir::Operation *op) : Complaint(op->getLoc(), op->getName().getStringRef()) {}

  template <typename T> Complaint &operator<<(const T &part) {
    if (diagnostic) *diagnostic << part;
    return *this;
  }
  Complaint &operator<<(DimExpr dim) { return *this << dim.str(); }

  /// Adds a note where `value` is defined; `role` says what it is to the op.
  Complaint &at(mlir::Value value, llvm::StringRef role) {
    if (diagnostic) diagnostic->attachNote(value.getLoc()) << role << " is defined here, of type " << value.getType();
    return *this;
  }
  Complaint &at(mlir::Operation *op, llvm::StringRef role) {
    if (diagnostic) diagnostic->attachNote(op->getLoc()) << role << " is here";
    return *this;
  }

  operator llvm::LogicalResult() const { return mlir::failure(); }

private:
  std::optional<mlir::InFlightDiagnostic> diagnostic;
};

/// Where a rule that verification and type inference share reports what it refuses: at the op being verified, or at the
/// location of one being built (silent where that is unknown).
class Refusal {
public:
  explicit Refusal(mlir::Operation *op) : Refusal(op->getLoc(), op->getName().getStringRef()) {}
  Refusal(std::optional<mlir::Location> location, llvm::StringRef opName) : location(location), opName(opName) {}

  Complaint complain() const { return Complaint(location, opName); }
  /// Reports `text` and answers failure; `other` is the party it disagrees with and gets a note at its definition.
  llvm::LogicalResult operator()(const llvm::Twine &text, mlir::Value other = {}) const {
    Complaint complaint = complain();
    complaint << text;
    if (other) complaint.at(other, "the other party");
    return complaint;
  }

private:
  std::optional<mlir::Location> location;
  llvm::StringRef opName;
};

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_COMPLAINT_H
