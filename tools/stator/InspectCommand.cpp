// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An artifact for people: signature, kernels, plan and memory, from its manifest (docs/artifact-format.md).
#include "stator/runtime.h"
#include "tools/stator/Command.h"
#include <iostream>
#include <nlohmann/json.hpp>

namespace stator::cli {
namespace {

using nlohmann::json;

/// Text for a terminal: names come from models, so control characters are not passed on.
std::string text(const json &value) {
  std::string result = value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace);
  for (char &c : result)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return result;
}
std::string text(const json &object, const char *key, const char *otherwise = "") {
  return object.contains(key) ? text(object[key]) : otherwise;
}
const json &list(const json &object, const char *key) {
  static const json none = json::array();
  return object.contains(key) && object[key].is_array() ? object[key] : none;
}

std::string shapeText(const json &tensor) {
  std::string result;
  for (const json &size : list(tensor, "shape")) result += (result.empty() ? "" : ", ") + text(size);
  return text(tensor, "dtype", "?") + " [" + result + "]";
}

/// Step lists inside a step.
constexpr const char *nested[] = {"then", "else", "condition", "body", "fallback"};

void printSteps(const json &steps, size_t depth) {
  for (const json &step : steps) {
    std::string op = text(step, "op", "?");
    std::cout << std::string(6 + 2 * depth, ' ') << op;
    for (const char *key : {"library", "operation", "kernel", "symbol", "message"})
      if (step.contains(key)) std::cout << " " << text(step[key]);
    if (op == "copy") std::cout << " buffer " << text(step, "from") << " to " << text(step, "to");
    if (op == "assert") std::cout << ": " << text(step, "left") << " " << text(step, "relation") << " " << text(step, "right");
    if (!list(step, "buffers").empty()) {
      std::cout << " (";
      for (size_t i = 0; i < step["buffers"].size(); ++i) std::cout << (i ? ", " : "") << text(step["buffers"][i]);
      std::cout << ")";
    }
    if (step.contains("count")) std::cout << " x " << text(step["count"]);
    if (!list(step, "grid").empty()) {
      std::cout << " grid";
      for (const json &extent : step["grid"]) std::cout << " " << text(extent);
      std::cout << " block";
      for (const json &extent : list(step, "block")) std::cout << " " << text(extent);
      if (text(step, "shared", "0") != "0") std::cout << " shared " << text(step, "shared");
    }
    if (std::string source = text(step, "source"); !source.empty()) std::cout << "  from " << source;
    std::cout << "\n";
    for (const char *key : nested) {
      if (list(step, key).empty()) continue;
      std::cout << std::string(8 + 2 * depth, ' ') << key << ":\n";
      printSteps(step[key], depth + 2);
    }
  }
}

struct Kernel {
  std::string name, label, source;
  size_t launches = 0;
  bool isFallback = false;
};

void collectKernels(const json &steps, bool isFallback, std::vector<Kernel> &kernels) {
  for (const json &step : steps) {
    if (step.contains("kernel")) {
      std::string name = text(step["kernel"]);
      auto known = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel &kernel) { return kernel.name == name; });
      if (known == kernels.end()) known = kernels.insert(kernels.end(), {name, text(step, "label"), text(step, "source"), 0, isFallback});
      ++known->launches;
      known->isFallback &= isFallback;
    }
    for (const char *key : nested) collectKernels(list(step, key), isFallback || key == std::string("fallback"), kernels);
  }
}

void printMemory(const json &plan, const json &weights) {
  std::map<std::string, size_t> spaces;
  for (const json &buffer : list(plan, "buffers")) ++spaces[text(buffer, "space", "?")];
  for (const json &arena : list(plan, "arenas")) {
    std::cout << "    arena of " << text(arena, "bytes", "0") << " bytes (" << text(arena, "memory", "device") << " memory";
    if (text(arena, "live_load", "0") != "0") std::cout << ", at least " << text(arena["live_load"]) << " live at once";
    std::cout << ") for " << spaces["arena"] << " buffers\n";
  }
  std::cout << "    buffers:";
  for (auto &[space, count] : spaces) std::cout << " " << count << " " << space;
  std::cout << "\n";
  if (!weights.is_null()) std::cout << "    weights of " << text(weights) << " bytes\n";
}

void printFunction(const json &function, const json &weights) {
  std::cout << "function " << text(function, "name", "main") << "\n";
  for (const json &symbol : list(function, "symbols")) {
    std::cout << "  size " << text(symbol, "name") << " from " << text(symbol, "min", "0") << " to " << text(symbol, "max", "any");
    if (symbol.contains("input") && symbol.contains("dim"))
      std::cout << ", of input " << text(symbol["input"]) << ", dimension " << text(symbol["dim"]);
    else if (symbol.contains("input")) std::cout << ", the value of input " << text(symbol["input"]);
    else std::cout << ", computed";
    std::cout << "\n";
  }
  for (auto [key, what] : {std::pair("inputs", "input"), std::pair("outputs", "output"), std::pair("states", "state")}) {
    size_t number = 0;
    for (const json &tensor : list(function, key)) {
      std::cout << "  " << what << " " << number << " '" << text(tensor, "name") << "': " << shapeText(tensor);
      if (tensor.value("mutated", json(false)) == json(true)) std::cout << ", written";
      std::cout << "\n";
      ++number;
    }
  }
  for (const json &plan : list(function, "plans")) {
    std::vector<Kernel> kernels;
    collectKernels(list(plan, "steps"), false, kernels);
    std::cout << "  on " << text(plan, "device", "?") << ": " << kernels.size() << " kernels, " << list(plan, "steps").size() << " steps\n";
    printMemory(plan, weights);
    std::cout << "    kernels:\n";
    for (const Kernel &kernel : kernels) {
      std::cout << "      " << kernel.name;
      if (kernel.launches > 1) std::cout << " (" << kernel.launches << " launches)";
      if (kernel.isFallback) std::cout << " (where the library is absent)";
      if (!kernel.source.empty()) std::cout << "  from " << kernel.source;
      std::cout << "\n";
    }
    std::cout << "    plan:\n";
    printSteps(list(plan, "steps"), 0);
  }
}

int inspect(const std::string &path, bool asJson) {
  stator_model *model = nullptr;
  stator_error error;
  if (stator_model_open_file(path.c_str(), nullptr, &model, &error) != STATOR_OK) return fail(error.message);
  size_t bytes = 0;
  const char *data = stator_model_manifest(model, &bytes);
  std::string manifestText(data, bytes);
  stator_model_close(model);
  if (asJson) {
    std::cout << manifestText << "\n";
    return Ok;
  }
  json manifest = json::parse(manifestText, nullptr, false);
  if (!manifest.is_object()) return fail("'" + path + "' has a manifest that is no JSON object");
  std::cout << path << ": '" << text(manifest, "model", "?") << "', made by " << text(manifest, "producer", "?") << " (format "
            << text(manifest, "format", "?") << ", ABI " << text(manifest, "abi", "?") << ")\n";
  json weights;
  std::string weightsEntry = manifest.contains("weights") ? text(manifest["weights"], "entry") : "";
  if (manifest.contains("entries"))
    for (auto &[name, entry] : manifest["entries"].items()) {
      std::cout << "  " << text(json(name)) << ": " << text(entry, "bytes", "?") << " bytes";
      for (const json &image : list(manifest, "modules"))
        if (text(image, "entry") == name) std::cout << ", " << text(image, "kind") << " for " << text(image, "cpu") << text(image, "arch");
      std::cout << "\n";
      if (name == weightsEntry) weights = entry.value("bytes", json());
    }
  for (const json &function : list(manifest, "functions")) printFunction(function, weights);
  return Ok;
}

} // namespace

void addInspect(CLI::App &app, Common &common, Action &action) {
  auto path = std::make_shared<std::string>();
  CLI::App *sub = app.add_subcommand("inspect", "Print an artifact's signature, kernels, plan and memory");
  sub->footer("Examples:\n  stator inspect model.stator\n  stator inspect model.stator --json | python3 -m json.tool | less");
  sub->add_option("ARTIFACT", *path, "A .stator file")->required();
  common.add(*sub, "The whole manifest");
  sub->callback([path, &common, &action] { action = [path, &common] { return inspect(*path, common.json); }; });
}

} // namespace stator::cli
