// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator/Progress.h"
#include "tools/stator/Command.h"
#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace stator::cli {

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Progress::Progress(bool quiet, bool verbose)
    : verbose(verbose), onTerminal(!quiet && !verbose && isatty(STDERR_FILENO)), start(now()) {
  if (onTerminal) watcher = std::thread([this] { watch(); });
}

Progress::~Progress() { finish(); }

void Progress::watch() {
  std::unique_lock<std::mutex> hold(lock);
  while (!wake.wait_for(hold, std::chrono::milliseconds(250), [this] { return done; })) {
    double seconds = now() - start;
    if (seconds < 1 || current.empty()) continue;
    shown = true;
    std::fprintf(stderr, "\r\033[K%s ... %.0f s", current.c_str(), seconds);
    std::fflush(stderr);
  }
}

void Progress::step(llvm::StringRef what) {
  std::lock_guard<std::mutex> hold(lock);
  current = what.str();
  noteStep(current);
  if (verbose) std::fprintf(stderr, "[%7.3f s] %s\n", now() - start, current.c_str());
}

void Progress::finish() {
  {
    std::lock_guard<std::mutex> hold(lock);
    done = true;
  }
  wake.notify_all();
  if (watcher.joinable()) watcher.join();
  if (shown) std::fputs("\r\033[K", stderr);
  shown = false;
}

} // namespace stator::cli
