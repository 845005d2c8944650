// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime's CUDA device on the simulated GPU: PTX is executed, and accesses are judged by tensor.
#include "tests/unit/runtime/TestArtifact.h"

#include <cstring>

using namespace stator::test;

namespace {

/// out[i] = a[i] + b[i] for i < n.
const char *addPtx = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 out, .param .u64 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [out];
  ld.param.u64 %rd4, [n];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  cvta.to.global.u64 %rd3, %rd3;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %rd5, %r4;
  setp.ge.u64 %p1, %rd5, %rd4;
  @%p1 bra DONE;
  shl.b64 %rd6, %rd5, 2;
  add.s64 %rd7, %rd1, %rd6;
  add.s64 %rd8, %rd2, %rd6;
  add.s64 %rd9, %rd3, %rd6;
  ld.global.f32 %f1, [%rd7];
  ld.global.f32 %f2, [%rd8];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd9], %f3;
DONE:
  ret;
}
)";

/// t0 = x + x; t1 = t0 + t0, of which `count` elements are done; y = t0 + t1. Both lie in one arena.
std::string makeArtifact(const std::string &count) {
  stator::artifact::ArtifactWriter writer;
  std::string ptx = addPtx;
  writer.add("kernels/main.sm_80.ptx", ptx);
  auto launch = [](const char *buffers, const std::string &n) {
    return R"json({"op": "launch", "kernel": "add", "buffers": )json" + std::string(buffers) +
           R"json(, "scalars": [{"i64": ")json" + n +
           R"json("}], "grid": ["ceildiv(s0 + 1, 32)", 1, 1], "block": [32, 1, 1]})json";
  };
  return writer.bytes(
      R"json({"format": 1, "abi": 1, "entries": )json" + writer.entriesJson() +
      R"json(, "modules": [{"name": "main", "kind": "ptx", "arch": "sm_80", "entry": "kernels/main.sm_80.ptx"}],
    "functions": [{"name": "f", "symbols": [{"name": "s0", "min": 0, "max": 1000, "input": 0, "dim": 0}],
      "inputs": [{"name": "x", "dtype": "f32", "shape": ["s0"]}], "outputs": [{"name": "y", "dtype": "f32", "shape": ["s0"]}],
      "plans": [{"device": "cuda", "arenas": [{"bytes": 8192}],
        "buffers": [{"space": "input", "index": 0}, {"space": "output", "index": 0},
                    {"space": "arena", "offset": 0, "bytes": "4*s0", "label": "t0"},
                    {"space": "arena", "offset": 4096, "bytes": "4*s0", "label": "t1"}],
        "steps": [)json" +
      launch("[0, 0, 2]", "s0") + "," + launch("[2, 2, 3]", count) + "," + launch("[2, 3, 1]", "s0") + "]}]}]}");
}

stator_session_options simulated() {
  stator_session_options options = {};
  options.device = "cuda";
  options.cuda_library = STATOR_TEST_SIMULATOR;
  return options;
}

TEST(Simulator, RunsEmittedCode) {
  std::string bytes = makeArtifact("s0");
  ModelPointer model = open(bytes);
  SessionPointer session = makeSession(model, simulated());
  for (int64_t n : {100, 0, 1000, 1}) {
    std::vector<float> x;
    for (int64_t i = 0; i < n; ++i) x.push_back(float(i) / 2);
    stator_tensor input = tensor(x, {n}), output = {};
    stator_error error;
    ASSERT_EQ(STATOR_OK, stator_session_run(session.get(), &input, 1, &output, 1, &error)) << error.message;
    std::vector<float> y = elements<float>(output);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(6 * x[size_t(i)], y[size_t(i)]) << i;
  }
}

TEST(Simulator, WritingPastATensorWithinTheArenaIsFound) {
  std::string bytes = makeArtifact("s0 + 1");
  ModelPointer model = open(bytes);
  SessionPointer session = makeSession(model, simulated());
  std::vector<float> x(100, 1);
  stator_tensor input = tensor(x, {100}), output = {};
  stator_error error;
  EXPECT_EQ(STATOR_DEVICE_FAULT, stator_session_run(session.get(), &input, 1, &output, 1, &error)) << error.message;
}

} // namespace
