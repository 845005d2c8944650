// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator/Command.h"
#include "codegen/target/cuda/Architectures.h"
#include "codegen/target/host/CpuLevel.h"
#include "compiler/Places.h"
#include "compiler/Registration.h"
#include "compiler/frontend/DidYouMean.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include <csignal>
#include <cstring>
#include <iostream>
#include <unistd.h>

using namespace mlir;

namespace stator::cli {

static void print(Diagnostic &diagnostic) {
  bool colour = colours(STDERR_FILENO);
  const char *word = "note";
  const char *paint = "\033[36m";
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error: word = "error"; paint = "\033[1;31m"; break;
  case DiagnosticSeverity::Warning: word = "warning"; paint = "\033[1;35m"; break;
  case DiagnosticSeverity::Remark: word = "remark"; break;
  case DiagnosticSeverity::Note: break;
  }
  // A progress line may stand there.
  if (isatty(STDERR_FILENO)) std::cerr << "\r\033[K";
  std::cerr << (colour ? paint : "") << word << (colour ? "\033[0m" : "") << ": " << diagnostic.str() << "\n";
  for (const std::string &place : placesOf(diagnostic.getLocation())) std::cerr << "  at " << place << "\n";
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

bool colours(int file) { return isatty(file) && !std::getenv("NO_COLOR"); }

void Common::add(CLI::App &app, const std::string &jsonHelp) {
  app.add_flag("-q,--quiet", quiet, "Only errors");
  app.add_flag("-v,--verbose", verbose, "Each step as it begins, on standard error");
  app.add_flag("--json", json, jsonHelp);
}

std::optional<std::string> checkNames(CLI::App &app, int argc, char **argv) {
  if (argc < 2) return std::nullopt;
  std::vector<std::string> commands;
  CLI::App *command = nullptr;
  for (CLI::App *sub : app.get_subcommands([](CLI::App *) { return true; })) {
    commands.push_back(sub->get_name());
    if (sub->get_name() == argv[1]) command = sub;
  }
  if (!command && argv[1][0] != '-')
    return "unknown command '" + std::string(argv[1]) + "'; commands are " + llvm::join(commands, ", ") + didYouMean(argv[1], commands);
  std::vector<std::string> options;
  for (const CLI::Option *option : (command ? command : &app)->get_options())
    for (const std::string &name : option->get_lnames()) options.push_back("--" + name);
  for (int i = command ? 2 : 1; i < argc; ++i) {
    llvm::StringRef name = llvm::StringRef(argv[i]).split('=').first;
    if (name == "--") break;
    if (!name.starts_with("--") || llvm::is_contained(options, name.str())) continue;
    return "unknown option '" + name.str() + "'" + didYouMean(name, options) + " (`stator " + (command ? command->get_name() + " " : "") +
           "--help` lists them)";
  }
  return std::nullopt;
}

// A crash handler has nothing but globals; these are the tool's.
static char stepText[128] = "starting";

void noteStep(const std::string &step) { std::snprintf(stepText, sizeof stepText, "%s", step.c_str()); }

/// Only what may be called in a signal handler.
static void onCrash(int signal) {
  auto say = [](const char *text) { (void)!::write(STDERR_FILENO, text, std::strlen(text)); };
  say("\nstator: internal error (");
  say(signal == SIGSEGV ? "segmentation fault" : signal == SIGABRT ? "abort" : signal == SIGFPE ? "arithmetic fault" : "fault");
  say(") while: ");
  say(stepText);
  say("\nThis is a bug of Stator. `--dump-phases DIR` writes the program before it; please report it with your command line.\n");
  ::_exit(OurBug);
}

void catchCrashes() {
  // A stack of its own, so that an overflow of the stack is caught too.
  static char stack[1 << 16];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_handler = onCrash;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) ::sigaction(signal, &action, nullptr);
}

int compileError(const Compilation &compilation) {
  if (compilation.brokenBy.empty()) return UserError;
  std::cerr << "stator: internal error: phase '" << compilation.brokenBy << "' left an invalid program (see above)\n"
            << "This is a bug of Stator. `--dump-phases DIR` writes the program before it; please report it with your command line.\n";
  return OurBug;
}

int fail(const std::string &message) {
  if (isatty(STDERR_FILENO)) std::cerr << "\r\033[K";
  std::cerr << (colours(STDERR_FILENO) ? "\033[1;31merror\033[0m: " : "error: ") << message << "\n";
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
    else
      return fail("unknown target '" + name.str() + "'; targets are host, cuda and both (host,cuda)" + didYouMean(name, {"host", "cuda"})), false;
  }
  if (!options.host && !cuda) return fail("--target names no target; targets are host and cuda"), false;
  if (cuda) {
    llvm::SmallVector<llvm::StringRef> list;
    std::string wanted = arch.empty() ? "sm_80,sm_90" : arch;
    llvm::StringRef(wanted).split(list, ',', -1, false);
    std::vector<std::string> known;
    for (const codegen::CudaArchitecture &each : codegen::cudaArchitectures()) known.push_back(each.name.str());
    for (llvm::StringRef name : list) {
      if (!llvm::is_contained(known, name.str()))
        return fail("unknown GPU architecture '" + name.str() + "'; there are " + llvm::join(known, ", ") + didYouMean(name, known)), false;
      options.cudaArchitectures.push_back(name.str());
    }
  }
  options.cpu = cpu;
  if (!codegen::cpuLevel(cpu))
    return fail("unknown CPU level '" + cpu + "': expected x86-64-v2, x86-64-v3, x86-64-v4 or native"), false;
  options.fastMath = fastMath;
  options.cubins = !noCubins;
  return true;
}

} // namespace stator::cli
