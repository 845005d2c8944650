// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Library steps against plain loops in double precision. Where oneDNN is not installed, the fallback must run.
#include "tests/unit/runtime/TestArtifact.h"

#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <random>

using namespace stator::test;

namespace {

bool haveOneDnn() {
  static bool have = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL) != nullptr;
  return have;
}

struct Shape {
  std::vector<int64_t> dims;
  int64_t count() const {
    int64_t product = 1;
    for (int64_t d : dims) product *= d;
    return product;
  }
  std::string text() const {
    std::string result = "[";
    for (size_t i = 0; i < dims.size(); ++i) result += (i ? "," : "") + std::to_string(dims[i]);
    return result + "]";
  }
};

std::string operand(int buffer, const Shape &shape, const std::string &strides = "") {
  return R"({"buffer": )" + std::to_string(buffer) + R"(, "dtype": "f32", "dims": )" + shape.text() +
         (strides.empty() ? "" : ", \"strides\": " + strides) + "}";
}

/// A plan of one library step. Buffers: 0 first operand (input), 1 second (weight or input), 2 bias, 3 residual, 4 out.
/// The fallback fills the result with 12345, so a test sees who did it.
struct LibraryModel {
  std::string bytes;
  ModelPointer model;

  LibraryModel(const std::string &operation, const std::string &parameters, const Shape &a, const Shape &b,
               const Shape &bias, const Shape &out, std::vector<float> *weight) {
    auto input = [](const char *name, const Shape &shape) {
      return std::string("{\"name\": \"") + name + R"(", "dtype": "f32", "shape": )" + shape.text() + "}";
    };
    TestArtifact artifact(
        R"([{"name": "f", "inputs": [)" + input("a", a) + "," + input("b", b) + "," + input("bias", bias) + "," +
        input("residual", out) + R"(], "outputs": [)" + input("out", out) +
        R"(], "plans": [{"device": "host", "buffers": [{"space": "input", "index": 0}, )" +
        (weight ? R"({"space": "weight", "name": "w"})" : R"({"space": "input", "index": 1})") +
        R"(, {"space": "input", "index": 2}, {"space": "input", "index": 3}, {"space": "output", "index": 0}],
        "steps": [{"op": "library", "library": "onednn", "operation": ")" +
        operation + R"(", "parameters": )" + parameters +
        R"(, "fallback": [{"op": "fill", "to": 4, "bits": 1178657792, "width": 4}]}]}]}])");
    if (weight)
      artifact.weights.add(
          {"w", STATOR_DTYPE_F32, b.dims, {reinterpret_cast<char *>(weight->data()), weight->size() * 4}});
    bytes = artifact.bytes();
    model = open(bytes);
  }
};

std::vector<float> randoms(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(static_cast<size_t>(count));
  // Few significant bits: products and short sums are exact, so that the comparison can be tight.
  for (float &value : values) value = float(int(generator() % 65) - 32) / 16;
  return values;
}

void expectNear(const std::vector<double> &expected, const std::vector<float> &actual, double tolerance = 2e-5) {
  ASSERT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(expected[i], actual[i], tolerance * std::max(1.0, std::abs(expected[i]))) << "element " << i;
}

/// Runs with and without the library and with several threads.
std::vector<float> runAll(LibraryModel &library, std::vector<stator_tensor> inputs, const Shape &out) {
  std::vector<float> result;
  for (int threads : {2, 1}) {
    stator_session_options options = {};
    options.threads = threads;
    SessionPointer session = makeSession(library.model, options);
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::vector<float> values(size_t(out.count()), -1);
      stator_tensor output = tensor(values, out.dims);
      stator_error error;
      EXPECT_EQ(STATOR_OK, stator_session_run(session.get(), inputs.data(), inputs.size(), &output, 1, &error))
          << error.message;
      if (!result.empty()) {
        EXPECT_EQ(result, values) << "the same for every number of threads and run";
      }
      result = values;
    }
  }
  stator_session_options options = {};
  options.no_libraries = 1;
  SessionPointer session = makeSession(library.model, options);
  stator_tensor output = {};
  EXPECT_EQ(STATOR_OK, stator_session_run(session.get(), inputs.data(), inputs.size(), &output, 1, nullptr));
  EXPECT_EQ(std::vector<float>(size_t(out.count()), 12345.0f), elements<float>(output));
  if (!haveOneDnn()) {
    EXPECT_EQ(std::vector<float>(size_t(out.count()), 12345.0f), result);
  }
  return result;
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

void testMatmul(int64_t batch, int64_t m, int64_t k, int64_t n, bool transposed, bool constant) {
  SCOPED_TRACE(testing::Message() << batch << "x" << m << "x" << k << "x" << n << " " << transposed << constant);
  Shape a{{batch, m, k}}, b{{constant ? 1 : batch, k, n}}, bias{{n}}, out{{batch, m, n}};
  std::string strides = transposed ? "[" + std::to_string(k * n) + ",1," + std::to_string(k) + "]" : "";
  std::string parameters = "{\"a\": " + operand(0, a) + ", \"b\": " + operand(1, b, strides) +
                           ", \"bias\": " + operand(2, {{1, 1, n}}) + ", \"out\": " + operand(4, out) +
                           R"(, "post": [{"op": "gelu_erf"}, {"op": "add", "operand": )" + operand(3, out) +
                           R"(}, {"op": "linear", "alpha": "0.5", "beta": "-1"}]})";
  std::vector<float> av = randoms(a.count(), 1), bv = randoms(b.count(), 2), biasv = randoms(n, 3),
                     rv = randoms(out.count(), 4);
  LibraryModel library("matmul", parameters, a, b, bias, out, constant ? &bv : nullptr);
  std::vector<float> actual =
      runAll(library, {tensor(av, a.dims), tensor(bv, b.dims), tensor(biasv, bias.dims), tensor(rv, out.dims)}, out);
  if (!haveOneDnn()) return;
  std::vector<double> expected;
  for (int64_t p = 0; p < batch; ++p)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = biasv[size_t(j)];
        for (int64_t l = 0; l < k; ++l) {
          int64_t where = (constant ? 0 : p * k * n) + (transposed ? j * k + l : l * n + j);
          sum += double(av[size_t((p * m + i) * k + l)]) * bv[size_t(where)];
        }
        expected.push_back(0.5 * (gelu(sum) + rv[expected.size()]) - 1);
      }
  expectNear(expected, actual);
}

TEST(OneDnn, Matmul) {
  for (bool transposed : {false, true})
    for (bool constant : {false, true}) {
      testMatmul(1, 33, 64, 48, transposed, constant);
      testMatmul(3, 17, 5, 9, transposed, constant);
      testMatmul(2, 1, 100, 130, transposed, constant);
      testMatmul(1, 1, 1, 1, transposed, constant);
    }
  testMatmul(2, 0, 4, 5, false, true);
}

TEST(OneDnn, BadPostOps) {
  if (!haveOneDnn()) return; // the fallback asks for none of it
  Shape a{{1, 2, 3}}, b{{1, 3, 4}}, bias{{4}}, out{{1, 2, 4}};
  auto say = [&](const std::string &post) {
    std::string parameters = "{\"a\": " + operand(0, a) + ", \"b\": " + operand(1, b) +
                             ", \"out\": " + operand(4, out) + ", \"post\": [" + post + "]}";
    LibraryModel library("matmul", parameters, a, b, bias, out, nullptr);
    stator_session *session = nullptr;
    stator_error error;
    EXPECT_EQ(STATOR_BAD_ARTIFACT, stator_session_create(library.model.get(), nullptr, &session, &error)) << post;
    stator_session_destroy(session);
    return std::string(error.message);
  };
  auto holds = [](const std::string &message, const std::string &part) {
    EXPECT_NE(std::string::npos, message.find(part)) << message;
  };
  holds(say(R"({"op": "softsign"})"), "unknown post-op 'softsign'");
  holds(say(R"({"op": "clip", "alpha": "0"})"), "clip needs both bounds");
  holds(say(R"({"op": "clip", "beta": "6"})"), "clip needs both bounds");
  holds(say(R"({"op": "add"})"), "post-op 'add' needs an operand");
  holds(say(R"({"op": "relu", "operand": )" + operand(3, out) + "}"), "post-op 'relu' takes no operand");
}

struct Conv {
  int64_t n, c, o, groups;
  std::vector<int64_t> in, kernel, stride, dilation, low, high;
  bool transposed, constant, residual;
};

void testConvolution(const Conv &t) {
  std::string title;
  for (int64_t v : {t.n, t.c, t.o, t.groups}) title += std::to_string(v) + " ";
  SCOPED_TRACE(title + Shape{t.in}.text() + Shape{t.kernel}.text() + (t.transposed ? " transposed" : "") +
               (t.constant ? " constant" : "") + (t.residual ? " residual" : ""));
  size_t spatial = t.in.size();
  Shape a{{t.n, t.c}}, b{{t.transposed ? t.c : t.o, (t.transposed ? t.o : t.c) / t.groups}}, bias{{t.o}},
      out{{t.n, t.o}};
  for (size_t d = 0; d < spatial; ++d) {
    int64_t reach = t.dilation[d] * (t.kernel[d] - 1) + 1;
    a.dims.push_back(t.in[d]);
    b.dims.push_back(t.kernel[d]);
    out.dims.push_back(t.transposed ? (t.in[d] - 1) * t.stride[d] + reach - t.low[d] - t.high[d]
                                    : (t.in[d] + t.low[d] + t.high[d] - reach) / t.stride[d] + 1);
  }
  std::string parameters =
      "{\"input\": " + operand(0, a) + ", \"weight\": " + operand(1, b) + ", \"bias\": " + operand(2, bias) +
      ", \"out\": " + operand(4, out) + ", \"stride\": " + Shape{t.stride}.text() +
      ", \"dilation\": " + Shape{t.dilation}.text() + ", \"padding_low\": " + Shape{t.low}.text() +
      ", \"padding_high\": " + Shape{t.high}.text() + ", \"groups\": " + std::to_string(t.groups) +
      ", \"transposed\": " + (t.transposed ? "1" : "0") + ", \"post\": [" +
      (t.residual ? R"({"op": "add", "operand": )" + operand(3, out) + "}, " : "") + R"({"op": "relu"}]})";
  std::vector<float> av = randoms(a.count(), 1), bv = randoms(b.count(), 2), biasv = randoms(t.o, 3),
                     rv = randoms(out.count(), 4);
  LibraryModel library("convolution", parameters, a, b, bias, out, t.constant ? &bv : nullptr);
  std::vector<float> actual =
      runAll(library, {tensor(av, a.dims), tensor(bv, b.dims), tensor(biasv, bias.dims), tensor(rv, out.dims)}, out);
  if (!haveOneDnn()) return;

  // Every input element meets every tap: one loop serves both directions, padded to three dimensions.
  auto at = [&](const std::vector<int64_t> &values, size_t d, int64_t missing) {
    return d + spatial < 3 ? missing : values[d + spatial - 3];
  };
  int64_t I[3], K[3], O[3], S[3], D[3], L[3];
  for (size_t d = 0; d < 3; ++d) {
    I[d] = at(t.in, d, 1), K[d] = at(t.kernel, d, 1), S[d] = at(t.stride, d, 1), D[d] = at(t.dilation, d, 1),
    L[d] = at(t.low, d, 0);
    O[d] = d + spatial < 3 ? 1 : out.dims[2 + d + spatial - 3];
  }
  std::vector<double> expected(size_t(out.count()));
  int64_t inputsOfGroup = t.c / t.groups, outputsOfGroup = t.o / t.groups, outSize = O[0] * O[1] * O[2],
          inSize = I[0] * I[1] * I[2];
  for (int64_t n = 0; n < t.n; ++n)
    for (int64_t o = 0; o < t.o; ++o)
      for (int64_t c = 0; c < inputsOfGroup; ++c)
        for (int64_t k = 0; k < K[0] * K[1] * K[2]; ++k)
          for (int64_t p = 0; p < (t.transposed ? inSize : outSize); ++p) {
            const int64_t *walked = t.transposed ? I : O, *other = t.transposed ? O : I;
            int64_t pos[3] = {p / (walked[1] * walked[2]), p / walked[2] % walked[1], p % walked[2]};
            int64_t tap[3] = {k / (K[1] * K[2]), k / K[2] % K[1], k % K[2]};
            int64_t q = 0;
            bool inside = true;
            for (size_t d = 0; d < 3; ++d) {
              int64_t x = pos[d] * S[d] + tap[d] * D[d] - L[d];
              inside &= x >= 0 && x < other[d];
              q = q * other[d] + x;
            }
            if (!inside) continue;
            int64_t input = (n * t.c + o / outputsOfGroup * inputsOfGroup + c) * inSize + (t.transposed ? p : q);
            int64_t result = (n * t.o + o) * outSize + (t.transposed ? q : p);
            int64_t row = t.transposed ? o / outputsOfGroup * inputsOfGroup + c : o;
            int64_t column = t.transposed ? o % outputsOfGroup : c;
            int64_t tapIndex = (row * b.dims[1] + column) * K[0] * K[1] * K[2] + k;
            expected[size_t(result)] += double(av[size_t(input)]) * bv[size_t(tapIndex)];
          }
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] += biasv[i / size_t(outSize) % size_t(t.o)] + (t.residual ? rv[i] : 0);
    expected[i] = std::max(expected[i], 0.0);
  }
  expectNear(expected, actual);
}

TEST(OneDnn, Convolution) {
  for (bool constant : {true, false})
    for (bool residual : {true, false}) {
      testConvolution({2, 3, 16, 1, {9, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, false, constant, residual});
      testConvolution({1, 32, 32, 1, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, false, constant, residual});
      testConvolution({2, 10, 6, 1, {7, 5}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, false, constant, residual});
      testConvolution({1, 16, 16, 16, {10, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, false, constant, residual});
      testConvolution({1, 8, 12, 2, {10, 10}, {3, 2}, {1, 2}, {2, 1}, {2, 0}, {1, 1}, false, constant, residual});
      testConvolution({2, 4, 5, 1, {20}, {5}, {3}, {2}, {4}, {0}, false, constant, residual});
      testConvolution(
          {1, 3, 4, 1, {5, 6, 7}, {2, 3, 3}, {1, 2, 1}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, false, constant, residual});
      testConvolution({2, 16, 8, 1, {5, 6}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, true, constant, residual});
      testConvolution({1, 6, 4, 2, {5, 6}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, true, constant, residual});
      testConvolution({1, 4, 4, 1, {7}, {4}, {2}, {2}, {1}, {1}, true, constant, residual});
    }
}

} // namespace
