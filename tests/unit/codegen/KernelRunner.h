// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles one fusion for the host in this process and calls it, without plan or runtime.
#ifndef STATOR_TESTS_UNIT_CODEGEN_KERNELRUNNER_H
#define STATOR_TESTS_UNIT_CODEGEN_KERNELRUNNER_H

#include "codegen/target/host/HostTarget.h"
#include "stator/abi.h"
#include <map>

namespace stator::test {

class KernelRunner {
public:
  /// `text` is a function with one graph.fusion. Expects success.
  explicit KernelRunner(const std::string &text, const std::string &cpu = "x86-64-v3");
  ~KernelRunner();
  bool ok() const { return library != nullptr; }

  /// Runs all launches, each cut into `pieces` parts of its domain, in reverse order of the parts.
  void run(std::vector<const void *> inputs, std::vector<void *> results,
           const std::map<std::string, int64_t> &symbols = {}, int pieces = 3);
  std::string templateName() const { return lowered.templateName; }
  const codegen::LoweredFusion &fusion() const { return lowered; }

private:
  mlir::MLIRContext context;
  codegen::LoweredFusion lowered;
  void *library = nullptr;
};

} // namespace stator::test

#endif // STATOR_TESTS_UNIT_CODEGEN_KERNELRUNNER_H
