// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of tests/simulator/kernels with the host's own computation of their results.
#include "tests/unit/simulator/KernelBench.h"

#include "runtime/simulator/TensorMap.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

namespace stator::sim::test {

namespace {

template <class T> std::vector<T> randomIntegers(size_t count, uint64_t seed, uint64_t most) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T &v : values) v = static_cast<T>(random() % (most + 1));
  return values;
}

std::vector<float> randomFloats(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (float &v : values) v = static_cast<float>(static_cast<int64_t>(random() >> 40) - (1 << 23)) * 0x1p-20f;
  return values;
}

uint32_t blocksFor(size_t n, uint32_t threads) { return static_cast<uint32_t>((n + threads - 1) / threads); }

bool blockScan(Session &s) {
  size_t n = s.configuration.size;
  constexpr uint32_t threads = 256;
  auto in = randomIntegers<int32_t>(n, n, 1000000);
  uint64_t a = s.upload(in, "in"), b = s.allocate(n * 4, "out");
  s.launch("block_scan", {{blocksFor(n, threads)}, {threads}}, a, b, static_cast<int>(n));
  auto out = s.download<int32_t>(b, n);
  int32_t sum = 0;
  for (size_t i = 0; i < n; ++i) {
    sum = i % threads ? sum + in[i] : in[i];
    if (out[i] != sum) return false;
  }
  return true;
}

bool radixSort(Session &s) {
  size_t n = s.configuration.size;
  constexpr uint32_t threads = 256;
  auto keys = randomIntegers<uint32_t>(n, n, 0xffffffff);
  uint32_t blocks = blocksFor(n, threads);
  uint64_t a = s.upload(keys, "keys"), b = s.allocate(n * 4, "sorted"), counts = s.allocate(16 * blocks * 4, "counts");
  // Two passes: the second one relies on the first one's being stable.
  for (int shift : {0, 4}) {
    s.launch("radix_count", {{blocks}, {threads}}, a, counts, static_cast<int>(n), shift);
    s.launch("radix_offsets", {{1}, {256}}, counts, static_cast<int>(16 * blocks));
    s.launch("radix_scatter", {{blocks}, {threads}}, a, b, counts, static_cast<int>(n), shift);
    std::stable_sort(keys.begin(), keys.end(),
                     [&](uint32_t x, uint32_t y) { return (x >> shift & 15) < (y >> shift & 15); });
    if (s.failed || s.download<uint32_t>(b, n) != keys) return false;
    std::swap(a, b);
  }
  return true;
}

bool histogram(Session &s) {
  size_t n = s.configuration.size;
  auto data = randomIntegers<uint8_t>(n, n, 255);
  uint64_t a = s.upload(data, "data"), b = s.upload(std::vector<uint32_t>(256), "bins");
  s.launch("histogram", {{3}, {128}}, a, b, static_cast<int>(n));
  std::vector<uint32_t> expected(256);
  for (uint8_t v : data) ++expected[v];
  return s.download<uint32_t>(b, 256) == expected;
}

bool stencil(Session &s) {
  auto width = static_cast<int>(s.configuration.size), height = width * 2 / 3 + 1;
  size_t n = static_cast<size_t>(width * height);
  auto in = randomFloats(n, n);
  uint64_t a = s.upload(in, "in"), b = s.allocate(n * 4, "out");
  float c = 0.2f;
  s.launch("stencil",
           {{blocksFor(static_cast<size_t>(width), 16), blocksFor(static_cast<size_t>(height), 16)}, {16, 16}}, a, b,
           width, height, c);
  auto out = s.download<float>(b, n);
  auto at = [&](int x, int y) {
    return in[static_cast<size_t>(std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1))];
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float around = (at(x - 1, y) + at(x + 1, y)) + (at(x, y - 1) + at(x, y + 1));
      if (out[static_cast<size_t>(y * width + x)] != std::fmaf(c, std::fmaf(-4.0f, at(x, y), around), at(x, y)))
        return false;
    }
  return true;
}

bool matmulF32(Session &s) {
  auto m = static_cast<int>(s.configuration.size), n = m + 5, k = 2 * m + 3;
  auto a = randomFloats(static_cast<size_t>(m * k), 1), b = randomFloats(static_cast<size_t>(k * n), 2);
  uint64_t da = s.upload(a, "a"), db = s.upload(b, "b"), dc = s.allocate(static_cast<uint64_t>(m * n) * 4, "c");
  s.launch("matmul_f32", {{blocksFor(static_cast<size_t>(n), 16), blocksFor(static_cast<size_t>(m), 16)}, {16, 16}}, da,
           db, dc, m, n, k);
  auto c = s.download<float>(dc, static_cast<size_t>(m * n));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum = std::fmaf(a[static_cast<size_t>(i * k + l)], b[static_cast<size_t>(l * n + j)], sum);
      if (c[static_cast<size_t>(i * n + j)] != sum) return false;
    }
  return true;
}

/// f16 bits of a small integer.
uint16_t half(int value) {
  if (value == 0) return 0;
  int magnitude = std::abs(value), e = 31 - __builtin_clz(static_cast<unsigned>(magnitude));
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | (e + 15) << 10 | (magnitude << (10 - e) & 0x3ff));
}

/// Integers small enough that every product and sum is exact, whatever the order of the additions.
struct IntegerMatrices {
  IntegerMatrices(int m, int n, int k) : m(m), n(n), k(k) {
    std::mt19937 random(static_cast<unsigned>(m * 1000 + n * 100 + k));
    for (auto *matrix : {&a, &b}) {
      matrix->resize(static_cast<size_t>((matrix == &a ? m : n) * k));
      for (int &v : *matrix) v = static_cast<int>(random() % 33) - 16;
    }
  }
  /// `transposed`: b is n x k instead of k x n.
  bool isProduct(const std::vector<float> &c, bool transposed) const {
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        int sum = 0;
        for (int l = 0; l < k; ++l)
          sum += a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(transposed ? j * k + l : l * n + j)];
        if (c[static_cast<size_t>(i * n + j)] != static_cast<float>(sum)) return false;
      }
    return true;
  }
  static std::vector<uint16_t> halves(const std::vector<int> &values) {
    std::vector<uint16_t> out;
    for (int v : values) out.push_back(half(v));
    return out;
  }
  int m, n, k;
  std::vector<int> a, b;
};

bool matmulWmma(Session &s) {
  auto m = static_cast<int>(s.configuration.size) * 16, n = m + 16, k = m + 32;
  IntegerMatrices x(m, n, k);
  uint64_t a = s.upload(x.halves(x.a), "a"), b = s.upload(x.halves(x.b), "b"),
           c = s.allocate(static_cast<uint64_t>(m * n) * 4, "c");
  s.launch("matmul_wmma", {{blocksFor(static_cast<size_t>(m / 16 * (n / 16)) * 32, 128)}, {128}}, a, b, c, m, n, k);
  return x.isProduct(s.download<float>(c, static_cast<size_t>(m * n)), false);
}

/// A row-major f16 matrix as tensor copies of 64x64 boxes with 128-byte swizzle see it.
struct MapParameter {
  uint8_t bytes[TensorMap::kBytes];
};
MapParameter mapOf(uint64_t address, int rows, int columns) {
  TensorMap map;
  map.type = 6; // f16
  map.rank = 2;
  map.address = address;
  map.dims[0] = static_cast<uint64_t>(columns);
  map.dims[1] = static_cast<uint64_t>(rows);
  map.strides[0] = map.dims[0] * 2;
  map.box[0] = map.box[1] = 64;
  map.steps[0] = map.steps[1] = 1;
  map.swizzle = TensorMap::bytes128;
  if (std::string why = map.complaint(); !why.empty()) throw std::runtime_error(why);
  MapParameter parameter;
  map.write(parameter.bytes);
  return parameter;
}

bool tmaWgmma(Session &s) {
  int m = 128, n = 128, k = static_cast<int>(s.configuration.size) * 64;
  IntegerMatrices x(m, n, k);
  uint64_t a = s.upload(x.halves(x.a), "a"), b = s.upload(x.halves(x.b), "b"),
           c = s.allocate(static_cast<uint64_t>(m * n) * 4, "c");
  s.launch("tma_wgmma", {{static_cast<uint32_t>(n / 64), static_cast<uint32_t>(m / 64)}, {128}}, mapOf(a, m, k),
           mapOf(b, n, k), c, n, k);
  return x.isProduct(s.download<float>(c, static_cast<size_t>(m * n)), true);
}

bool matmulMma(Session &s) {
  auto m = static_cast<int>(s.configuration.size) * 64, n = 2 * m, k = m + 32;
  IntegerMatrices x(m, n, k);
  uint64_t a = s.upload(x.halves(x.a), "a"), b = s.upload(x.halves(x.b), "b"),
           c = s.allocate(static_cast<uint64_t>(m * n) * 4, "c");
  s.launch("matmul_mma", {{static_cast<uint32_t>(n / 64), static_cast<uint32_t>(m / 64)}, {128}}, a, b, c, n, k);
  return x.isProduct(s.download<float>(c, static_cast<size_t>(m * n)), false);
}

bool elementwise(Session &s) {
  auto n = static_cast<int>(s.configuration.size), row = 3;
  auto x = randomFloats(static_cast<size_t>(4 * n), 1), bias = randomFloats(static_cast<size_t>(4 * row), 2),
       residual = randomFloats(static_cast<size_t>(4 * n), 3);
  uint64_t dx = s.upload(x, "x"), db = s.upload(bias, "bias"), dr = s.upload(residual, "residual"),
           dy = s.allocate(static_cast<uint64_t>(n) * 16, "y");
  float scale = 0.5f;
  s.launch("elementwise", {{blocksFor(static_cast<size_t>(n), 128)}, {128}}, dx, db, dr, dy, n, row, scale);
  auto y = s.download<float>(dy, static_cast<size_t>(4 * n));
  for (size_t i = 0; i < y.size(); ++i) {
    double v = static_cast<double>(x[i] + bias[i % static_cast<size_t>(4 * row)]);
    double gelu = 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
    double want = gelu * 0.5 + static_cast<double>(residual[i]);
    // tanhf is within 2 ulp; what follows rounds three times.
    if (std::fabs(static_cast<double>(y[i]) - want) >
        1e-6 * (std::fabs(v) + std::fabs(static_cast<double>(residual[i])) + 1e-3))
      return false;
  }
  return true;
}

bool queuePush(Session &s) {
  size_t n = s.configuration.size;
  auto in = randomIntegers<uint32_t>(n, n, 100000);
  std::vector<uint32_t> expected;
  for (uint32_t v : in)
    if (v % 3 == 0) expected.push_back(v);
  uint64_t a = s.upload(in, "in"), b = s.allocate(std::max<size_t>(expected.size(), 1) * 4, "queue"),
           head = s.upload(std::vector<uint32_t>{0}, "head");
  s.launch("queue_push", {{blocksFor(n, 128)}, {128}}, a, b, head, static_cast<int>(n), uint32_t{3});
  if (s.failed || s.download<uint32_t>(head, 1)[0] != expected.size()) return false;
  auto out = s.download<uint32_t>(b, expected.size());
  std::sort(out.begin(), out.end());
  std::sort(expected.begin(), expected.end());
  return out == expected;
}

bool gridReduce(Session &s) {
  size_t n = s.configuration.size;
  auto in = randomIntegers<uint32_t>(n, n, 0xffffffff);
  uint32_t blocks = std::max(1u, std::min(40u, blocksFor(n, 512))), sum = 0;
  for (uint32_t v : in) sum += v;
  uint64_t a = s.upload(in, "in"), partial = s.allocate(blocks * 4, "partial"), out = s.allocate(4, "out");
  Session::Shape shape{{blocks}, {128}};
  shape.cooperative = true;
  s.launch("grid_reduce", shape, a, partial, out, static_cast<int>(n));
  return s.download<uint32_t>(out, 1)[0] == sum;
}

bool cooperativeGroups(Session &s) {
  auto n = static_cast<int>(s.configuration.size);
  constexpr uint32_t threads = 96;
  uint32_t blocks = blocksFor(static_cast<size_t>(n), threads), tiles = blocks * threads / 32;
  uint64_t squares = s.allocate(static_cast<uint64_t>(n) * 4, "squares"), sums = s.allocate(tiles * 4, "sums");
  Session::Shape shape{{blocks}, {threads}};
  shape.cooperative = true;
  s.launch("groups", shape, squares, sums, n);
  auto out = s.download<int>(sums, tiles);
  for (int t = 0; t < static_cast<int>(tiles); ++t) {
    int want = 0;
    for (int i = 32 * t; i < std::min(n, 32 * t + 32); ++i) want += (n - 1 - i) * (n - 1 - i);
    if (out[static_cast<size_t>(t)] != want) return false;
  }
  return true;
}

bool pipelineCopy(Session &s) {
  auto tiles = static_cast<int>(s.configuration.size);
  constexpr uint32_t blocks = 3, threads = 128;
  size_t n = size_t{blocks} * static_cast<size_t>(tiles) * threads * 4;
  auto in = randomFloats(n, n);
  uint64_t a = s.upload(in, "in"), b = s.allocate(n * 4, "out");
  s.launch("pipeline_copy", {{blocks}, {threads}}, a, b, tiles);
  auto out = s.download<float>(b, n);
  for (size_t i = 0; i < n / 4; ++i) {
    size_t neighbour = i / threads * threads + (i + 1) % threads;
    for (size_t j = 0; j < 4; ++j)
      if (out[4 * i + j] != in[4 * i + j] + in[4 * neighbour + j]) return false;
  }
  return true;
}

} // namespace

const std::vector<KernelCase> &kernelCases() {
  static const std::vector<KernelCase> cases = {
      {"block_scan", "a100", {1, 33, 256, 1000}, blockScan}, {"radix_sort", "a100", {1, 300, 5000}, radixSort},
      {"histogram", "a100", {1, 500, 10000}, histogram},     {"stencil", "a100", {1, 16, 37}, stencil},
      {"matmul_f32", "a100", {1, 16, 27}, matmulF32},        {"matmul_wmma", "a100", {1, 3}, matmulWmma},
      {"tma_wgmma", "h100", {1, 2, 3, 5}, tmaWgmma},         {"matmul_mma", "a100", {1, 2}, matmulMma},
      {"elementwise", "a100", {1, 100, 1000}, elementwise},  {"queue", "a100", {1, 100, 3000}, queuePush},
      {"grid_reduce", "a100", {1, 1000, 30000}, gridReduce}, {"groups", "a100", {1, 200, 1000}, cooperativeGroups},
      {"pipeline", "a100", {1, 2, 5}, pipelineCopy},
  };
  return cases;
}

std::string kernelText(const std::string &file) {
  std::ifstream in("tests/simulator/kernels/" + file + ".ptx");
  if (!in) throw std::runtime_error("cannot open the PTX of " + file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<Configuration> configurationsOf(const KernelCase &kernel) {
  using Async = Settings::Async;
  std::vector<Configuration> all;
  for (size_t size : kernel.sizes) {
    all.push_back({size, 0, Async::early});
    all.push_back({size, 0, Async::late});
    all.push_back({size, 1, Async::random});
    all.push_back({size, 2, Async::late});
    all.push_back({size, 7, Async::random});
  }
  return all;
}

} // namespace stator::sim::test
