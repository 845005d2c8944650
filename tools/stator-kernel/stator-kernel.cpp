// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// stator-kernel FILE.mlir [--cpu=NAME] [--emitted] [--assembly] [--repeat=N]: compiles every fusion of a file (constant sizes) for the
// host, prints template and launches, the assembly if asked, and the time of one run on one thread on arbitrary inputs.
#include "codegen/target/host/HostTarget.h"
#include "stator/abi.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include <chrono>
#include <dlfcn.h>
#include <fstream>
#include <unistd.h>

using namespace mlir;
using namespace stator;

static double runOnce(void *library, const codegen::LoweredFusion &lowered, graph::FusionOp fusion, int repeat) {
  auto bytes = [](Value v) {
    auto type = cast<RankedTensorType>(v.getType());
    return size_t(type.getNumElements()) * elementBytes(type.getElementType());
  };
  auto aligned = [](size_t n) { return static_cast<char *>(std::aligned_alloc(64, (n + 127) / 64 * 64)); };
  std::vector<char *> inputs, results, scratch;
  for (Value v : fusion.getInputs()) {
    inputs.push_back(aligned(bytes(v)));
    bool isF32 = cast<RankedTensorType>(v.getType()).getElementType().isF32();
    for (size_t i = 0; i < bytes(v); i += 4)
      isF32 ? void(*reinterpret_cast<float *>(inputs.back() + i) = float(i * 2654435761u >> 8 & 1023) / 512 - 1)
            : void(std::memset(inputs.back() + i, 0, std::min<size_t>(4, bytes(v) - i)));
  }
  for (Value v : fusion.getResults()) results.push_back(aligned(bytes(v)));
  for (graph::DimExpr size : lowered.scratchBytes) scratch.push_back(aligned(size.getConstant()));
  double best = 1e30;
  for (int r = 0; r < repeat; ++r) {
    auto start = std::chrono::steady_clock::now();
    for (auto &launch : lowered.launches) {
      std::vector<char *> buffers;
      for (codegen::KernelBuffer b : launch.buffers)
        buffers.push_back((b.kind == codegen::KernelBuffer::Input ? inputs : b.kind == codegen::KernelBuffer::Result ? results : scratch)[b.index]);
      auto kernel = reinterpret_cast<stator_host_kernel>(dlsym(library, launch.kernel.c_str()));
      int64_t count = launch.count.getConstant();
      if (count) kernel(buffers.data(), nullptr, 0, count);
    }
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

int main(int argc, char **argv) {
  llvm::cl::opt<std::string> file(llvm::cl::Positional, llvm::cl::Required), cpu("cpu", llvm::cl::init("x86-64-v3"));
  llvm::cl::opt<bool> assembly("assembly"), emitted("emitted");
  llvm::cl::opt<int> repeat("repeat", llvm::cl::init(20));
  llvm::cl::ParseCommandLineOptions(argc, argv);
  MLIRContext context;
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  if (!module) return 1;
  int code = 0;
  module->walk([&](graph::FusionOp fusion) {
    codegen::NativeOptions options;
    options.cpu = cpu;
    codegen::HostTarget target(&context, options);
    auto begin = std::chrono::steady_clock::now();
    auto lowered = target.lower(fusion, fusion.getName());
    double emission = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (emitted) llvm::outs() << target.emitted() << "\n";
    llvm::outs().flush();
    std::string text;
    auto bytes = failed(lowered) ? FailureOr<std::string>(failure()) : codegen::compileToSharedObject(target.emitted(), options, assembly ? &text : nullptr);
    if (failed(bytes)) return void(code = 1);
    double compile = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::string path = "/tmp/stator-kernel-" + std::to_string(getpid()) + ".so";
    std::ofstream(path, std::ios::binary) << *bytes;
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    unlink(path.c_str());
    if (!library) return void(code = 1);
    llvm::outs() << text << fusion.getName() << ": " << lowered->templateName << ", " << lowered->launches.size() << " launches, emitted in "
                 << int(emission * 1e6) << " us, compiled in " << int(compile * 1e6) << " us, " << bytes->size() << " bytes, one run "
                 << llvm::format("%.2f", runOnce(library, *lowered, fusion, repeat) * 1e6) << " us\n";
    llvm::outs().flush();
    dlclose(library);
  });
  return code;
}
