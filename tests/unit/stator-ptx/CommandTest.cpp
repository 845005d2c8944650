// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stator-ptx from its options to its output.
#include "tools/stator-ptx/Command.h"
#include "tools/stator-ptx/Argument.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace stator::ptxtool {
namespace {

using Json = nlohmann::json;

/// out[i] = in[i] + k, and a second kernel that reads one element too far.
const char *kText = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry shift(.param .u64 in, .param .u64 out, .param .u32 k)
{
  .reg .b64 %rd<5>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [k];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r3, [%rd1];
  add.u32 %r3, %r3, %r1;
  st.global.u32 [%rd2], %r3;
  ret;
}
.visible .entry beyond(.param .u64 in)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [in];
  ld.global.u32 %r1, [%rd1+128];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

struct Ran {
  int status;
  std::string out, err;
};
Ran run(CommandOptions options, const char *text = kText) {
  std::istringstream in(text);
  std::ostringstream out, err;
  options.file = "-";
  int status = runCommand(options, in, out, err);
  return {status, out.str(), err.str()};
}

CommandOptions shift() {
  CommandOptions o;
  o.kernel = "shift";
  o.block = "40";
  o.arguments = {"in=iota:u32:40", "out=undefined:u32:40", "u32:100"};
  return o;
}

TEST(StatorPtx, RunsAndPrints) {
  CommandOptions o = shift();
  o.prints = {"out:37:2"};
  Ran r = run(o);
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("argument 1 'out': u32[40], elements 37 to 38\n  137 138\n"), std::string::npos) << r.out;
  // 11 instructions of two warps.
  EXPECT_NE(r.out.find("shift on a100: 22 warp instructions in "), std::string::npos) << r.out;
}

TEST(StatorPtx, Json) {
  CommandOptions o = shift();
  o.prints = {"1:0:3"};
  o.json = o.lines = true;
  o.trace = "0:1";
  Ran r = run(o);
  ASSERT_EQ(r.status, 0) << r.err;
  Json j = Json::parse(r.out);
  EXPECT_EQ(j["kernel"], "shift");
  EXPECT_EQ(j["block"], Json::parse("[40,1,1]"));
  EXPECT_EQ(j["arguments"][0]["values"], Json::parse("[100,101,102]"));
  EXPECT_EQ(j["findings"].size(), 0u);
  EXPECT_EQ(j["counters"]["sectors_read"], 5); // 40 words of 4 bytes
  EXPECT_EQ(j["counters"]["dram_sectors_written"], 5);
  EXPECT_EQ(j["trace"].size(), 11u);
  // Warp 1 has lanes 0 to 7, threads 32 to 39.
  std::string add = j["trace"][8];
  EXPECT_NE(add.find("000000ff"), std::string::npos) << add;
  EXPECT_NE(add.find("%r3 = 132 133 134 135 136 137 138 139"), std::string::npos) << add;
  bool found = false;
  for (const Json &line : j["lines"])
    if (line["line"] == 15) {
      found = true;
      EXPECT_EQ(line["warps"], 2);
      EXPECT_EQ(line["lanes"], 40);
      EXPECT_EQ(line["sectors"], 5);
    }
  EXPECT_TRUE(found);
}

TEST(StatorPtx, TraceShowsUndefinedValuesAndChosenLanes) {
  CommandOptions o = shift();
  o.arguments[0] = "undefined:u32:40";
  o.trace = "0";
  o.traceLanes = "3,5";
  Ran r = run(o);
  EXPECT_EQ(r.status, 1); // undefined values reach global memory
  EXPECT_NE(r.out.find("%r2 = 3 5\n"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("%r3 = ? (all)\n"), std::string::npos) << r.out;
  o.traceLimit = 4;
  EXPECT_NE(run(o).out.find("the trace ends here: 4 lines"), std::string::npos);
}

TEST(StatorPtx, ReportsFindings) {
  CommandOptions o;
  o.kernel = "beyond";
  o.block = "1";
  o.arguments = {"weights=zeros:32"};
  Ran r = run(o);
  EXPECT_EQ(r.status, 1);
  EXPECT_NE(r.out.find("error: out-of-bounds"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("PTX line 25"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("0 bytes past the end of 'weights' (128 bytes"), std::string::npos) << r.out;
  o.json = true;
  Json j = Json::parse(run(o).out);
  EXPECT_EQ(j["findings"][0]["kind"], "out-of-bounds");
  EXPECT_EQ(j["findings"][0]["line"], 25);
}

TEST(StatorPtx, ListsKernels) {
  CommandOptions o;
  o.list = true;
  Ran r = run(o);
  EXPECT_EQ(r.status, 0);
  EXPECT_NE(r.out.find("shift  (line 4"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("  2  k: 4 bytes"), std::string::npos) << r.out;
  o.json = true;
  Json j = Json::parse(run(o).out);
  EXPECT_EQ(j.size(), 2u);
  EXPECT_EQ(j[1]["parameters"].size(), 3u);
}

TEST(StatorPtx, WritesArrays) {
  CommandOptions o = shift();
  std::string path = testing::TempDir() + "stator_ptx_out.npy";
  o.outputs = {"out=" + path};
  ASSERT_EQ(run(o).status, 0);
  Argument a = readNpy(path);
  ASSERT_EQ(a.shape, std::vector<size_t>{40});
  EXPECT_EQ(a.data[0], 100);
  EXPECT_EQ(a.data[39 * 4], 139);
}

// What is wrong with a command is said in words, with exit status 2, before anything runs.
TEST(StatorPtx, Refusals) {
  auto expect = [](CommandOptions o, const std::string &words, const char *text = kText) {
    Ran r = run(o, text);
    EXPECT_EQ(r.status, 2);
    EXPECT_NE(r.err.find(words), std::string::npos) << r.err;
    EXPECT_EQ(r.out, "");
  };
  CommandOptions o = shift();
  o.kernel = "none";
  expect(o, "no kernel 'none'; the file has beyond, shift");
  o.kernel = "";
  expect(o, "--launch must name one of the kernels beyond, shift");
  o = shift();
  o.arguments.pop_back();
  expect(o, "kernel shift has 3 parameters, 2 arguments are given");
  o = shift();
  o.arguments[2] = "f64:1";
  expect(o, "has 8 bytes, parameter k has 4");
  o = shift();
  o.block = "2048";
  expect(o, "a block of 2048x1x1 threads");
  o = shift();
  o.cluster = "2";
  expect(o, "a100 has no clusters");
  o = shift();
  o.shared = 200 * 1024;
  expect(o, "bytes of dynamic shared memory exceed");
  o = shift();
  o.trace = "1:0";
  expect(o, "the launch has no such warp");
  o = shift();
  o.prints = {"2"};
  expect(o, "is no buffer");
  o = shift();
  o.prints = {"out:40"};
  expect(o, "elements 0 to 39");
  o = shift();
  o.outputs = {"out"};
  expect(o, "INDEX=FILE.npy");
  o = shift();
  o.settings.chips = {"v100"};
  expect(o, "--chip is one of a100");
  o = shift();
  o.settings.chips = {"t4"};
  expect(o, "PTX for sm_80 does not run on t4");
  o = shift();
  expect(o, "line 2", ".version 8.0\n.targt sm_80\n");
  expect(o, "unknown instruction frobnicate.u32",
         ".version 8.0\n.target sm_80\n.address_size 64\n.entry shift() {\n frobnicate.u32 %r1;\n}\n");
  expect(o, "the file holds no kernel", ".version 8.0\n.target sm_80\n.address_size 64\n");
}

} // namespace
} // namespace stator::ptxtool
