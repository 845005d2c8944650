// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times and costs of steps.
#ifndef STATOR_RUNTIME_PROFILE_PROFILE_H
#define STATOR_RUNTIME_PROFILE_PROFILE_H

#include "runtime/src/artifact/Plan.h"
#include "runtime/src/device/Device.h"

#include <chrono>

namespace stator::runtime {

class Profile {
public:
  Profile(const Plan &plan, bool enabled) : entries(plan.allSteps.size()), enabled(enabled) {}

  struct Entry {
    uint64_t calls = 0, nanoseconds = 0;
    uint64_t bytesRead = 0, bytesWritten = 0, operations = 0; // as the plan predicts
  };
  const Entry &operator[](uint32_t step) const { return entries[step]; }
  bool isEnabled() const { return enabled; }

  /// Adds what one performance of the step costs.
  void add(const Step &step, int64_t bytesRead, int64_t bytesWritten, int64_t operations) {
    Entry &entry = entries[step.index];
    entry.bytesRead += uint64_t(bytesRead);
    entry.bytesWritten += uint64_t(bytesWritten);
    entry.operations += uint64_t(operations);
  }

  /// Counts one performance of a step from its making to its end. The device is waited for at both ends, and only when
  /// profiling.
  class Timer {
  public:
    Timer(Profile &profile, const Step &step, Device &device) : entry(profile.entries[step.index]) {
      ++entry.calls;
      if (!profile.enabled) return;
      measured = &device;
      device.synchronize();
      start = std::chrono::steady_clock::now();
    }
    ~Timer() {
      if (!measured) return;
      try {
        measured->synchronize();
      } catch (...) {
        return; // the next use of the device reports it
      }
      entry.nanoseconds += uint64_t((std::chrono::steady_clock::now() - start).count());
    }
    Timer(const Timer &) = delete;

  private:
    Entry &entry;
    Device *measured = nullptr;
    std::chrono::steady_clock::time_point start;
  };

private:
  std::vector<Entry> entries;
  bool enabled;
};

} // namespace stator::runtime
#endif
