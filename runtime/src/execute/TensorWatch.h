// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tells a device that judges accesses (the simulator) where the plan's tensors lie in the arena, and for how long.
//
// Buffers of an arena share memory at different times, so a bounds check by allocation would accept a kernel that reads
// its neighbour's tensor. Here every buffer becomes a region that is declared before the first step that uses it and
// ended after the last. Buffers that share memory at one time (a result in its operand's place) become one region.
#ifndef STATOR_RUNTIME_EXECUTE_TENSORWATCH_H
#define STATOR_RUNTIME_EXECUTE_TENSORWATCH_H

#include "runtime/src/execute/Frame.h"

namespace stator::runtime {

class TensorWatch {
public:
  explicit TensorWatch(const Plan &plan);

  /// Before a call's first step: the sizes are known.
  void begin(Frame &frame);
  /// Around step number `index` of the plan's outermost list.
  void before(size_t index, Device &device);
  void after(size_t index, Device &device);

private:
  struct Life {
    BufferId buffer;
    size_t first, last; // steps of the outermost list
  };
  struct Region {
    char *address;
    int64_t bytes;
    size_t first, last;
    std::string name;
    bool declared = false;
  };

  std::vector<Life> lives; // of the device's arena buffers that are used at all
  std::vector<Region> regions;
};

} // namespace stator::runtime
#endif
