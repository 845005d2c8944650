// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/host/NativeCode.h"
#include "codegen/schedule/LowerToLLVM.h"
#include "codegen/schedule/MathExpansion.h"
#include "codegen/target/host/CpuLevel.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "lld/Common/Driver.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;

namespace stator::codegen {

static std::unique_ptr<llvm::TargetMachine> targetMachine(const NativeOptions &options, std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) return nullptr;
  // x86-64-v4 prefers 256-bit vectors; kernels are short and dense enough for the full width.
  std::string features = "-prefer-256-bit";
  llvm::TargetOptions machineOptions;
  machineOptions.AllowFPOpFusion = options.fastMath ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, options.cpu, features, machineOptions, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine) error = "this LLVM has no code generator for it";
  return machine;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = true;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

static bool emitFile(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type, SmallVectorImpl<char> &bytes) {
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr, type)) return false;
  passes.run(module);
  return true;
}

/// Whether the object calls functions of the C library's mathematics.
static bool needsLibm(ArrayRef<char> object) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(StringRef(object.data(), object.size()), "kernels"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name) {
      if (!flags) llvm::consumeError(flags.takeError());
      if (!name) llvm::consumeError(name.takeError());
      continue;
    }
    bool memory = *name == "memcpy" || *name == "memset" || *name == "memmove";
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty() && !memory) return true;
  }
  return false;
}

namespace {
/// lld reads and writes files only; these vanish with the link.
class LinkFiles {
public:
  ~LinkFiles() {
    for (auto &path : paths) llvm::sys::fs::remove(path);
  }
  /// An empty string where the file cannot be made.
  std::string make(StringRef suffix, ArrayRef<char> content) {
    llvm::SmallString<64> path;
    int file;
    if (llvm::sys::fs::createTemporaryFile("stator", suffix, file, path)) return {};
    llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
    os.write(content.data(), content.size());
    os.close();
    paths.push_back(path.str().str());
    if (os.has_error()) {
      os.clear_error();
      return {};
    }
    return paths.back();
  }

private:
  std::vector<std::string> paths;
};
} // namespace

static int runLinker(ArrayRef<const char *> arguments, std::string &messages) {
  llvm::raw_string_ostream os(messages);
  // lld keeps its state in globals: one link at a time.
  static std::mutex linking;
  std::lock_guard<std::mutex> guard(linking);
  return lld::lldMain(arguments, os, os, {{lld::Gnu, &lld::elf::link}}).retCode;
}

static FailureOr<std::string> link(ModuleOp at, ArrayRef<char> object) {
  LinkFiles files;
  std::string objectPath = files.make("o", object), sharedPath = files.make("so", {}), libmPath, messages;
  if (objectPath.empty() || sharedPath.empty()) return at.emitError("cannot write temporary files for linking");
  SmallVector<const char *> arguments = {"ld.lld", "-shared", "--hash-style=gnu", "--build-id=none", "-z", "noexecstack",
                                         "--strip-all", "--gc-sections", "-o", sharedPath.c_str(), objectPath.c_str()};
  if (needsLibm(object)) {
    // Only the library's name is wanted, not the one of this machine: an empty stand-in gives it.
    libmPath = files.make("so", {});
    const char *stub[] = {"ld.lld", "-shared", "-soname", "libm.so.6", "--gc-sections", "--noinhibit-exec", "-o", libmPath.c_str(), objectPath.c_str()};
    if (libmPath.empty() || runLinker(stub, messages)) return at.emitError("linking host kernels failed: ") << messages;
    arguments.push_back("--no-as-needed");
    arguments.push_back(libmPath.c_str());
  }
  if (runLinker(arguments, messages)) return at.emitError("linking host kernels failed: ") << messages;
  auto buffer = llvm::MemoryBuffer::getFile(sharedPath, false, false);
  if (!buffer) return at.emitError("cannot read back the linked host kernels");
  return (*buffer)->getBuffer().str();
}

FailureOr<std::string> compileToSharedObject(ModuleOp module, const NativeOptions &given, std::string *assembly) {
  std::optional<CpuLevel> level = cpuLevel(given.cpu);
  if (!level) return module.emitError("unknown CPU level '") << given.cpu << "': expected x86-64-v2, x86-64-v3, x86-64-v4 or native";
  NativeOptions options = given;
  options.cpu = level->name;
  expandMath(module, level->hasScale());
  expandNarrowFloats(module);
  carryBF16AsBits(module);
  if (failed(lowerToLLVMDialect(module))) return failure();
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> native = translateModuleToLLVMIR(module, context, "stator");
  if (!native) return module.emitError("translation to LLVM IR failed");
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = targetMachine(options, error);
  if (!machine) return module.emitError("no code for this CPU: ") << error;
  native->setTargetTriple(machine->getTargetTriple());
  native->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *native) {
    if (function.isDeclaration()) continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("target-cpu", machine->getTargetCPU());
    function.addFnAttr("target-features", machine->getTargetFeatureString());
    function.addFnAttr("no-trapping-math", "true");
    function.addFnAttr("prefer-vector-width", std::to_string(32 * level->lanes));
  }
  optimize(*native, *machine);
  if (assembly) {
    llvm::SmallVector<char> text;
    emitFile(*llvm::CloneModule(*native), *machine, llvm::CodeGenFileType::AssemblyFile, text);
    assembly->assign(text.begin(), text.end());
  }
  llvm::SmallVector<char> object;
  if (!emitFile(*native, *machine, llvm::CodeGenFileType::ObjectFile, object))
    return module.emitError("this LLVM cannot write object files for the CPU");
  return link(module, object);
}

} // namespace stator::codegen
