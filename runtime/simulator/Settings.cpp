// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Settings.h"
#include "runtime/simulator/Chips.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace stator::sim {

namespace {

bool readNumber(const char *text, uint64_t &value) {
  char *end = nullptr;
  errno = 0;
  unsigned long long parsed = std::strtoull(text, &end, 0);
  if (errno || end == text || *end || *text == '-') return false;
  value = parsed;
  return true;
}

} // namespace

Settings Settings::fromEnvironment(std::string &error) {
  Settings s;
  auto bad = [&](const char *name, const char *value, const char *allowed) {
    error = std::string(name) + "=" + value + ": expected " + allowed;
  };
  auto number = [&](const char *name, uint64_t &value) {
    const char *text = std::getenv(name);
    if (text && *text && !readNumber(text, value)) bad(name, text, "a number");
  };
  if (const char *chips = std::getenv("STATOR_SIM_CHIP"); chips && *chips) {
    s.chips.clear();
    for (const char *at = chips;;) {
      const char *comma = std::strchr(at, ',');
      std::string name(at, comma ? static_cast<size_t>(comma - at) : std::strlen(at));
      if (!findChip(name)) {
        std::string all;
        for (const Chip &chip : allChips()) all += (all.empty() ? "" : ", ") + std::string(chip.name);
        bad("STATOR_SIM_CHIP", chips, all.c_str());
        return s;
      }
      s.chips.push_back(name);
      if (!comma) break;
      at = comma + 1;
    }
  }
  if (const char *mode = std::getenv("STATOR_SIM_ASYNC"); mode && *mode) {
    if (!std::strcmp(mode, "early"))
      s.async = Async::early;
    else if (!std::strcmp(mode, "late"))
      s.async = Async::late;
    else if (!std::strcmp(mode, "random"))
      s.async = Async::random;
    else
      bad("STATOR_SIM_ASYNC", mode, "early, late or random");
  }
  if (const char *mode = std::getenv("STATOR_SIM_NUMERICS"); mode && *mode) {
    if (!std::strcmp(mode, "nominal"))
      s.numerics = Numerics::nominal;
    else if (!std::strcmp(mode, "adversarial"))
      s.numerics = Numerics::adversarial;
    else
      bad("STATOR_SIM_NUMERICS", mode, "nominal or adversarial");
  }
  if (const char *file = std::getenv("STATOR_SIM_REPORT")) s.report = file;
  if (const char *file = std::getenv("STATOR_SIM_COUNTERS")) s.counters = file;
  uint64_t threads = 0, races = 1, quiet = 0;
  number("STATOR_SIM_SCHEDULE", s.schedule);
  number("STATOR_SIM_THREADS", threads);
  number("STATOR_SIM_RACES", races);
  number("STATOR_SIM_QUIET", quiet);
  number("STATOR_SIM_STEP_LIMIT", s.stepLimit);
  s.threads = static_cast<unsigned>(threads > 256 ? 256 : threads);
  s.races = races != 0;
  s.quiet = quiet != 0;
  return s;
}

} // namespace stator::sim
