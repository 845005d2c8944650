// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a function of graph ops on host tensors, op by op, as its ops' EvaluableOpInterface says. This is the oracle
// that compiled code is compared with, so it optimises nothing: one op after the other, floats in f64 rounded once per
// op.
#ifndef STATOR_DIALECTS_GRAPH_EVALUATOR_H
#define STATOR_DIALECTS_GRAPH_EVALUATOR_H

#include "dialects/interfaces/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <functional>

namespace stator::graph {

class Evaluator {
public:
  /// The function must verify and not change while the evaluator lives.
  explicit Evaluator(mlir::func::FuncOp function);

  /// Runs the function. `inputs` are its arguments in order without those that carry `graph.state`; they are not
  /// written. A state argument is the tensor of its name in `state`, or its `graph.initial` value in the first run;
  /// results with `graph.updates` are put there afterwards. Returns all results of the function, state updates
  /// included. An op that has no value on these inputs (an index out of range, a failed assertion) is a failure with
  /// `error()` set, and leaves `state` as it was.
  mlir::FailureOr<llvm::SmallVector<HostTensor>> run(llvm::ArrayRef<HostTensor> inputs);

  /// Why run() failed, beginning with the op's location where it was one.
  llvm::StringRef error() const { return env.message; }
  /// Largest sum of the bytes of all values that were live together in the last run, constants and inputs included.
  size_t peakBytes() const { return peak; }

  /// The mutable state, by name.
  llvm::StringMap<HostTensor> state;
  /// Told the results of every op in the order of execution, those in regions included: how to find the first op whose
  /// value differs from what was expected.
  std::function<void(mlir::Operation *, llvm::ArrayRef<HostTensor>)> onResults;

private:
  /// A region that is being run.
  struct Frame {
    mlir::Operation *owner;
    mlir::Block *block;
    mlir::Block::iterator next;
    /// graph.while: the values that its condition looks at.
    llvm::SmallVector<HostTensor> carried;
  };

  mlir::LogicalResult bindArguments(llvm::ArrayRef<HostTensor> inputs, llvm::SmallVectorImpl<HostTensor> &arguments);
  mlir::LogicalResult step(mlir::Operation *op);
  mlir::LogicalResult compute(mlir::Operation *op);
  mlir::LogicalResult allocate(mlir::Operation *op, unsigned result, HostTensor &tensor);
  mlir::LogicalResult finish(mlir::Operation *terminator);
  void enter(mlir::Operation *owner, mlir::Block &block, llvm::ArrayRef<HostTensor> arguments);
  void define(mlir::Operation *op, llvm::ArrayRef<HostTensor> results);
  void keep(mlir::Value value, const HostTensor &tensor);
  void drop(mlir::Operation *lastUser);
  mlir::LogicalResult fail(mlir::Operation *op, const llvm::Twine &text);

  mlir::func::FuncOp function;
  /// Values that no op after the key (in their own block) uses.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 2>> lastUses;

  // Of the current run.
  EvalEnv env;
  llvm::DenseMap<mlir::Value, HostTensor> values;
  llvm::SmallVector<Frame> frames;
  llvm::SmallVector<HostTensor> outcome;
  size_t live = 0, peak = 0;
};

/// Where an op came from: `file:line:column`, with the name of the program's node in front where there is one.
std::string describe(mlir::Location location);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_EVALUATOR_H
