// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-ptx/Command.h"

#include "runtime/simulator/Program.h"
#include "runtime/simulator/Trace.h"
#include "tools/stator-ptx/Argument.h"
#include "tools/stator-ptx/Output.h"

#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

namespace stator::ptxtool {

using namespace sim;

namespace {

std::vector<uint32_t> numbers(const std::string &text, const char *option, size_t least, size_t most) {
  std::vector<uint32_t> out;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    uint64_t value = 0;
    if (!parseElement(Type::u32, word, value)) throw UsageError(std::string(option) + ": '" + word + "' is no number");
    out.push_back(static_cast<uint32_t>(value));
  }
  if (out.size() < least || out.size() > most)
    throw UsageError(std::string(option) + " takes " + std::to_string(least) + " to " + std::to_string(most) +
                     " numbers, separated by commas; '" + text + "' has " + std::to_string(out.size()));
  return out;
}

Dim3 dim3(const std::string &text, const char *option) {
  std::vector<uint32_t> n = numbers(text, option, 1, 3);
  n.resize(3, 1);
  return {n[0], n[1], n[2]};
}

std::string readText(const CommandOptions &options, std::istream &in) {
  std::ostringstream text;
  if (options.file == "-") {
    text << in.rdbuf();
    return text.str();
  }
  std::ifstream file(options.file, std::ios::binary);
  if (!file || file.peek() == std::ifstream::traits_type::eof())
    throw UsageError(options.file + (file.is_open() ? ": is empty or cannot be read" : ": cannot be opened"));
  text << file.rdbuf();
  return text.str();
}

/// One run of the tool: the device's memory, the loaded module, the buffers.
class Session {
public:
  Session(const CommandOptions &options, std::istream &in, std::ostream &out, std::ostream &err)
      : options(options), in(in), out(out), err(err), chip(*findChip(options.settings.chips.at(0))),
        memory(0, static_cast<uint64_t>(chip.globalBytes)) {}

  int run() {
    std::string why;
    LoadFault fault = LoadFault::none;
    program = loadProgram(memory, chip, readText(options, in), why, fault);
    if (!program) throw UsageError(options.file + ": " + why);
    if (options.list) {
      listKernels(*program, options.json, out);
      return 0;
    }
    choose();
    place();
    Launch launch = shape();
    bool clusterGiven = !options.cluster.empty();
    LaunchLimits limits = defaultLimits(*kernel);
    // A program would raise the limit before a launch that needs it; only the chip's own limit is left.
    limits.maxDynamicShared = chip.sharedPerBlockOptin;
    limits.nonPortableCluster = options.nonPortableCluster;
    if (checkLaunch(launch, limits, clusterGiven, why) != Refusal::none) throw UsageError(why);
    // Questions about results are checked before the work is done.
    for (const std::string &p : options.prints) report.prints.push_back(printOf(p));
    std::vector<std::pair<size_t, std::string>> files = outputFiles();

    WarpTrace trace(traceOptions(), [&](const std::string &line) {
      if (options.json)
        report.trace.push_back(line);
      else
        out << line << "\n";
    });
    if (!options.trace.empty()) launch.trace = &trace;
    auto start = std::chrono::steady_clock::now();
    LaunchResult result = execute(launch);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.kernel = kernel;
    report.launch = &launch;
    report.result = &result;
    report.counters = options.counters || options.json;
    report.lines = options.lines;
    report.write(options.json, out);
    for (const auto &[index, path] : files) {
      const Argument &a = arguments[index];
      writeNpy(path, a.type, a.shape, bytesOf(index));
    }
    for (const Finding &f : result.findings)
      if (f.severity == Severity::error) return 1;
    return 0;
  }

private:
  void choose() {
    std::string names;
    for (const auto &[name, k] : program->kernels) names += (names.empty() ? "" : ", ") + name;
    if (options.kernel.empty() && program->kernels.size() == 1) {
      kernel = program->kernels.begin()->second.get();
      return;
    }
    auto it = program->kernels.find(options.kernel);
    if (it != program->kernels.end()) {
      kernel = it->second.get();
      return;
    }
    if (names.empty()) throw UsageError(options.file + ": the file holds no kernel");
    throw UsageError(options.kernel.empty() ? "--launch must name one of the kernels " + names
                                            : "no kernel '" + options.kernel + "'; the file has " + names);
  }

  /// Buffers into memory, arguments into the parameter block.
  void place() {
    const auto &wanted = kernel->function->params;
    for (const std::string &text : options.arguments) arguments.push_back(parseArgument(text));
    if (arguments.size() != wanted.size())
      throw UsageError("kernel " + kernel->name + " has " + std::to_string(wanted.size()) + " parameters, " +
                       std::to_string(arguments.size()) + " arguments are given (see --list)");
    params.assign(kernel->paramBytes, 0);
    for (size_t i = 0; i < arguments.size(); ++i) {
      Argument &a = arguments[i];
      std::string which = "argument " + std::to_string(i) + " ('" + options.arguments[i] + "')";
      uint64_t value = a.bits;
      size_t bytes = 8;
      if (a.kind == Argument::Kind::buffer) {
        size_t size = a.count() * sizeOf(a.type);
        if (a.name.empty()) a.name = "argument " + std::to_string(i);
        value = memory.allocate(size, a.name);
        if (!value) throw UsageError(which + ": the device has not enough memory");
        if (a.defined) {
          std::memcpy(memory.host(value, size), a.data.data(), size);
          Memory::define(*memory.find(value), value, size);
        }
      } else if (a.kind == Argument::Kind::same) {
        if (a.other >= i || arguments[a.other].kind != Argument::Kind::buffer)
          throw UsageError(which + ": names no buffer before it");
        value = addresses[a.other] + a.offset;
      } else if (a.kind == Argument::Kind::number) {
        bytes = sizeOf(a.type);
      } else {
        bytes = a.data.size();
      }
      if (bytes != wanted[i].bytes)
        throw UsageError(which + " has " + std::to_string(bytes) + " bytes, parameter " + wanted[i].name + " has " +
                         std::to_string(wanted[i].bytes));
      addresses.push_back(value);
      const void *from = a.kind == Argument::Kind::bytes ? a.data.data() : static_cast<const void *>(&value);
      std::memcpy(params.data() + wanted[i].offset, from, bytes);
      a.data.clear();
      a.data.shrink_to_fit();
    }
  }

  Launch shape() {
    Launch launch;
    launch.kernel = kernel;
    launch.module = &program->module;
    launch.memory = &memory;
    launch.chip = &chip;
    launch.settings = &options.settings;
    launch.grid = dim3(options.grid, "--grid");
    launch.block = dim3(options.block, "--block");
    const uint32_t *required = kernel->function->requiredCluster;
    if (!options.cluster.empty())
      launch.cluster = dim3(options.cluster, "--cluster");
    else if (required[0])
      launch.cluster = {required[0], required[1], required[2]};
    launch.dynamicShared = static_cast<uint32_t>(options.shared);
    launch.cooperative = options.cooperative;
    if (launch.cooperative) { // cooperative groups keep the grid's barrier there
      constexpr uint64_t bytes = 64;
      launch.workspace = memory.allocate(bytes, "the grid's barrier", Allocation::Kind::module);
      if (launch.workspace) Memory::define(*memory.find(launch.workspace), launch.workspace, bytes);
    }
    launch.gridId = 1;
    launch.params = params;
    launch.perInstruction = options.lines;
    return launch;
  }

  WarpTrace::Options traceOptions() {
    WarpTrace::Options t;
    t.limit = options.traceLimit;
    if (options.trace.empty()) return t;
    size_t colon = options.trace.find(':');
    if (colon != std::string::npos) {
      Dim3 id = dim3(options.trace.substr(0, colon), "--trace");
      // Left-out coordinates are 0 here, not 1.
      std::vector<uint32_t> given = numbers(options.trace.substr(0, colon), "--trace", 1, 3);
      t.block[0] = id.x;
      t.block[1] = given.size() > 1 ? id.y : 0;
      t.block[2] = given.size() > 2 ? id.z : 0;
    }
    t.warp = numbers(options.trace.substr(colon == std::string::npos ? 0 : colon + 1), "--trace", 1, 1)[0];
    Dim3 grid = dim3(options.grid, "--grid"), block = dim3(options.block, "--block");
    if (t.block[0] >= grid.x || t.block[1] >= grid.y || t.block[2] >= grid.z ||
        t.warp >= (block.count() + kLanes - 1) / kLanes)
      throw UsageError("--trace " + options.trace + ": the launch has no such warp");
    if (options.traceLanes.empty()) return t;
    t.lanes = 0;
    for (uint32_t lane : numbers(options.traceLanes, "--trace-lanes", 1, kLanes)) {
      if (lane >= kLanes) throw UsageError("--trace-lanes: a warp has lanes 0 to 31");
      t.lanes |= 1u << lane;
    }
    return t;
  }

  size_t bufferIndex(const std::string &text, const char *option) {
    for (size_t i = 0; i < arguments.size(); ++i)
      if (!arguments[i].name.empty() && arguments[i].name == text && arguments[i].kind == Argument::Kind::buffer)
        return i;
    uint64_t index = 0;
    if (!parseElement(Type::u64, text, index) || index >= arguments.size() ||
        arguments[index].kind != Argument::Kind::buffer)
      throw UsageError(std::string(option) + ": '" + text + "' is no buffer among the arguments");
    return index;
  }

  Print printOf(const std::string &text) {
    std::vector<std::string> fields;
    std::istringstream stream(text);
    for (std::string field; std::getline(stream, field, ':');) fields.push_back(field);
    if (fields.empty() || fields.size() > 3) throw UsageError("--print takes INDEX[:FROM[:COUNT]], not '" + text + "'");
    Print print;
    print.index = bufferIndex(fields[0], "--print");
    const Argument &a = arguments[print.index];
    uint64_t from = 0, count = a.count();
    if ((fields.size() > 1 && !parseElement(Type::u64, fields[1], from)) || from >= count ||
        (fields.size() > 2 && !parseElement(Type::u64, fields[2], count)) || count == 0)
      throw UsageError("--print " + text + ": the buffer has elements 0 to " + std::to_string(a.count() - 1));
    print.name = a.name;
    print.type = a.type;
    print.shape = a.shape;
    print.from = from;
    print.count = std::min<uint64_t>(count, a.count() - from);
    print.abbreviate = fields.size() < 3 && !options.json;
    unsigned size = sizeOf(a.type);
    print.data = memory.host(addresses[print.index], a.count() * size);
    print.defined = memory.find(addresses[print.index])->defined;
    return print;
  }

  std::vector<std::pair<size_t, std::string>> outputFiles() {
    std::vector<std::pair<size_t, std::string>> files;
    for (const std::string &text : options.outputs) {
      size_t equals = text.find('=');
      if (equals == std::string::npos || equals + 1 == text.size())
        throw UsageError("--out takes INDEX=FILE.npy, not '" + text + "'");
      files.emplace_back(bufferIndex(text.substr(0, equals), "--out"), text.substr(equals + 1));
    }
    return files;
  }

  std::vector<uint8_t> bytesOf(size_t index) {
    size_t bytes = arguments[index].count() * sizeOf(arguments[index].type);
    const uint8_t *from = memory.host(addresses[index], bytes);
    return {from, from + bytes};
  }

  const CommandOptions &options;
  std::istream &in;
  std::ostream &out, &err;
  const Chip &chip;
  Memory memory;
  std::unique_ptr<Program> program;
  const Kernel *kernel = nullptr;
  std::vector<Argument> arguments;
  std::vector<uint64_t> addresses;
  std::vector<uint8_t> params;
  Report report;
};

} // namespace

int runCommand(const CommandOptions &options, std::istream &in, std::ostream &out, std::ostream &err) {
  try {
    if (options.settings.chips.empty() || !findChip(options.settings.chips[0])) {
      std::string all;
      for (const Chip &c : allChips()) all += (all.empty() ? "" : ", ") + std::string(c.name);
      throw UsageError("--chip is one of " + all);
    }
    return Session(options, in, out, err).run();
  } catch (const std::exception &e) {
    err << "stator-ptx: " << e.what() << "\n";
    return 2;
  }
}

} // namespace stator::ptxtool
