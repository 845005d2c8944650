// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file What stator-ptx prints: kernels of a file, findings, counters, buffers; as text or as one JSON object.
#pragma once

#include "runtime/simulator/Program.h"

#include <iosfwd>

namespace stator::ptxtool {

/// A part of a buffer to print.
struct Print {
  size_t index = 0;
  std::string name;
  sim::Type type = sim::Type::f32;
  std::vector<size_t> shape;
  uint64_t from = 0, count = 0;
  bool abbreviate = false; ///< long buffers are cut
  const uint8_t *data = nullptr, *defined = nullptr;
};

struct Report {
  const sim::Kernel *kernel = nullptr;
  const sim::Launch *launch = nullptr;
  const sim::LaunchResult *result = nullptr;
  std::vector<Print> prints;
  std::vector<std::string> trace; ///< JSON only
  bool counters = false, lines = false;
  double seconds = 0; ///< that the launch took

  void write(bool json, std::ostream &out) const;

private:
  void writeText(std::ostream &out) const;
  void writeJson(std::ostream &out) const;
};

void listKernels(const sim::Program &program, bool json, std::ostream &out);

} // namespace stator::ptxtool
