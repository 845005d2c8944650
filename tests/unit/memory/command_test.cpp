// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-plan/Command.h"
#include "tools/stator-plan/Drawing.h"
#include "tools/stator-plan/Generate.h"
#include "tools/stator-plan/InstanceFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace stator::memory;

namespace {

const char *const kExample = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n";

class CommandTest : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("stator-plan-" + std::to_string(getpid()) +
                                                       testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  int run(const CommandOptions &options, const std::string &input = kExample) {
    std::istringstream in(input);
    out.str(""), err.str("");
    return runCommand(options, in, out, err);
  }
  std::string path(const char *name) const { return (folder / name).string(); }
  static std::string content(const std::string &file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder;
  std::ostringstream out, err;
};

} // namespace

TEST_F(CommandTest, PlansAndChecks) {
  CommandOptions options;
  options.instance = "-";
  options.planFile = path("plan.csv");
  options.drawingFile = path("plan.svg");
  ASSERT_EQ(run(options), 0) << err.str();
  EXPECT_NE(out.str().find("optimal: 5 buffers, arena 12"), std::string::npos) << out.str();
  EXPECT_EQ(content(options.planFile).compare(0, 10, "id,offset\n"), 0);
  const std::string picture = content(options.drawingFile);
  for (const char *id : {">b1: 4 B<", ">b5: 4 B<", "bound 12 B", "</svg>"})
    EXPECT_NE(picture.find(id), std::string::npos) << id;
  // Nothing but the two files is left behind.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);

  CommandOptions check;
  check.instance = "-";
  check.checkFile = options.planFile;
  EXPECT_EQ(run(check), 0) << err.str();
  check.capacity = 11;
  EXPECT_EQ(run(check), 1);
}

TEST_F(CommandTest, CapacityDecidesTheStatus) {
  CommandOptions options;
  options.instance = "-";
  options.capacity = 12;
  EXPECT_EQ(run(options), 0);
  options.capacity = 11;
  options.planFile = path("none.csv");
  EXPECT_EQ(run(options), 1);
  EXPECT_NE(err.str().find("no plan fits 11 bytes"), std::string::npos) << err.str();
  EXPECT_FALSE(std::filesystem::exists(options.planFile));
}

TEST_F(CommandTest, ErrorsAreTold) {
  CommandOptions options;
  options.instance = path("missing.csv");
  EXPECT_EQ(run(options), 1);
  EXPECT_NE(err.str().find("cannot be opened"), std::string::npos) << err.str();
  options.instance = folder.string(); // a folder
  EXPECT_EQ(run(options), 1);
  options.instance = "-";
  EXPECT_EQ(run(options, "id,lower,upper,size\na,3,3,1\n"), 1);
  EXPECT_EQ(err.str(), "stator-plan: -:2: a: its life is empty\n");
  options.planFile = path("no/such/folder.csv");
  EXPECT_EQ(run(options), 1);
  options.generate = true;
  for (const char *name : {"cut", "cut:0:1:1", "cut:5:101:1", "cut:100001:0:1", "layers:5:1x", "training:-1:1", ""}) {
    options.instance = name;
    EXPECT_EQ(run(options), 1) << name;
    EXPECT_NE(err.str().find("names no generated instance"), std::string::npos);
  }
}

TEST_F(CommandTest, AnOldPlanSurvivesAFailure) {
  CommandOptions options;
  options.instance = "-";
  options.planFile = path("plan.csv");
  ASSERT_EQ(run(options), 0);
  const std::string before = content(options.planFile);
  options.capacity = 5;
  ASSERT_EQ(run(options), 1);
  EXPECT_EQ(content(options.planFile), before);
}

TEST_F(CommandTest, GeneratedInstancesFitByConstruction) {
  for (int count : {1, 2, 50, 333})
    for (int trim : {0, 50, 100}) {
      std::vector<Buffer> pieces = cutRectangle(count, 1 << 20, trim, 9);
      ASSERT_EQ(static_cast<int>(pieces.size()), count);
      double area = 0;
      int64_t from = INT64_MAX, to = INT64_MIN;
      for (const Buffer &b : pieces) {
        ASSERT_LT(b.lower, b.upper);
        ASSERT_GT(b.size, 0);
        area += static_cast<double>(b.upper - b.lower) * static_cast<double>(b.size);
        from = std::min(from, b.lower), to = std::max(to, b.upper);
      }
      const double whole = static_cast<double>(std::max(256, 4 * count)) * (1 << 20);
      if (trim == 0) {
        EXPECT_DOUBLE_EQ(area, whole); // pieces of a rectangle have its area
      }
      EXPECT_LE(area, whole);
      EXPECT_GE(from, 0);
      EXPECT_LE(to, std::max(256, 4 * count));
    }
}

TEST_F(CommandTest, NamesAreEscapedInPictures) {
  Instance instance;
  std::istringstream in("id,lower,upper,size\n<script>&,0,1,4\n");
  ASSERT_EQ(readInstance(in, "f", instance), "");
  const std::string picture = drawPlan(instance, planMemory(instance.problem), "<title>");
  EXPECT_EQ(picture.find("<script>"), std::string::npos);
  EXPECT_NE(picture.find("&lt;script&gt;&amp;"), std::string::npos);
}

TEST(HumanBytes, ReadsWell) {
  EXPECT_EQ(humanBytes(0), "0 B");
  EXPECT_EQ(humanBytes(1023), "1023 B");
  EXPECT_EQ(humanBytes(1500), "1.46 KiB");
  EXPECT_EQ(humanBytes(3 << 20), "3 MiB");
}
