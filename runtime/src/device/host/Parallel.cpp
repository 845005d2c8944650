// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/device/host/Parallel.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sched.h>

namespace stator::runtime {
namespace {

/// How long an idle worker looks for work. Waking a sleeping thread costs some ten microseconds and more on a busy
/// machine; the kernels of one run follow each other more closely than that.
constexpr auto spinTime = std::chrono::microseconds(60);

/// Pieces a thread: enough to even out threads that are interrupted, few enough that taking one costs nothing.
constexpr int64_t piecesPerThread = 4;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

struct Loop {
  LoopBody body;
  int64_t count, piece;
  alignas(64) std::atomic<int64_t> next{0};

  static void work(void *argument) {
    Loop &loop = *static_cast<Loop *>(argument);
    while (true) {
      int64_t begin = loop.next.fetch_add(loop.piece, std::memory_order_relaxed);
      if (begin >= loop.count) return;
      loop.body.function(loop.body.context, begin, begin + std::min(loop.piece, loop.count - begin));
    }
  }
};

} // namespace

int availableThreads() {
  cpu_set_t set;
  int threads =
      sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : int(std::thread::hardware_concurrency());
  if (std::FILE *file = std::fopen("/sys/fs/cgroup/cpu.max", "re")) {
    long long quota = 0, period = 0;
    if (std::fscanf(file, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0)
      threads = int(std::min<long long>(threads, (quota + period - 1) / period));
    std::fclose(file);
  }
  return std::max(threads, 1);
}

void Parallel::loop(int64_t count, int64_t grain, LoopBody body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  int64_t pieces = count / grain + (count % grain != 0);
  int wanted = int(std::min<int64_t>(threadCount, pieces));
  if (wanted <= 1) return body.function(body.context, 0, count);
  int64_t shares = std::min(wanted * piecesPerThread, pieces);
  // `next` runs past `count` by at most a piece a thread: keep that within 64 bits.
  int64_t piece = std::max(grain, count / shares + (count % shares != 0));
  if (piece > INT64_MAX / (4 * int64_t(wanted)) || count > INT64_MAX / 2) return body.function(body.context, 0, count);
  Loop loop{body, count, piece};
  team(wanted, &Loop::work, &loop);
}

// Who may look at a job. The caller publishes `job`, works, takes `job` back and waits until nobody is `inside`. A
// worker goes `inside` first and looks at `job` then. Both in one total order (seq_cst): a worker that still sees the
// job has raised `inside` before the caller looks, so the caller waits for it; one that comes later sees none. A
// worker that is slow to wake therefore holds nobody up.
void ThreadPool::team(int wanted, void (*work)(void *), void *argument) {
  while (int(workers.size()) < wanted - 1) workers.emplace_back([this] { workerLoop(); });
  Job current{work, argument, {wanted - 1}};
  job.store(&current);
  epoch.fetch_add(1);
  if (sleeping.load() > 0) {
    std::lock_guard<std::mutex> lock(mutex);
    wake.notify_all();
  }
  work(argument);
  job.store(nullptr);
  for (int spins = 0; inside.load() != 0; ++spins) {
    pause();
    if (spins > 2000) std::this_thread::yield(); // the worker has been interrupted: let it have the core
  }
}

void ThreadPool::join() {
  inside.fetch_add(1);
  if (Job *current = job.load())
    if (current->places.fetch_sub(1) > 0) current->work(current->argument);
  inside.fetch_sub(1);
}

void ThreadPool::workerLoop() {
  uint32_t seen = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    if (uint32_t now = epoch.load(); now != seen) {
      seen = now;
      join();
      continue;
    }
    auto deadline = std::chrono::steady_clock::now() + spinTime;
    bool found = false;
    while (!found && std::chrono::steady_clock::now() < deadline)
      for (int i = 0; i < 16 && !found; ++i) {
        pause();
        found = epoch.load(std::memory_order_relaxed) != seen || stop.load(std::memory_order_relaxed);
      }
    if (found) continue;
    std::unique_lock<std::mutex> lock(mutex);
    sleeping.fetch_add(1);
    wake.wait(lock, [&] { return epoch.load() != seen || stop.load(); });
    sleeping.fetch_sub(1);
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stop.store(true);
  }
  wake.notify_all();
  for (std::thread &worker : workers) worker.join();
}

} // namespace stator::runtime
