// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the simulator has found, and how it is told: readable text on stderr, JSON lines in a file, and a driver error.
#pragma once

#include "runtime/simulator/Settings.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace stator::sim {

enum class Kind : uint8_t {
  outOfBounds,
  misaligned,
  race,
  uninitialised,
  useAfterFree,
  barrier,
  shuffle,
  asyncCopy,
  mbarrier,
  proxy,
  wgmma,
  readonlyCache,
  deadlock,
  cooperative,
  divergence,
  nondeterminism,
  trap
};
enum class Severity : uint8_t { error, warning };

const char *spell(Kind kind);

struct Finding {
  Kind kind = Kind::trap;
  Severity severity = Severity::error;
  std::string kernel;
  uint32_t line = 0;      ///< of the PTX text
  std::string text;       ///< of the instruction
  std::string sourceFile; ///< from `.loc`; empty where unknown
  uint32_t sourceLine = 0;
  uint32_t block[3] = {0, 0, 0};
  uint32_t warp = 0;
  uint32_t lanes = 0;              ///< mask
  std::vector<uint64_t> addresses; ///< of the first lanes
  std::string allocation;          ///< what the address lies in or next to
  std::string message;
  uint64_t count = 1; ///< how often it happened in the launch
};

/// Findings of one worker, each (kind, instruction) kept once.
class Findings {
public:
  /// The finding for (kind, instruction), or a new one for the caller to fill (`isNew`).
  Finding &at(Kind kind, uint32_t instruction, bool &isNew) {
    auto [it, fresh] = found.try_emplace({instruction, kind});
    isNew = fresh;
    if (!fresh) ++it->second.count;
    return it->second;
  }
  std::vector<Finding> take() {
    std::vector<Finding> all;
    for (auto &[key, finding] : found) all.push_back(std::move(finding));
    found.clear();
    return all;
  }

private:
  std::map<std::pair<uint32_t, Kind>, Finding> found;
};

std::string toJson(const Finding &finding);
std::string toText(const Finding &finding);
/// Appends to the report file and writes to stderr as `settings` say.
void publish(const std::vector<Finding> &findings, const Settings &settings);
/// A JSON string literal of `text`.
std::string quoteJson(const std::string &text);

} // namespace stator::sim
