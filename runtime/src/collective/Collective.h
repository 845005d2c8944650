// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands behind `collective` steps: a group of processes (ranks) that exchange buffers.
#ifndef STATOR_RUNTIME_COLLECTIVE_COLLECTIVE_H
#define STATOR_RUNTIME_COLLECTIVE_COLLECTIVE_H

#include <memory>

namespace stator::runtime {

/// A group of ranks. Its operations come with the collective steps, which artifact format 1 reserves.
class Collective {
public:
  virtual ~Collective() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
};

/// nullptr: not available in this runtime. NCCL serves GPUs, Gloo's protocol the host.
std::unique_ptr<Collective> openNccl();
std::unique_ptr<Collective> openHostCollective();

} // namespace stator::runtime
#endif
