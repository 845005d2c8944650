// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stator/runtime.h"
#include "tools/stator/Command.h"
#include <iostream>
#include <nlohmann/json.hpp>

namespace stator::cli {
namespace {

using nlohmann::json;

std::string text(const json &value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string shapeText(const json &shape) {
  std::string result = "[";
  for (const json &size : shape) result += (result.size() > 1 ? ", " : "") + text(size);
  return result + "]";
}

void printSteps(const json &steps, int depth) {
  for (const json &step : steps) {
    std::cout << std::string(4 + 2 * depth, ' ');
    for (const char *key : {"step", "kind", "op", "operation", "kernel", "library"})
      if (step.contains(key)) std::cout << text(step[key]) << " ";
    if (step.contains("label") && !step["label"].empty()) std::cout << " " << text(step["label"]);
    if (step.contains("source") && !step["source"].empty()) std::cout << "  (" << text(step["source"]) << ")";
    std::cout << "\n";
    for (const char *nested : {"then", "else", "condition", "body"})
      if (step.contains(nested) && step[nested].is_array()) printSteps(step[nested], depth + 1);
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
  if (manifest.is_discarded()) return fail("the manifest is no JSON");
  std::cout << path << ": made by " << text(manifest.value("producer", json("?"))) << "\n";
  if (manifest.contains("entries"))
    for (auto &[name, entry] : manifest["entries"].items())
      std::cout << "  " << name << ": " << text(entry.value("bytes", json(0))) << " bytes\n";
  for (const json &function : manifest.value("functions", json::array())) {
    std::cout << "function " << text(function.value("name", json("main"))) << "\n";
    for (const json &symbol : function.value("symbols", json::array()))
      std::cout << "  symbol " << text(symbol["name"]) << " in [" << text(symbol.value("min", json(0))) << ", "
                << text(symbol.value("max", json("any"))) << "]\n";
    for (const char *list : {"inputs", "outputs", "states"})
      for (const json &tensor : function.value(list, json::array()))
        std::cout << "  " << std::string(list).substr(0, std::string(list).size() - 1) << " " << text(tensor.value("name", json("")))
                  << ": " << text(tensor.value("dtype", json("?"))) << " " << shapeText(tensor.value("shape", json::array())) << "\n";
    for (const json &plan : function.value("plans", json::array())) {
      std::string arena;
      for (const json &one : plan.value("arenas", json::array()))
        arena += (arena.empty() ? "" : " + ") + text(one.value("bytes", json(0)));
      std::cout << "  plan for " << text(plan.value("device", json("?"))) << ": arena " << (arena.empty() ? "0" : arena) << " bytes\n";
      printSteps(plan.value("steps", json::array()), 0);
    }
  }
  return Ok;
}

} // namespace

void addInspect(CLI::App &app, Common &common, Action &action) {
  auto path = std::make_shared<std::string>();
  CLI::App *sub = app.add_subcommand("inspect", "Print an artifact's signature, kernels, plan and memory");
  sub->footer("Examples:\n  stator inspect model.stator\n  stator inspect model.stator --json | less");
  sub->add_option("ARTIFACT", *path, "A .stator file")->required();
  sub->add_flag("--json", common.json, "The whole manifest");
  sub->callback([path, &common, &action] { action = [path, &common] { return inspect(*path, common.json); }; });
}

} // namespace stator::cli
