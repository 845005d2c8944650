// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions, pools, resizing.
#include "tests/conformance/Case.h"

namespace stator::conformance {

static Form convolution(const std::string &x, const std::string &w, const std::string &out, const std::string &strides,
                        const std::string &low, const std::string &high, const std::string &dilations, int groups,
                        const std::string &transposed = "", const std::string &outputPadding = "") {
  std::string zeros = outputPadding;
  if (zeros.empty())
    for (char c : strides) zeros += c == ',' ? ", " : zeros.empty() || zeros.back() == ' ' ? "0" : "";
  return {"x[" + x + "], w[" + w + "] -> [" + out + "]",
          "%r = graph.convolution %x, %w strides = [" + strides + "] low = [" + low + "] high = [" + high +
              "] dilations = [" + dilations + "] groups = " + std::to_string(groups) + transposed +
              " output_padding = [" + zeros + "] : $x, $w"};
}

std::vector<Row> windowRows() {
  const std::vector<Form> convolutions = {
      convolution("2, 3, 10, 12", "8, 3, 3, 3", "2, 8, 10, 12", "1, 1", "1, 1", "1, 1", "1, 1", 1),
      convolution("1, 8, 11, 9", "16, 4, 3, 2", "1, 16, 5, 9", "2, 1", "1, 0", "0, 1", "1, 1", 2),
      convolution("1, 6, 9, 9", "6, 1, 3, 3", "1, 6, 5, 5", "1, 1", "0, 0", "0, 0", "2, 2", 6),
      convolution("n, 3, 17", "5, 3, 4", "n, 5, 14", "1", "0", "0", "1", 1),
      convolution("1, 2, 4, 5, 6", "3, 2, 2, 2, 2", "1, 3, 3, 4, 5", "1, 1, 1", "0, 0, 0", "0, 0, 0", "1, 1, 1", 1),
      convolution("1, 4, 5", "4, 3, 2", "1, 3, 11", "2", "0", "0", "1", 1, " transposed", "1"),
      convolution("1, 4, 5, 4", "4, 2, 3, 3", "1, 4, 9, 7", "2, 2", "1, 1", "1, 1", "1, 1", 2, " transposed"),
      convolution("1, 2, 3", "4, 2, 1", "1, 4, 3", "1", "0", "0", "1", 1),
  };
  std::vector<Row> rows = {
      {"convolution", {"f32", "f16", "bf16", "f64"}, exact, convolutions, Fill::Integers},
      {"convolution", {"f32"}, sumOf(73), convolutions, Fill::Random},
  };
  auto pool = [](const std::string &op, const std::string &x, const std::string &out, const std::string &attributes) {
    bool max = op == "max_pool";
    return Form{"x[" + x + "] -> [" + out + "]" + (max ? ", [" + out + "]:i64" : ""),
                std::string(max ? "%r:2" : "%r") + " = graph." + op + " %x " + attributes + " : $x"};
  };
  const std::vector<Form> maxPools = {
      pool("max_pool", "1, 2, 6, 6", "1, 2, 4, 4",
           "kernel = [3, 3] strides = [2, 2] padding = [1, 1] dilations = [1, 1] ceil_mode"),
      pool("max_pool", "n, 3, 9", "n, 3, 4", "kernel = [2] strides = [2] padding = [0] dilations = [2]"),
      pool("max_pool", "2, 1, 4, 5, 6", "2, 1, 3, 4, 5",
           "kernel = [2, 2, 2] strides = [1, 1, 1] padding = [0, 0, 0] dilations = [1, 1, 1]"),
      pool("max_pool", "1, 5, 33, 31", "1, 5, 16, 15",
           "kernel = [3, 3] strides = [2, 2] padding = [0, 0] dilations = [1, 1]"),
  };
  rows.push_back({"max_pool", {"f32", "f16", "bf16", "f64", "i64", "i8", "ui8"}, exact, maxPools, Fill::Special});
  const std::vector<Form> avgPools = {
      pool("avg_pool", "1, 2, 6, 6", "1, 2, 4, 4", "kernel = [3, 3] strides = [2, 2] padding = [1, 1] ceil_mode"),
      pool("avg_pool", "1, 2, 6, 6", "1, 2, 4, 4",
           "kernel = [3, 3] strides = [2, 2] padding = [1, 1] ceil_mode exclude_padding"),
      pool("avg_pool", "n, 3, 8", "n, 3, 4", "kernel = [2] strides = [2] padding = [0] divisor = 3"),
      pool("avg_pool", "2, 1, 4, 5, 6", "2, 1, 2, 2, 3", "kernel = [2, 2, 2] strides = [2, 2, 2] padding = [0, 0, 0]"),
  };
  const Form adaptive[] = {{"x[1, 2, 7, 6] -> [1, 2, 3, 4]", "%r = graph.adaptive_avg_pool %x : $x to $0"},
                           {"x[n, 3, 5] -> [n, 3, 1]", "%r = graph.adaptive_avg_pool %x : $x to $0"},
                           {"x[2, 1, 3, 3] -> [2, 1, 5, 3]", "%r = graph.adaptive_avg_pool %x : $x to $0"}};
  rows.push_back({"avg_pool", floatTypes, sumOf(12), avgPools, Fill::Random});
  rows.push_back(
      {"adaptive_avg_pool", floatTypes, sumOf(14), {std::begin(adaptive), std::end(adaptive)}, Fill::Random});
  auto resize = [](const std::string &x, const std::string &out, const std::string &mode) {
    return Form{"x[" + x + "] -> [" + out + "]", "%r = graph.resize %x " + mode + " : $x to $0"};
  };
  rows.push_back({"resize",
                  floatTypes + std::vector<std::string>{"ui8"},
                  exact,
                  {resize("1, 2, 6, 5", "1, 2, 9, 3", "nearest {scales = array<f64>}"),
                   resize("n, 3, 7", "n, 3, 20", "nearest_exact {scales = array<f64>}"),
                   resize("1, 2, 3, 4, 5", "1, 2, 6, 8, 10", "nearest {scales = array<f64: 2.0, 2.0, 2.0>}")},
                  Fill::Special});
  rows.push_back({"resize",
                  floatTypes,
                  sumOf(16),
                  {resize("1, 2, 6, 5", "1, 2, 9, 3", "linear {scales = array<f64>}"),
                   resize("1, 2, 6, 5", "1, 2, 9, 3", "linear {align_corners, scales = array<f64>}"),
                   resize("n, 3, 7", "n, 3, 20", "linear {scales = array<f64: 2.5>}"),
                   resize("1, 1, 3, 4, 5", "1, 1, 6, 3, 5", "linear {scales = array<f64>}"),
                   resize("1, 2, 6, 5", "1, 2, 9, 3", "cubic {scales = array<f64>}"),
                   resize("1, 2, 6, 5", "1, 2, 9, 3", "cubic {align_corners, scales = array<f64>}")},
                  Fill::Random});
  return rows;
}

} // namespace stator::conformance
