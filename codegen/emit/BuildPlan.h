// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_CODEGEN_EMIT_BUILDPLAN_H
#define STATOR_CODEGEN_EMIT_BUILDPLAN_H

#include "codegen/emit/Artifact.h"
#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <unordered_map>

namespace stator::codegen {

/// Wraps every op that stands outside of a fusion and computes elements into a fusion of its own, named `prefix` and a
/// number, together with the splat constants that it reads.
void wrapBareOps(mlir::func::FuncOp function, llvm::StringRef prefix);

/// Constants of the program by attribute: several constants of one resource are one weight.
class WeightTable {
public:
  /// The name of the weight that holds the constant's value.
  std::string add(mlir::ElementsAttr value, llvm::StringRef preferred);
  /// Values by name, as a module of plans carries them (`plan.weights`).
  mlir::DictionaryAttr dictionary(mlir::MLIRContext *context) const;

private:
  llvm::DenseMap<mlir::Attribute, std::string> names;
  llvm::StringMap<unsigned> taken;
};
/// What is written for a weight: its bytes lie in the attribute where they can.
Weight weightOf(llvm::StringRef name, mlir::ElementsAttr value);

/// Fusions with equal bodies run one kernel.
class KernelCache {
public:
  struct Entry {
    std::string name;
    LoweredFusion lowered;
  };
  /// The identity of a fusion's body: ops, attributes, types, who uses what.
  static std::string keyOf(graph::FusionOp fusion);
  std::unordered_map<std::string, Entry> entries;
};

/// Builds the plan of `function` on `target`'s device: kernels lowered, buffers without offsets yet. The function holds
/// fusions, constants, control flow, symbol bindings and assertions only. Failure has been reported.
mlir::FailureOr<plan::ProgramOp> buildPlan(mlir::func::FuncOp function, Target &target, mlir::ModuleOp plans, WeightTable &weights,
                                           KernelCache &kernels, ArtifactParts &parts);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_EMIT_BUILDPLAN_H
