// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parallel loops on the host.
//
// Two implementations stand behind one question. Where a session uses a library built on OpenMP (oneDNN), its loops
// run on the same OpenMP team: two pools whose idle threads spin on the same cores slow each other down tenfold.
// Everywhere else they run on a small pool of the session's own.
#ifndef STATOR_RUNTIME_DEVICE_HOST_PARALLEL_H
#define STATOR_RUNTIME_DEVICE_HOST_PARALLEL_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace stator::runtime {

/// A loop body: does iterations [begin, end). Must not throw.
struct LoopBody {
  void (*function)(const void *context, int64_t begin, int64_t end);
  const void *context;
};

/// CPUs this process may use: its affinity mask, cut by the cgroup's quota. At least 1.
int availableThreads();

class Parallel {
public:
  explicit Parallel(int threads) : threadCount(threads) {}
  virtual ~Parallel() = default;

  int threads() const { return threadCount; }

  /// Does [0, count) in pieces of at least `grain` iterations and returns when all are done. A loop of one piece runs
  /// on the calling thread. One loop at a time.
  void loop(int64_t count, int64_t grain, LoopBody body);

protected:
  /// Lets up to `wanted` threads, the caller among them, call `work` once each; returns when none is inside.
  virtual void team(int wanted, void (*work)(void *), void *argument) = 0;

private:
  int threadCount;
};

/// Threads of our own. Workers are started by the first loop that needs them; an idle worker looks for work for some
/// microseconds and then sleeps.
class ThreadPool : public Parallel {
public:
  explicit ThreadPool(int threads) : Parallel(threads) {}
  ~ThreadPool() override;

protected:
  void team(int wanted, void (*work)(void *), void *argument) override;

private:
  struct Job {
    void (*work)(void *);
    void *argument;
    std::atomic<int> places; // workers that may still join
  };

  void workerLoop();
  void join();

  std::vector<std::thread> workers;
  std::atomic<uint32_t> epoch{0}; // counts jobs
  std::atomic<Job *> job{nullptr};
  std::atomic<int> inside{0};
  std::atomic<int> sleeping{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable wake;
};

} // namespace stator::runtime
#endif
