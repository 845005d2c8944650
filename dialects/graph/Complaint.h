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

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_COMPLAINT_H
