// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/codegen/KernelRunner.h"
#include "mlir/Parser/Parser.h"
#include <dlfcn.h>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace mlir;

namespace stator::test {

KernelRunner::KernelRunner(const std::string &text, const std::string &cpu) {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  if (!module) return;
  graph::FusionOp fusion;
  module->walk([&](graph::FusionOp op) { fusion = op; });
  codegen::NativeOptions options;
  options.cpu = cpu;
  codegen::HostTarget target(&context, options);
  auto result = target.lower(fusion, "kernel");
  EXPECT_TRUE(succeeded(result));
  if (failed(result)) return;
  lowered = *result;
  std::vector<codegen::ModuleImage> images;
  std::vector<codegen::Blob> blobs;
  EXPECT_TRUE(succeeded(target.finish(images, blobs)));
  if (blobs.empty()) return;
  std::string path = "/tmp/stator-test-" + std::to_string(getpid()) + ".so";
  std::ofstream(path, std::ios::binary) << blobs[0].bytes;
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_TRUE(library) << dlerror();
  unlink(path.c_str());
}

KernelRunner::~KernelRunner() {
  if (library) dlclose(library);
}

void KernelRunner::run(std::vector<const void *> inputs, std::vector<void *> results,
                       const std::map<std::string, int64_t> &symbols, int pieces) {
  auto evaluate = [&](graph::DimExpr expr) {
    return expr
        .evaluate([&](StringRef name) -> std::optional<int64_t> {
          auto it = symbols.find(name.str());
          return it == symbols.end() ? std::nullopt : std::optional<int64_t>(it->second);
        })
        .value();
  };
  std::vector<std::vector<char>> scratch;
  for (graph::DimExpr bytes : lowered.scratchBytes) scratch.emplace_back(evaluate(bytes));
  for (auto &launch : lowered.launches) {
    auto kernel = reinterpret_cast<stator_host_kernel>(dlsym(library, launch.kernel.c_str()));
    ASSERT_TRUE(kernel) << launch.kernel;
    std::vector<char *> buffers;
    for (codegen::KernelBuffer buffer : launch.buffers)
      buffers.push_back(buffer.kind == codegen::KernelBuffer::Input
                            ? const_cast<char *>(static_cast<const char *>(inputs[buffer.index]))
                        : buffer.kind == codegen::KernelBuffer::Result ? static_cast<char *>(results[buffer.index])
                                                                       : scratch[buffer.index].data());
    std::vector<int64_t> sizes;
    for (graph::DimExpr size : launch.sizes) sizes.push_back(evaluate(size));
    int64_t count = evaluate(launch.count);
    for (int piece = pieces; piece-- > 0;) {
      int64_t begin = count * piece / pieces, end = count * (piece + 1) / pieces;
      if (begin < end) kernel(buffers.data(), sizes.data(), begin, end);
    }
  }
}

} // namespace stator::test
