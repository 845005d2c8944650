// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Dag.h"
#include "passes/rematerialize/Timeline.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace stator::remat;

// Against a plain vector, through splits and emptied blocks.
TEST(Timeline, AgreesWithAPlainVector) {
  Random random(7);
  const int64_t budget = 40;
  Timeline time(budget);
  std::vector<std::pair<int32_t, int64_t>> plain; // step, bytes
  std::vector<int32_t> unused;
  int32_t made = 0;
  for (; made < 100; ++made) {
    time.pushBack(made, made % 17);
    plain.push_back({made, made % 17});
  }
  for (int round = 0; round < 20000; ++round) {
    size_t at = random.below(uint32_t(plain.size()));
    // Phases of growth and of shrinking.
    bool grow = (round / 2500) % 2 == 0;
    uint32_t what = random.below(4);
    if (what < 2 && (grow || plain.size() < 20)) {
      int32_t step = unused.empty() ? made++ : unused.back();
      if (!unused.empty()) unused.pop_back();
      int64_t bytes = random.below(30);
      time.insertBefore(step, plain[at].first, bytes);
      plain.insert(plain.begin() + at, {step, bytes});
    } else if (what < 2) {
      time.erase(plain[at].first);
      unused.push_back(plain[at].first);
      plain.erase(plain.begin() + at);
    } else {
      size_t to = random.below(uint32_t(plain.size()));
      if (to < at) std::swap(at, to);
      int64_t delta = int64_t(random.below(21)) - 10;
      time.add(time.key(plain[at].first), time.key(plain[to].first) + 1, delta);
      for (size_t k = at; k <= to; ++k) plain[k].second += delta;
    }
    int64_t peak = plain[0].second, step = plain[0].first;
    double over = 0;
    for (auto [s, b] : plain) {
      if (b > peak) peak = b, step = s;
      over += double(std::max<int64_t>(0, b - budget));
    }
    ASSERT_EQ(time.peak(), peak);
    ASSERT_EQ(time.peakStep(), step);
    ASSERT_EQ(time.excess(), over);
    if (round % 100) continue;
    ASSERT_EQ(time.steps().size(), plain.size());
    for (size_t k = 0; k < plain.size(); ++k) {
      ASSERT_EQ(time.steps()[k], plain[k].first);
      ASSERT_EQ(time.bytesAt(plain[k].first), plain[k].second);
      ASSERT_EQ(time.next(plain[k].first), k + 1 < plain.size() ? plain[k + 1].first : -1);
      ASSERT_EQ(time.prev(plain[k].first), k > 0 ? plain[k - 1].first : -1);
    }
  }
}
