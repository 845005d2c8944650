// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Phases.h"
#include "compiler/Program.h"
#include "compiler/io/File.h"
#include "tools/stator/Command.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <iostream>

using namespace mlir;

namespace stator::cli {
namespace {

struct Flags {
  TargetFlags target;
  std::string input, output, model, startAt, stopAfter, dump;
  bool explain = false, listPhases = false;
};

/// Every kernel with the lines of the user's that went in, and why neighbours stayed apart.
void explain(const codegen::ArtifactParts &parts) {
  for (const codegen::KernelReport &kernel : parts.kernels) {
    std::cout << kernel.device << " " << kernel.name << ": " << kernel.kind << ", " << kernel.templateName;
    if (!kernel.library.empty()) std::cout << " (" << kernel.library << " where present)";
    if (!kernel.sameAs.empty()) std::cout << ", same code as " << kernel.sameAs;
    std::cout << "\n    ops:";
    for (const std::string &op : kernel.ops) std::cout << " " << op;
    std::cout << "\n";
    for (const std::string &line : kernel.sources) std::cout << "    from " << line << "\n";
  }
}

void explainRefusals(ModuleOp module) {
  module.walk([](graph::FusionOp fusion) {
    auto reasons = fusion->getAttrOfType<ArrayAttr>("graph.not_fused");
    if (!reasons) return;
    std::cout << fusion.getName().str() << " was not joined by\n";
    for (auto reason : reasons.getAsRange<StringAttr>()) std::cout << "    " << reason.getValue().str() << "\n";
  });
}

int run(const Flags &flags, const Common &common) {
  if (flags.listPhases) {
    for (const Phase &phase : phases())
      std::cout << phase.name.str() << std::string(12 - phase.name.size(), ' ') << phase.sentence.str() << "\n"
                << std::string(12, ' ') << "leaves: " << phase.after.str() << "\n";
    return Ok;
  }
  if (flags.input.empty()) return fail("no program given; see `stator compile --help`");
  CompileOptions options;
  if (!flags.target.apply(options.target)) return UserError;
  for (const std::string &name : {flags.startAt, flags.stopAfter})
    if (!name.empty() && !findPhase(name)) return fail("unknown phase '" + name + "'; `--list-phases` names them");
  options.startAt = flags.startAt;
  options.stopAfter = flags.stopAfter;
  options.dumpDirectory = flags.dump;
  options.model = llvm::sys::path::stem(flags.input).str();
  Progress progress(!common.quiet);
  options.onPhase = [&](llvm::StringRef phase) { progress.step(phase); };
  auto begin = std::chrono::steady_clock::now();
  auto context = makeContext();
  OwningOpRef<ModuleOp> module = readProgram(*context, flags.input, flags.model);
  if (!module) return UserError;
  Compilation result;
  OwningOpRef<ModuleOp> before;
  if (flags.explain && flags.stopAfter.empty()) {
    // The plan of the fuse phase is gone once code is generated: run up to it on a copy first.
    CompileOptions upToFuse = options;
    upToFuse.stopAfter = "fuse";
    upToFuse.dumpDirectory.clear();
    before = module->clone();
    Compilation none;
    if (failed(compile(*before, upToFuse, none))) return UserError;
    explainRefusals(*before);
  }
  std::string output = flags.output.empty() ? options.model + ".stator" : flags.output;
  options.output = output;
  if (failed(compile(*module, options, result))) return UserError;
  if (!result.artifactBytes) {
    // Stopped at a phase: the program as it stands is the output.
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os, OpPrintingFlags().enableDebugInfo(false));
    if (flags.output.empty()) std::cout << text;
    else if (io::Status status = io::writeFile(flags.output, {text}); !status) return fail(status.error());
    return Ok;
  }
  if (flags.explain) explain(result.parts);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (common.json)
    std::cout << "{\"output\": \"" << output << "\", \"bytes\": " << result.artifactBytes
              << ", \"kernels\": " << result.parts.kernels.size() << ", \"seconds\": " << seconds << "}\n";
  else if (!common.quiet)
    std::cout << output << ": " << result.artifactBytes << " bytes, " << result.parts.kernels.size()
              << " kernels, compiled in " << seconds << " s\n";
  return Ok;
}

} // namespace

void addCompile(CLI::App &app, Common &common, Action &action) {
  auto flags = std::make_shared<Flags>();
  CLI::App *sub = app.add_subcommand("compile", "Compile a program into one artifact file");
  sub->footer("Examples:\n  stator compile model.pt2\n  stator compile model.pt2 --target cuda --arch sm_90 -o gpu.stator --explain\n"
              "  stator compile model.pt2 --stop-after fuse | less");
  sub->add_option("PROGRAM", flags->input, "A torch.export archive (.pt2), graph JSON (.json) or graph dialect (.mlir)");
  sub->add_option("-o,--output", flags->output, "The artifact to write (default: the program's name with .stator)");
  sub->add_option("--target", flags->target.target, "What to compile for: host, cuda, or host,cuda")->capture_default_str();
  flags->target.add(*sub);
  sub->add_option("--model", flags->model, "Which model of an archive that holds several");
  sub->add_flag("--explain", flags->explain, "List every kernel with the lines that went in, and why neighbours were not fused");
  sub->add_flag("--list-phases", flags->listPhases, "List the phases of compilation and stop");
  sub->add_option("--start-at", flags->startAt, "Start at this phase (the program is what stands before it)");
  sub->add_option("--stop-after", flags->stopAfter, "Stop after this phase and write the program as it stands");
  sub->add_option("--dump-phases", flags->dump, "Write NN-PHASE.mlir after each phase into this folder");
  sub->add_flag("-q,--quiet", common.quiet, "Only errors");
  sub->add_flag("--json", common.json, "The summary as one line of JSON");
  sub->callback([flags, &common, &action] { action = [flags, &common] { return run(*flags, common); }; });
}

} // namespace stator::cli
