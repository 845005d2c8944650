// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator/Command.h"
#include "codegen/target/host/CpuLevel.h"
#include "compiler/Registration.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include <chrono>
#include <iostream>
#include <unistd.h>

using namespace mlir;

namespace stator::cli {

/// The places a location stands for, innermost first: "file:line" lines and names of nodes.
static void describe(Location location, std::vector<std::string> &places, int depth = 0) {
  if (depth > 16 || places.size() >= 8) return;
  auto add = [&](const std::string &text) {
    if (!text.empty() && !llvm::is_contained(places, text)) places.push_back(text);
  };
  if (auto file = dyn_cast<FileLineColLoc>(location)) {
    std::string text = file.getFilename().str();
    if (file.getLine()) text += ":" + std::to_string(file.getLine());
    if (file.getColumn()) text += ":" + std::to_string(file.getColumn());
    add(text);
  } else if (auto name = dyn_cast<NameLoc>(location)) {
    add(name.getName().str());
    describe(name.getChildLoc(), places, depth + 1);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location inner : fused.getLocations()) describe(inner, places, depth + 1);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    describe(call.getCallee(), places, depth + 1);
    describe(call.getCaller(), places, depth + 1);
  }
}

static void print(Diagnostic &diagnostic) {
  bool colour = isatty(STDERR_FILENO);
  const char *word = "note";
  const char *paint = "\033[36m";
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error: word = "error"; paint = "\033[1;31m"; break;
  case DiagnosticSeverity::Warning: word = "warning"; paint = "\033[1;35m"; break;
  case DiagnosticSeverity::Remark: word = "remark"; break;
  case DiagnosticSeverity::Note: break;
  }
  std::cerr << (colour ? paint : "") << word << (colour ? "\033[0m" : "") << ": " << diagnostic.str() << "\n";
  std::vector<std::string> places;
  describe(diagnostic.getLocation(), places);
  for (const std::string &place : places) std::cerr << "  at " << place << "\n";
}

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerDialects(registry);
  // One thread: compilation is faster with what threads cost on small modules, and diagnostics come in order.
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  // A diagnostic names the place; the op's text may be a whole program.
  context->printOpOnDiagnostic(false);
  context->getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    print(diagnostic);
    for (Diagnostic &note : diagnostic.getNotes()) print(note);
    return success();
  });
  return context;
}

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
Progress::Progress(bool enabled) : enabled(enabled && isatty(STDERR_FILENO)), start(now()) {}
void Progress::step(llvm::StringRef what) {
  if (!enabled || now() - start < 1) return;
  shown = true;
  std::cerr << "\r\033[K" << what.str() << " ..." << std::flush;
}
Progress::~Progress() {
  if (shown) std::cerr << "\r\033[K" << std::flush;
}

int fail(const std::string &message) {
  std::cerr << (isatty(STDERR_FILENO) ? "\033[1;31merror\033[0m: " : "error: ") << message << "\n";
  return UserError;
}

void TargetFlags::add(CLI::App &app) {
  app.add_option("--arch", arch, "CUDA architectures, comma-separated: sm_75 to sm_121 (for --target cuda)");
  app.add_option("--cpu", cpu, "CPU level of host code: x86-64-v2, x86-64-v3, x86-64-v4, or native (the level of this machine)")->capture_default_str();
  app.add_flag("--fast-math", fastMath, "Allow contraction and approximations beyond the documented error bounds");
  app.add_flag("--no-cubins", noCubins, "PTX only, also where ptxas is found");
}

bool TargetFlags::apply(codegen::Options &options) const {
  options.host = false;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(target).split(names, ',', -1, false);
  bool cuda = false;
  for (llvm::StringRef name : names) {
    if (name == "host") options.host = true;
    else if (name == "cuda") cuda = true;
    else return fail("unknown target '" + name.str() + "': expected host, cuda or both (host,cuda)"), false;
  }
  if (cuda) {
    llvm::SmallVector<llvm::StringRef> list;
    llvm::StringRef(arch.empty() ? "sm_80,sm_90" : arch).split(list, ',', -1, false);
    for (llvm::StringRef name : list) options.cudaArchitectures.push_back(name.str());
  }
  options.cpu = cpu;
  if (!codegen::cpuLevel(cpu))
    return fail("unknown CPU level '" + cpu + "': expected x86-64-v2, x86-64-v3, x86-64-v4 or native"), false;
  options.fastMath = fastMath;
  options.cubins = !noCubins;
  return true;
}

} // namespace stator::cli
