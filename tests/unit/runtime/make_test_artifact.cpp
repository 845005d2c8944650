// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a small host artifact: y[s0, 4] = (x + w) * 3 with the test kernels.
#include "compiler/artifact/ArtifactWriter.h"
#include "compiler/artifact/WeightsWriter.h"

#include <cstdio>
#include <fstream>
#include <iterator>

int main(int argc, char **argv) {
  if (argc != 3) return 1;
  std::ifstream file(argv[1], std::ios::binary);
  std::string image(std::istreambuf_iterator<char>(file), {});
  float w[4] = {10, 20, 30, 40};
  stator::artifact::WeightsWriter weights;
  weights.add({"w", STATOR_DTYPE_F32, {4}, {reinterpret_cast<char *>(w), sizeof w}});
  stator::artifact::ArtifactWriter writer;
  writer.add("host/main.so", image);
  writer.add("weights.safetensors", weights.pieces());
  std::string manifest =
      R"json({"format": 1, "abi": 1, "producer": "make_test_artifact", "entries": )json" + writer.entriesJson() +
      R"json(, "modules": [{"name": "main", "kind": "host", "cpu": "x86-64", "entry": "host/main.so"}],
  "weights": {"entry": "weights.safetensors"},
  "functions": [{"name": "forward", "symbols": [{"name": "s0", "min": 1, "max": 1, "input": 0, "dim": 0}],
    "inputs": [{"name": "x", "dtype": "f32", "shape": ["s0", 4]}], "outputs": [{"name": "y", "dtype": "f32", "shape": ["s0", 4]}],
    "plans": [{"device": "host", "arenas": [{"bytes": 64}],
      "buffers": [{"space": "input", "index": 0}, {"space": "weight", "name": "w"}, {"space": "arena", "offset": 0, "bytes": 16},
                  {"space": "output", "index": 0}],
      "steps": [{"op": "launch", "kernel": "add", "buffers": [0, 1, 2], "count": 4, "label": "add", "source": "model.py:3"},
                {"op": "launch", "kernel": "scale", "buffers": [2, 3], "sizes": [3], "count": "4*s0"}]}]}]})json";
  std::string error = writer.writeFile(argv[2], manifest);
  if (!error.empty()) std::fprintf(stderr, "%s\n", error.c_str());
  return !error.empty();
}
