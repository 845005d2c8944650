// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Phases.h"
#include "compiler/Program.h"
#include "compiler/frontend/DidYouMean.h"
#include "compiler/io/File.h"
#include "dialects/plan/Plan.h"
#include "tools/stator/Command.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

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

/// What the fuse phase says of neighbours that stayed apart.
void explainRefusals(ModuleOp module) {
  module.walk([](graph::FusionOp fusion) {
    auto reasons = fusion->getAttrOfType<ArrayAttr>("graph.not_fused");
    if (!reasons) return;
    std::cout << fusion.getName().str() << " was not joined by\n";
    for (auto reason : reasons.getAsRange<StringAttr>()) std::cout << "    " << reason.getValue().str() << "\n";
  });
}

int listPhases(const Common &common) {
  if (common.json) {
    auto rows = nlohmann::ordered_json::array();
    for (const Phase &phase : phases())
      rows.push_back({{"name", phase.name.str()}, {"folder", phase.folder.str()}, {"does", phase.sentence.str()}, {"leaves", phase.after.str()}});
    std::cout << rows.dump(2) << "\n";
    return Ok;
  }
  for (const Phase &phase : phases())
    std::cout << phase.name.str() << std::string(12 - phase.name.size(), ' ') << phase.sentence.str() << "\n"
              << std::string(12, ' ') << "leaves: " << phase.after.str() << "\n";
  return Ok;
}

bool checkPhases(const Flags &flags) {
  std::vector<std::string> known;
  for (const Phase &phase : phases()) known.push_back(phase.name.str());
  auto place = [&](const std::string &name) { return llvm::find(known, name) - known.begin(); };
  for (const std::string &name : {flags.startAt, flags.stopAfter})
    if (!name.empty() && !findPhase(name))
      return fail("unknown phase '" + name + "'; phases are " + llvm::join(known, ", ") + didYouMean(name, known)), false;
  if (!flags.startAt.empty() && !flags.stopAfter.empty() && place(flags.startAt) > place(flags.stopAfter))
    return fail("phase '" + flags.startAt + "' comes after phase '" + flags.stopAfter + "'"), false;
  return true;
}

/// The program as the last phase left it. On standard output for people: without sources and large weights. In a file whole, so
/// that --start-at goes on from it.
int writeProgram(ModuleOp program, const std::string &output) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags printing;
  printing.enableDebugInfo(!output.empty());
  // Not every op of the target dialects reads the short form that it writes.
  if (!output.empty() && !program.getOps<plan::ProgramOp>().empty()) printing.printGenericOpForm();
  if (output.empty()) printing.elideLargeElementsAttrs(64).elideLargeResourceString(64);
  program.print(os, printing);
  os << "\n";
  if (output.empty()) {
    std::cout << text;
    return Ok;
  }
  io::Status status = io::writeFile(output, {text});
  return status ? int(Ok) : fail(status.error());
}

/// Kernels that the plans launch, as `stator inspect` counts them.
size_t countKernels(ModuleOp plans) {
  size_t count = 0;
  for (auto program : plans.getOps<plan::ProgramOp>()) {
    llvm::StringSet<> names;
    program.walk([&](plan::LaunchOp launch) { names.insert(launch.getKernel()); });
    count += names.size();
  }
  return count;
}

nlohmann::ordered_json describe(const Compilation &result) {
  auto kernels = nlohmann::ordered_json::array();
  for (const codegen::KernelReport &kernel : result.parts.kernels) {
    nlohmann::ordered_json row = {{"device", kernel.device}, {"function", kernel.function}, {"name", kernel.name},
                                  {"kind", kernel.kind},     {"template", kernel.templateName}};
    if (!kernel.library.empty()) row["library"] = kernel.library;
    if (!kernel.sameAs.empty()) row["same_as"] = kernel.sameAs;
    row["ops"] = kernel.ops;
    row["sources"] = kernel.sources;
    kernels.push_back(std::move(row));
  }
  return kernels;
}

int run(const Flags &flags, const Common &common) {
  if (flags.listPhases) return listPhases(common);
  if (flags.input.empty()) return fail("no program given; see `stator compile --help`");
  CompileOptions options;
  if (!flags.target.apply(options.target) || !checkPhases(flags)) return UserError;
  options.startAt = flags.startAt;
  options.stopAfter = flags.stopAfter == "emit" ? "" : flags.stopAfter;
  options.dumpDirectory = flags.dump;
  options.model = llvm::sys::path::stem(flags.input).str();
  Progress progress(common.quiet, common.verbose);
  options.onPhase = [&](llvm::StringRef phase) { progress.step("phase " + phase.str()); };
  auto begin = std::chrono::steady_clock::now();
  auto context = makeContext();
  progress.step("reading " + flags.input);
  const Phase *first = findPhase(flags.startAt);
  OwningOpRef<ModuleOp> module = readProgram(*context, flags.input, flags.model, first && first->readsPlans);
  if (!module) return UserError;
  Compilation result;
  if (flags.explain && flags.stopAfter.empty() && flags.startAt.empty()) {
    // The plan of the fuse phase is gone once code is generated: run up to it on a copy first.
    CompileOptions upToFuse = options;
    upToFuse.stopAfter = "fuse";
    upToFuse.dumpDirectory.clear();
    OwningOpRef<ModuleOp> before = module->clone();
    Compilation none;
    if (failed(compile(*before, upToFuse, none))) return compileError(none);
    if (!common.json) explainRefusals(*before);
  }
  std::string output = flags.output.empty() ? options.model + ".stator" : flags.output;
  options.output = output;
  if (failed(compile(*module, options, result))) return compileError(result);
  progress.finish();
  if (!result.artifactBytes) return writeProgram(result.program, flags.output);
  if (flags.explain && !common.json) explain(result.parts);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (common.json) {
    nlohmann::ordered_json summary = {{"output", output}, {"bytes", result.artifactBytes}, {"kernels", countKernels(*result.parts.plans)}, {"seconds", seconds}};
    if (flags.explain) summary["explain"] = describe(result);
    std::cout << summary.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
  } else if (!common.quiet) {
    std::cout << output << ": " << result.artifactBytes << " bytes, " << countKernels(*result.parts.plans) << " kernels, compiled in "
              << seconds << " s\n";
  }
  return Ok;
}

} // namespace

void addCompile(CLI::App &app, Common &common, Action &action) {
  auto flags = std::make_shared<Flags>();
  CLI::App *sub = app.add_subcommand("compile", "Compile a program into one artifact file");
  sub->footer("Examples:\n  stator compile model.pt2\n  stator compile model.pt2 --target cuda --arch sm_90 -o gpu.stator --explain\n"
              "  stator compile model.pt2 --stop-after fuse | less\n"
              "  stator compile model.pt2 --stop-after fuse -o fused.mlir\n  stator compile fused.mlir --start-at lower -o model.stator\n"
              "  stator compile model.pt2 --dump-phases phases/");
  sub->add_option("PROGRAM", flags->input, "A torch.export archive (.pt2), graph JSON (.json) or graph dialect (.mlir)");
  sub->add_option("-o,--output", flags->output, "The artifact to write (default: the program's name with .stator)");
  sub->add_option("--target", flags->target.target, "What to compile for: host, cuda, or host,cuda")->capture_default_str();
  flags->target.add(*sub);
  sub->add_option("--model", flags->model, "Which model of an archive that holds several");
  sub->add_flag("--explain", flags->explain, "List every kernel with the lines that went in, and why neighbours were not fused");
  sub->add_flag("--list-phases", flags->listPhases, "List the phases of compilation and stop");
  sub->add_option("--start-at", flags->startAt, "Start at this phase: the program is what the phase before it left");
  sub->add_option("--stop-after", flags->stopAfter, "Stop after this phase and write the program as it stands (to -o whole, else readable)");
  sub->add_option("--dump-phases", flags->dump, "Write NN-PHASE.mlir after each phase into this folder");
  common.add(*sub, "The summary, the phases or the kernels (--explain) as JSON");
  sub->callback([flags, &common, &action] { action = [flags, &common] { return run(*flags, common); }; });
}

} // namespace stator::cli
