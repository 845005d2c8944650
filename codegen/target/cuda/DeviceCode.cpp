// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/cuda/DeviceCode.h"
#include "codegen/schedule/LowerToLLVM.h"
#include "codegen/schedule/MathExpansion.h"
#include "codegen/target/cuda/DeviceMath.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>

using namespace mlir;

namespace stator::codegen {

static std::unique_ptr<llvm::TargetMachine> targetMachine(const CudaArchitecture &architecture, bool fastMath,
                                                          std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = fastMath ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, architecture.name, "+ptx" + std::to_string(architecture.ptx), options,
                                  std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

FailureOr<std::unique_ptr<llvm::Module>> translateKernels(ModuleOp narrow, ModuleOp wide, llvm::LLVMContext &context) {
  registerBuiltinDialectTranslation(*narrow.getContext());
  registerLLVMDialectTranslation(*narrow.getContext());
  registerNVVMDialectTranslation(*narrow.getContext());
  std::unique_ptr<llvm::Module> all;
  for (auto [module, bits] : {std::pair(narrow, 32u), std::pair(wide, 64u)}) {
    if (module.getBody()->empty()) continue;
    expandMath(module);
    expandNarrowFloats(module);
    callDeviceMath(module);
    if (failed(lowerToLLVMDialect(module, bits))) return failure();
    std::unique_ptr<llvm::Module> part = translateModuleToLLVMIR(module, context, "stator");
    if (!part) return module.emitError("translation to LLVM IR failed");
    if (!all)
      all = std::move(part);
    else if (llvm::Linker::linkModules(*all, std::move(part)))
      return module.emitError("two kernels have one name");
  }
  return all;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

/// Links what the kernels call of libdevice, as internal functions.
static LogicalResult linkLibdevice(ModuleOp at, llvm::Module &module, StringRef path) {
  const llvm::Function *needed = nullptr;
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with("__nv_") && !needed) needed = &function;
  if (!needed) return success();
  if (path.empty())
    return at.emitError("kernels call ")
           << needed->getName()
           << " of NVIDIA's libdevice, which was not found: install the CUDA toolkit or the "
              "Python wheel nvidia-nvvm, or name the toolkit's folder";
  auto buffer = llvm::MemoryBuffer::getFile(path, false, false);
  if (!buffer) return at.emitError("cannot read ") << path << ": " << buffer.getError().message();
  auto library = llvm::getOwningLazyBitcodeModule(std::move(*buffer), module.getContext());
  if (!library) return at.emitError("cannot read ") << path << ": " << llvm::toString(library.takeError());
  llvm::StringSet<> before;
  for (const llvm::Function &function : module)
    if (!function.isDeclaration()) before.insert(function.getName());
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  // Without a listener the context would end the process.
  std::string said;
  auto listen = [](const llvm::DiagnosticInfo *info, void *text) {
    llvm::raw_string_ostream os(*static_cast<std::string *>(text));
    llvm::DiagnosticPrinterRawOStream printer(os);
    info->print(printer);
  };
  module.getContext().setDiagnosticHandlerCallBack(listen, &said);
  bool unlinked = llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded);
  module.getContext().setDiagnosticHandlerCallBack(nullptr);
  if (unlinked) return at.emitError("cannot link ") << path << ": " << said;
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && !before.contains(function.getName()))
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  return success();
}

FailureOr<std::string> emitPtx(ModuleOp at, const llvm::Module &kernels, const CudaArchitecture &architecture,
                               StringRef libdevice, bool fastMath) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = targetMachine(architecture, fastMath, error);
  if (!machine) return at.emitError("no code for ") << architecture.name << ": " << error;
  std::unique_ptr<llvm::Module> module = llvm::CloneModule(kernels);
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  // Subnormals are numbers.
  module->addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 0u);
  if (failed(linkLibdevice(at, *module, libdevice))) return failure();
  for (llvm::Function &function : *module)
    if (!function.isDeclaration()) function.addFnAttr(llvm::Attribute::NoUnwind);
  optimize(*module, *machine);
  llvm::SmallVector<char> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return at.emitError("this LLVM cannot write PTX");
  passes.run(*module);
  return std::string(text.begin(), text.end());
}

FailureOr<std::string> assemble(StringRef ptxas, StringRef ptx, StringRef architecture, ArrayRef<StringRef> flags,
                                std::string &messages) {
  llvm::SmallString<64> source, binary, output;
  int file;
  if (llvm::sys::fs::createTemporaryFile("stator", "ptx", file, source) ||
      llvm::sys::fs::createTemporaryFile("stator", "cubin", binary) ||
      llvm::sys::fs::createTemporaryFile("stator", "txt", output)) {
    messages = "cannot create a temporary file";
    return failure();
  }
  llvm::raw_fd_ostream(file, /*shouldClose=*/true) << ptx;
  std::string arch = ("-arch=" + architecture).str();
  SmallVector<StringRef> arguments{ptxas, arch, source, "-o", binary};
  llvm::append_range(arguments, flags);
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(output), StringRef(output)};
  int code = llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt, redirects, 0, 0, &messages);
  auto read = [](StringRef path) {
    auto buffer = llvm::MemoryBuffer::getFile(path, false, false);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  };
  messages += read(output);
  std::string bytes = read(binary);
  for (StringRef path : {source.str(), binary.str(), output.str()}) llvm::sys::fs::remove(path);
  if (code != 0) return failure();
  return bytes;
}

} // namespace stator::codegen
