// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_TOOLS_STATOR_PROGRESS_H
#define STATOR_TOOLS_STATOR_PROGRESS_H

#include "llvm/ADT/StringRef.h"
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace stator::cli {

/// Says on standard error what goes on: on a terminal, once a command has taken longer than a second, in a line that is
/// rewritten; with -v every step as a line of its own with the time it began.
class Progress {
public:
  Progress(bool quiet, bool verbose);
  ~Progress();
  void step(llvm::StringRef what);
  /// Takes the line away before something else is printed.
  void finish();

private:
  void watch();

  bool verbose, onTerminal;
  double start;
  std::mutex lock;
  std::condition_variable wake;
  std::string current;
  bool done = false, shown = false;
  std::thread watcher;
};

} // namespace stator::cli

#endif // STATOR_TOOLS_STATOR_PROGRESS_H
