// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that was linked with a libcuda.so.1 runs on the simulator through LD_LIBRARY_PATH and LD_PRELOAD, and what
// the simulator finds reaches it as a driver's errors, on stderr and as JSON lines.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

namespace {

using Json = nlohmann::json;

struct Outcome {
  int status = 0;
  std::string text; ///< stdout and stderr
  std::vector<Json> report;
  std::map<std::string, std::string>
      calls; ///< "synchronize" to "700 CUDA_ERROR_ILLEGAL_ADDRESS", the last of each name
};

const std::string kLitmus = "tests/simulator/litmus/";

Outcome runProgram(const std::string &arguments, const std::string &environment = "",
                   const std::string &how = "LD_LIBRARY_PATH=" STATOR_TEST_CUDA_FOLDER) {
  std::string report = testing::TempDir() + "stator_report.json";
  std::remove(report.c_str());
  std::string command = "env " + how + " STATOR_SIM_REPORT=" + report + " " + environment +
                        " " STATOR_TEST_PROGRAM " " + arguments + " 2>&1";
  Outcome outcome;
  std::FILE *pipe = popen(command.c_str(), "r");
  if (!pipe) return outcome;
  char line[4096];
  while (std::fgets(line, sizeof line, pipe)) {
    std::string text = line;
    outcome.text += text;
    size_t space = text.find(' ');
    if (space != std::string::npos)
      outcome.calls[text.substr(0, space)] = text.substr(space + 1, text.size() - space - 2);
  }
  outcome.status = WEXITSTATUS(pclose(pipe));
  std::ifstream file(report);
  for (std::string json; std::getline(file, json);) outcome.report.push_back(Json::parse(json));
  return outcome;
}

const std::string kIota = kLitmus + "block-race-clean.ptx kernel 1 64 0 z:256";

TEST(Program, RunsThroughTheLibraryPathAndByPreloading) {
  for (const char *how : {"LD_LIBRARY_PATH=" STATOR_TEST_CUDA_FOLDER,
                          "LD_LIBRARY_PATH=" STATOR_TEST_STUB_FOLDER " LD_PRELOAD=" STATOR_TEST_SIMULATOR}) {
    Outcome o = runProgram(kIota, "", how);
    EXPECT_EQ(o.status, 0) << o.text;
    EXPECT_EQ(o.calls["synchronize"], "0 CUDA_SUCCESS") << o.text;
    EXPECT_EQ(o.calls["words"], "63 62 61 60 59 58 57 56") << o.text;
    EXPECT_EQ(o.report.size(), 0u);
  }
  // The stub alone has no device: the two runs above were the simulator's.
  EXPECT_EQ(runProgram(kIota, "", "LD_LIBRARY_PATH=" STATOR_TEST_STUB_FOLDER).status, 2);
}

struct Judgement {
  const char *kind, *arguments, *error;
  const char *chip = "a100";
};

// Every kind of finding, and the error that the next synchronising call gives. It stays: the copy and the second
// synchronisation fail alike.
TEST(Program, JudgementsBecomeDriverErrors) {
  const char *address = "700 CUDA_ERROR_ILLEGAL_ADDRESS", *failed = "719 CUDA_ERROR_LAUNCH_FAILED";
  const Judgement judgements[] = {
      {"out-of-bounds", "out-of-bounds.ptx kernel 1 32 0 z:128", address},
      {"use-after-free", "readonly-cache-clean.ptx kernel 1 32 0 f:256", address},
      {"misaligned", "misaligned-vector.ptx kernel 1 1 0 z:128", "716 CUDA_ERROR_MISALIGNED_ADDRESS"},
      {"race", "lanes-store-one-place.ptx kernel 1 32 0 z:128", failed},
      {"uninitialised", "uninitialised-shared.ptx kernel 1 32 0 z:128", failed},
      {"barrier", "barrier-mixed.ptx kernel 1 64 0 z:256", failed},
      {"shuffle", "shuffle-missing-lanes.ptx kernel 1 32 0 z:128", failed},
      {"divergence", "barrier-divergent.ptx kernel 1 64 0 z:256", failed},
      {"readonly-cache", "readonly-cache.ptx kernel 1 32 0 z:256", failed},
      {"async-copy", "copy-not-waited.ptx kernel 1 64 0 z:256 i:64", failed},
      {"mbarrier", "mbarrier-arrivals.ptx kernel 1 64 0 z:256 i:64", failed, "h100"},
      {"proxy", "proxy-store.ptx kernel 1 64 0 z:256 i:64", failed, "h100"},
      {"wgmma", "wgmma-fence.ptx kernel 1 128 0 z:2048 z:16", failed, "h200"},
      {"deadlock", "lock.ptx kernel 1 32 0 z:128", "702 CUDA_ERROR_LAUNCH_TIMEOUT"},
  };
  for (const Judgement &j : judgements) {
    SCOPED_TRACE(j.kind);
    Outcome o = runProgram(kLitmus + j.arguments, std::string("STATOR_SIM_CHIP=") + j.chip);
    EXPECT_EQ(o.calls["launch"], "0 CUDA_SUCCESS") << o.text;
    EXPECT_EQ(o.calls["synchronize"], j.error) << o.text;
    EXPECT_EQ(o.calls["copy"], j.error) << o.text;
    EXPECT_EQ(o.calls["again"], j.error) << o.text;
    ASSERT_GE(o.report.size(), 1u) << o.text;
    bool found = false;
    for (const Json &f : o.report) {
      EXPECT_TRUE(f["line"].is_number_unsigned() && f["line"] > 0);
      EXPECT_TRUE(f["lanes"].is_array() && !f["lanes"].empty()) << f;
      EXPECT_TRUE(f["addresses"].is_array());
      EXPECT_EQ(f["kernel"], "kernel");
      EXPECT_EQ(f["severity"], "error");
      found |= f["kind"] == j.kind;
    }
    EXPECT_TRUE(found) << o.text;
    EXPECT_NE(o.text.find(std::string("stator simulator: error: ") + j.kind), std::string::npos) << o.text;
  }
}

TEST(Program, WarningsFailNothing) {
  Outcome o = runProgram(kLitmus + "barrier-early-return.ptx kernel 1 64 0 z:256");
  EXPECT_EQ(o.calls["again"], "0 CUDA_SUCCESS") << o.text;
  ASSERT_EQ(o.report.size(), 1u);
  EXPECT_EQ(o.report[0]["kind"], "barrier");
  EXPECT_EQ(o.report[0]["severity"], "warning");
}

// Everything that a finding must name: kernel, lines of the PTX and of the source, lanes, addresses, the allocation.
TEST(Program, AFindingSaysWhere) {
  Outcome o = runProgram("tests/simulator/kernels/histogram.ptx histogram 1 32 0 i:4 z:1024 n:17");
  ASSERT_EQ(o.report.size(), 1u) << o.text;
  const Json &f = o.report[0];
  EXPECT_EQ(f["kind"], "out-of-bounds");
  EXPECT_EQ(f["kernel"], "histogram");
  EXPECT_EQ(f["source"], "histogram.cu");
  EXPECT_EQ(f["source_line"], 7);
  EXPECT_EQ(f["lanes"], Json::parse("[16]"));
  ASSERT_EQ(f["addresses"].size(), 1u);
  EXPECT_EQ(std::string(f["addresses"][0]).substr(0, 2), "0x");
  EXPECT_EQ(f["allocation"].get<std::string>().rfind("0 bytes past the end of 'allocation 1' (16 bytes", 0), 0u) << f;
  EXPECT_NE(f["text"].get<std::string>().find("ld.global.u8"), std::string::npos);
  EXPECT_EQ(f["block"], Json::parse("[0,0,0]"));
  EXPECT_EQ(f["warp"], 0);
  EXPECT_EQ(f["count"], 1);
}

TEST(Program, DeadlocksShowEveryWarp) {
  Outcome o = runProgram(kLitmus + "grid-barrier.ptx kernel 120 32 160000 z:128");
  EXPECT_EQ(o.calls["launch"], "1 CUDA_ERROR_INVALID_VALUE") << o.text; // 160000 bytes need the function's attribute
  // 72 multiprocessors, each with room for one block of 1024 threads.
  o = runProgram("tests/simulator/kernels/grid_reduce.ptx grid_reduce 80 1024 0 z:16 u:16000 u:4 n:4",
                 "STATOR_SIM_CHIP=a10");
  ASSERT_EQ(o.report.size(), 1u) << o.text;
  EXPECT_EQ(o.report[0]["kind"], "deadlock");
  std::string message = o.report[0]["message"];
  EXPECT_NE(message.find("blocks could not start because the chip holds only 72 at once"), std::string::npos)
      << message;
  EXPECT_NE(message.find("warp 0 lanes 0x00000001 is running at line"), std::string::npos) << message;
  EXPECT_EQ(o.calls["again"], "702 CUDA_ERROR_LAUNCH_TIMEOUT");
}

// What a driver refuses is refused with the driver's own code, and leaves the context usable.
TEST(Program, RefusedCalls) {
  std::string clean = kLitmus + "block-race-clean.ptx kernel ";
  struct Refused {
    std::string arguments, call, error, environment;
  };
  const Refused refused[] = {
      {clean + "1 1025 0 z:256", "launch", "1 CUDA_ERROR_INVALID_VALUE", ""},
      {clean + "0 64 0 z:256", "launch", "1 CUDA_ERROR_INVALID_VALUE", ""},
      {clean + "1 64 60000 z:256", "launch", "1 CUDA_ERROR_INVALID_VALUE", ""},
      {clean + "1 64 0 z:256", "module", "218 CUDA_ERROR_INVALID_PTX", "STATOR_SIM_CHIP=t4"},
      {kLitmus + "block-race-clean.ptx other 1 64 0", "function", "500 CUDA_ERROR_NOT_FOUND", ""},
      {kLitmus + "table.txt kernel 1 64 0", "module", "218 CUDA_ERROR_INVALID_PTX", ""},
      {"tests/simulator/kernels/grid_reduce.ptx grid_reduce 4000 32 0 cooperative z:16 u:16000 u:4 n:4", "launch",
       "720 CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", ""},
      {clean + "1 64 0 z:256", "init", "1 CUDA_ERROR_INVALID_VALUE", "STATOR_SIM_CHIP=voodoo"},
      {clean + "1 64 0 z:256", "init", "1 CUDA_ERROR_INVALID_VALUE", "STATOR_SIM_ASYNC=never"},
      {clean + "1 64 0 z:256", "init", "1 CUDA_ERROR_INVALID_VALUE", "STATOR_SIM_SCHEDULE=x"},
  };
  for (const Refused &r : refused) {
    Outcome o = runProgram(r.arguments, r.environment);
    EXPECT_EQ(o.calls[r.call], r.error) << r.arguments << "\n" << o.text;
    EXPECT_TRUE(r.call != "launch" || o.calls["again"] == "0 CUDA_SUCCESS") << o.text;
  }
}

TEST(Program, ACooperativeLaunchThatDoesNotFitIsReported) {
  Outcome o =
      runProgram("tests/simulator/kernels/grid_reduce.ptx grid_reduce 4000 32 0 cooperative z:16 u:16000 u:4 n:4");
  ASSERT_EQ(o.report.size(), 1u);
  EXPECT_EQ(o.report[0]["kind"], "cooperative");
  EXPECT_EQ(o.report[0]["severity"], "error");
}

TEST(Program, SettingsOfTheEnvironment) {
  // The race of a plain counter shows whatever the schedule; its value depends on it.
  Outcome o = runProgram(kIota, "STATOR_SIM_CHIP=t4,h100,b200 STATOR_SIM_QUIET=1");
  EXPECT_NE(o.text.find("device 0 Tesla T4"), std::string::npos) << o.text;
  EXPECT_NE(o.text.find("device 1 NVIDIA H100"), std::string::npos);
  EXPECT_NE(o.text.find("device 2 NVIDIA B200"), std::string::npos);
  std::string race = kLitmus + "lanes-store-one-place.ptx kernel 1 32 0 z:128";
  EXPECT_EQ(runProgram(race, "STATOR_SIM_RACES=0").calls["again"], "0 CUDA_SUCCESS");
  o = runProgram(race, "STATOR_SIM_QUIET=1");
  EXPECT_EQ(o.text.find("stator simulator"), std::string::npos) << o.text;
  EXPECT_EQ(o.report.size(), 1u);
  std::string spin = "tests/simulator/kernels/histogram.ptx histogram 1 32 0 i:65536 z:1024 n:262144";
  EXPECT_EQ(runProgram(spin, "STATOR_SIM_STEP_LIMIT=20").calls["again"], "702 CUDA_ERROR_LAUNCH_TIMEOUT");
  EXPECT_EQ(runProgram(spin, "STATOR_SIM_SCHEDULE=3").calls["again"], "0 CUDA_SUCCESS");
  // One line a launch.
  std::string counters = testing::TempDir() + "stator_counters.json";
  std::remove(counters.c_str());
  runProgram(kIota, "STATOR_SIM_COUNTERS=" + counters);
  std::ifstream file(counters);
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  Json c = Json::parse(line);
  EXPECT_EQ(c["kernel"], "kernel");
  EXPECT_EQ(c["sectors_written"], 8);
  EXPECT_EQ(c["barriers"], 2);
}

} // namespace
