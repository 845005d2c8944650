// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that compiles and runs another: the installed compiler beside the installed runtime.
#include <stator/compiler.hpp>
#include <stator/runtime.hpp>

#include <cstdio>
#include <fstream>

int main() {
  std::string program = R"({"format": "stator-graph", "version": 1, "functions": [{"name": "main",
    "symbols": [{"name": "n", "min": 1, "max": 64}],
    "inputs": [{"name": "x", "dtype": "f32", "shape": ["n"]}],
    "ops": [{"op": "add", "operands": ["x", "x"], "results": [{"name": "two", "dtype": "f32", "shape": ["n"]}]},
            {"op": "relu", "operands": ["two"], "results": [{"name": "y", "dtype": "f32", "shape": ["n"]}]}],
    "outputs": ["y"]}]})";
  std::ofstream("program.json") << program;
  stator::compiler::Result result = stator::compiler::compileFile("program.json");
  for (const stator::compiler::Diagnostic &diagnostic : result.diagnostics)
    std::printf("%s\n", diagnostic.text.c_str());
  if (!result) return 1;

  // What is wrong is told with its place.
  program.replace(program.find("relu"), 4, "rleu");
  std::ofstream("wrong.json") << program;
  stator::compiler::Result wrong = stator::compiler::compileFile("wrong.json");
  if (wrong || wrong.diagnostics.size() != 1) return 2;
  if (wrong.diagnostics[0].text.find("did you mean 'relu'") == std::string::npos) return 3;
  if (wrong.diagnostics[0].places != std::vector<std::string>{"wrong.json:5"}) return 4;

  stator::compiler::Options nowhere;
  nowhere.host = false;
  stator::compiler::Result none = stator::compiler::compileFile("program.json", nowhere);
  if (none || none.diagnostics.at(0).text.find(
                  "there is nothing to compile for: neither the host nor an architecture of GPUs") != 0)
    return 7;

  try {
    std::ofstream("program.stator", std::ios::binary) << result.artifact;
    stator::Model model("program.stator");
    stator::Session session(model);
    std::vector<float> x = {1, -2, 3};
    std::vector<stator::Tensor> y = session.run({stator::view(x, {3})});
    const float *values = y.at(0).elements<float>();
    std::printf("stator %s: %g %g %g\n", stator::compiler::version(), values[0], values[1], values[2]);
    return values[0] == 2 && values[1] == 0 && values[2] == 6 ? 0 : 5;
  } catch (const stator::Error &error) {
    std::printf("%s\n", error.what());
    return 6;
  }
}
