// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Program.h"
#include "compiler/frontend/DidYouMean.h"
#include "tools/stator/Command.h"
#include "tools/stator/Executions.h"
#include "tools/stator/TensorSet.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace mlir;

namespace stator::cli {
namespace {

struct Flags {
  TargetFlags target;
  std::string program, model, output, expect, expectState, cudaLibrary;
  std::vector<std::string> inputs;
  uint64_t seed = 0;
  bool random = false, noLibraries = false, profile = false, counters = false;
  Tolerance tolerance;
  int repeat = 1, threads = 0;
};

std::unique_ptr<Execution> prepare(const Flags &flags, const Common &common, Progress &progress, bool &isEval) {
  const std::vector<std::string> targets = {"eval", "host", "cuda", "sim"};
  if (!llvm::is_contained(targets, flags.target.target))
    return fail("unknown target '" + flags.target.target + "'; targets are eval, host, cuda and sim" + didYouMean(flags.target.target, targets)), nullptr;
  isEval = flags.target.target == "eval";
  RunOptions options;
  options.device = flags.target.target;
  options.threads = flags.threads;
  options.noLibraries = flags.noLibraries;
  options.profile = flags.profile || flags.counters;
  options.cudaLibrary = flags.cudaLibrary;
  if (options.device == "sim") options.device = "cuda", options.cudaLibrary = "sim";
  if (formOf(flags.program) == ProgramForm::Artifact) {
    if (isEval) return fail("an artifact holds compiled code; --target eval needs the program itself"), nullptr;
    return openArtifact(flags.program, options);
  }
  auto context = makeContext();
  progress.step("reading " + flags.program);
  OwningOpRef<ModuleOp> module = readProgram(*context, flags.program, flags.model);
  if (!module) return nullptr;
  CompileOptions compileOptions;
  compileOptions.model = llvm::sys::path::stem(flags.program).str();
  compileOptions.onPhase = [&](llvm::StringRef phase) { progress.step("phase " + phase.str()); };
  if (isEval) {
    compileOptions.stopAfter = "normalize";
    Compilation none;
    if (failed(compile(*module, compileOptions, none))) return (void)compileError(none), nullptr;
    return evaluateModule(std::move(context), std::move(module));
  }
  TargetFlags target = flags.target;
  target.target = options.device;
  if (flags.target.target == "sim") {
    // The simulator reads PTX; that of sm_80 runs on every chip but the oldest.
    target.noCubins = true;
    if (target.arch.empty()) target.arch = "sm_80";
  }
  if (!target.apply(compileOptions.target)) return nullptr;
  return compileAndOpen(std::move(context), std::move(module), compileOptions, options);
}

/// CPU time of all threads so far: on a busy machine the fairer measure.
double processMilliseconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

/// One line for people, or a row of the JSON summary.
struct Mismatch {
  std::string what, name, difference, origin;
};

void compareAll(const std::map<std::string, io::Tensor> &got, const std::map<std::string, io::Tensor> &expected, const Flags &flags,
                const Execution &execution, const std::string &what, std::vector<Mismatch> &mismatches) {
  for (auto &[name, tensor] : expected) {
    auto found = got.find(name);
    std::string difference;
    if (found == got.end()) {
      std::vector<std::string> known;
      for (auto &[key, value] : got) known.push_back(key);
      difference = "the program has no such " + what + didYouMean(name, known);
    } else {
      difference = compareTensor(found->second, tensor, flags.tolerance);
    }
    if (!difference.empty()) mismatches.push_back({what, name, difference, what == "output" ? execution.originOfOutput(name) : ""});
  }
}

void print(const std::vector<Mismatch> &mismatches) {
  bool colour = colours(STDERR_FILENO);
  for (const Mismatch &each : mismatches) {
    std::cerr << (colour ? "\033[1;31mmismatch\033[0m: " : "mismatch: ") << each.what << " " << each.name << ": " << each.difference << "\n";
    if (!each.origin.empty()) std::cerr << "  computed by " << each.origin << "\n";
  }
}

nlohmann::ordered_json summarize(const std::map<std::string, io::Tensor> &outputs, const std::vector<double> &sorted,
                                 const std::vector<Mismatch> &mismatches, const Execution &execution) {
  auto tensors = nlohmann::ordered_json::object();
  for (auto &[name, tensor] : outputs) tensors[name] = {{"dtype", std::string(io::dtypeName(tensor.type))}, {"shape", tensor.shape}};
  nlohmann::ordered_json summary = {{"target", execution.describe()}, {"outputs", tensors}};
  summary["milliseconds"] = {{"min", sorted.front()}, {"median", sorted[sorted.size() / 2]}, {"max", sorted.back()}};
  summary["runs"] = sorted.size();
  auto rows = nlohmann::ordered_json::array();
  for (const Mismatch &each : mismatches) {
    nlohmann::ordered_json row = {{"what", each.what}, {"name", each.name}, {"difference", each.difference}};
    if (!each.origin.empty()) row["origin"] = each.origin;
    rows.push_back(std::move(row));
  }
  summary["mismatches"] = std::move(rows);
  return summary;
}

int run(const Flags &flags, const Common &common) {
  if (flags.counters && flags.target.target != "sim")
    return fail("--counters needs the simulated device: --target sim");
  std::optional<CounterFile> counterFile;
  if (flags.counters) counterFile.emplace();
  Progress progress(common.quiet, common.verbose);
  bool isEval;
  std::unique_ptr<Execution> execution = prepare(flags, common, progress, isEval);
  if (!execution) return UserError;
  std::vector<io::Tensor> inputs;
  if (flags.random || (flags.inputs.empty() && execution->inputs().empty())) {
    inputs = randomInputs(execution->inputs(), flags.seed);
  } else {
    auto tensors = readTensors(flags.inputs);
    if (!tensors) return fail(tensors.error());
    auto picked = pickInputs(execution->inputs(), *tensors, flags.inputs);
    if (!picked) return fail(picked.error());
    inputs = std::move(*picked);
  }
  std::map<std::string, io::Tensor> outputs;
  std::vector<double> milliseconds, cpuMilliseconds;
  std::vector<Mismatch> mismatches;
  progress.step("running");
  for (int i = 0; i < flags.repeat; ++i) {
    std::string error;
    double ms = 0, cpuBegin = processMilliseconds();
    if (!execution->run(inputs, i + 1 == flags.repeat ? &outputs : nullptr, ms, error)) return fail(error);
    cpuMilliseconds.push_back(processMilliseconds() - cpuBegin);
    milliseconds.push_back(ms);
    // State is compared after the first call.
    if (i == 0 && !flags.expectState.empty()) {
      auto expected = io::readSafetensors(flags.expectState);
      if (!expected) return fail(expected.error());
      compareAll(execution->state(), expected->tensors, flags, *execution, "state", mismatches);
    }
  }
  progress.finish();
  std::sort(milliseconds.begin(), milliseconds.end());
  std::sort(cpuMilliseconds.begin(), cpuMilliseconds.end());
  std::vector<KernelCounters> counters;
  if (counterFile) {
    std::string error;
    auto read = counterFile->read(error);
    if (!read) return fail(error);
    counters = std::move(*read);
    execution->addPredictions(counters);
  }
  if (!flags.output.empty()) {
    io::TensorFile file;
    file.tensors = outputs;
    if (io::Status status = io::writeSafetensors(flags.output, file); !status) return fail(status.error());
  }
  if (!flags.expect.empty()) {
    auto expected = io::readSafetensors(flags.expect);
    if (!expected) return fail(expected.error());
    compareAll(outputs, expected->tensors, flags, *execution, "output", mismatches);
  }
  if (common.json) {
    nlohmann::ordered_json summary = summarize(outputs, milliseconds, mismatches, *execution);
    summary["cpu_milliseconds"] = {{"min", cpuMilliseconds.front()}, {"median", cpuMilliseconds[cpuMilliseconds.size() / 2]}};
    if (counterFile) summary["counters"] = nlohmann::ordered_json::parse(countersJson(counters));
    std::cout << summary.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
  } else if (!common.quiet) {
    for (auto &[name, tensor] : outputs)
      std::cout << "output " << name << ": " << io::dtypeName(tensor.type) << " " << io::shapeText(tensor.shape) << "\n";
    std::cout << execution->describe() << ": " << milliseconds.front() << " ms";
    if (milliseconds.size() > 1)
      std::cout << " (best of " << milliseconds.size() << ", median " << milliseconds[milliseconds.size() / 2] << ")";
    std::cout << "\n";
  }
  if (flags.profile) execution->printProfile();
  if (counterFile && !common.json) printCounters(counters, std::cout);
  print(mismatches);
  if (!mismatches.empty()) return UserError;
  for (const std::string &file : {flags.expect, flags.expectState})
    if (!file.empty() && !common.quiet && !common.json) std::cout << "matches " << file << "\n";
  return Ok;
}

} // namespace

void addRun(CLI::App &app, Common &common, Action &action) {
  auto flags = std::make_shared<Flags>();
  CLI::App *sub = app.add_subcommand("run", "Run a program or an artifact, and compare with expected outputs");
  sub->footer("Examples:\n  stator run model.pt2 --random=1\n  stator run model.pt2 --target eval --in x.safetensors --expect y.safetensors\n"
              "  stator run model.stator --in x=x.npy --out y.safetensors --repeat 20");
  sub->add_option("PROGRAM", flags->program, "A .pt2, .json, .mlir or .stator file")->required();
  sub->add_option("--target", flags->target.target,
                  "eval (the reference interpreter), host, cuda, or sim (the simulated CUDA device)")
      ->capture_default_str();
  // What is compiled here runs here, and is thrown away.
  flags->target.cpu = "native";
  flags->target.add(*sub);
  sub->add_option("--model", flags->model, "Which model of an archive that holds several");
  sub->add_option("--in", flags->inputs, "Inputs: FILE.safetensors (keys: input names or positions) or NAME=FILE.npy");
  CLI::Option *random = sub->add_option("--random", flags->seed, "Random inputs from this seed instead");
  sub->add_option("--out", flags->output, "Write the outputs to this .safetensors file");
  sub->add_option("--expect", flags->expect, "Compare the outputs (keys 0, 1, ...) with this .safetensors file; exit 1 on mismatch");
  sub->add_option("--expect-state", flags->expectState, "Compare the state after the first call with this file");
  sub->add_option("--rtol", flags->tolerance.rtol, "Relative tolerance of floats (default: by element type)");
  sub->add_option("--atol", flags->tolerance.atol, "Absolute tolerance of floats (default: by element type)");
  sub->add_option("--repeat", flags->repeat, "Run so many times and report the best and median time")->check(CLI::PositiveNumber);
  sub->add_option("--threads", flags->threads, "Threads on the host (default: all)")->check(CLI::NonNegativeNumber);
  sub->add_flag("--no-libraries", flags->noLibraries, "Never use oneDNN and the like: Stator's own kernels only");
  sub->add_flag("--profile", flags->profile, "Print the time of every step");
  sub->add_flag("--counters", flags->counters,
                "With --target sim: what every kernel did, as the simulator counts it, beside what the plan predicted");
  sub->add_option("--cuda-library", flags->cudaLibrary, "The CUDA driver library to open");
  common.add(*sub, "The summary as one line of JSON");
  sub->callback([flags, random, &common, &action] {
    flags->random = random->count() > 0;
    action = [flags, &common] { return run(*flags, common); };
  });
}

} // namespace stator::cli
