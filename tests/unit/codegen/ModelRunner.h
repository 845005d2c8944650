// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a function with codegen, packs the artifact in memory, runs it through the runtime's C API, and compares every
// output with the evaluator's.
#ifndef STATOR_TESTS_UNIT_CODEGEN_MODELRUNNER_H
#define STATOR_TESTS_UNIT_CODEGEN_MODELRUNNER_H

#include "codegen/Codegen.h"
#include "dialects/graph/Evaluator.h"
#include "stator/runtime.h"

namespace stator::test {

class ModelRunner {
public:
  explicit ModelRunner(const std::string &text, codegen::Options options = {});
  ~ModelRunner();
  bool ok() const { return model != nullptr; }

  /// Runs evaluator and runtime on inputs filled from a seed (floats in [-scale, scale], integers in [0, integers)), with
  /// dynamic dimensions from `sizes`; expects outputs to agree within rtol * |expected| + atol, integers exactly.
  void check(const std::map<std::string, int64_t> &sizes = {}, double rtol = 1e-5, double atol = 1e-6, double scale = 2,
             int64_t integers = 5, bool libraries = true, int threads = 2);
  /// Where check() runs: "host", or "cuda" through the driver at `driver`.
  void runOn(const std::string &device, const std::string &driver) {
    this->device = device;
    this->driver = driver;
  }
  const codegen::ArtifactParts &parts() const { return artifact; }
  std::string manifest() const;

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> original, compiled;
  codegen::ArtifactParts artifact;
  std::string archive, device = "host", driver;
  stator_model *model = nullptr;
};

} // namespace stator::test

#endif // STATOR_TESTS_UNIT_CODEGEN_MODELRUNNER_H
