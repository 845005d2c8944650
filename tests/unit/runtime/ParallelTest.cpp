// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/device/host/Parallel.h"

#include <gtest/gtest.h>

#include <set>

using namespace stator::runtime;

namespace {

struct Marks {
  std::vector<std::atomic<uint8_t>> times;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  int64_t smallest = INT64_MAX;

  explicit Marks(int64_t count) : times(size_t(count)) {}

  static void body(const void *context, int64_t begin, int64_t end) {
    Marks &marks = *const_cast<Marks *>(static_cast<const Marks *>(context));
    for (int64_t i = begin; i < end; ++i) ++marks.times[size_t(i)];
    std::lock_guard<std::mutex> lock(marks.mutex);
    marks.threads.insert(std::this_thread::get_id());
    if (end != int64_t(marks.times.size())) marks.smallest = std::min(marks.smallest, end - begin);
  }
};

TEST(Parallel, EveryIterationOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 7, 100, 1001, 65536})
      for (int64_t grain : {1, 2, 10, 1000, 100000}) {
        Marks marks(count);
        pool.loop(count, grain, {&Marks::body, &marks});
        for (auto &times : marks.times) ASSERT_EQ(1, times) << threads << " " << count << " " << grain;
        EXPECT_LE(marks.threads.size(), size_t(threads));
        if (marks.smallest != INT64_MAX) {
          EXPECT_GE(marks.smallest, grain);
        }
      }
  }
}

TEST(Parallel, SmallLoopsStayOnTheCallingThread) {
  ThreadPool pool(4);
  for (int64_t count : {1, 5, 10}) {
    Marks marks(count);
    pool.loop(count, 10, {&Marks::body, &marks});
    EXPECT_EQ(std::set<std::thread::id>{std::this_thread::get_id()}, marks.threads);
  }
}

TEST(Parallel, ExtremeNumbers) {
  ThreadPool pool(2);
  std::atomic<int64_t> sum{0};
  LoopBody body{[](const void *context, int64_t begin, int64_t end) {
                  *static_cast<std::atomic<int64_t> *>(const_cast<void *>(context)) += end - begin;
                },
                &sum};
  for (auto [count, grain] : {std::pair<int64_t, int64_t>{INT64_MAX, 1},
                              {INT64_MAX, INT64_MAX},
                              {int64_t(1) << 61, 1},
                              {5, -3},
                              {5, 0},
                              {-1, 1}}) {
    sum = 0;
    pool.loop(count, grain, body);
    EXPECT_EQ(std::max<int64_t>(count, 0), sum) << count << " " << grain;
  }
}

TEST(Parallel, ManyShortLoopsAndSleepsInBetween) {
  ThreadPool pool(3);
  for (int round = 0; round < 2000; ++round) {
    std::atomic<int> sum{0};
    pool.loop(30, 1,
              {[](const void *context, int64_t begin, int64_t end) {
                 *static_cast<std::atomic<int> *>(const_cast<void *>(context)) += int(end - begin);
               },
               &sum});
    ASSERT_EQ(30, sum);
    if (round % 200 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Parallel, PoolsWorkSideBySide) {
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c)
    callers.emplace_back([] {
      ThreadPool pool(2);
      for (int round = 0; round < 200; ++round) {
        Marks marks(100);
        pool.loop(100, 1, {&Marks::body, &marks});
        for (auto &times : marks.times) ASSERT_EQ(1, times);
      }
    });
  for (std::thread &caller : callers) caller.join();
}

TEST(Parallel, UnusedAndAvailable) {
  ThreadPool unused(4);
  EXPECT_GE(availableThreads(), 1);
}

} // namespace
