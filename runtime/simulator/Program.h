// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A PTX module loaded into a device: text parsed, variables placed in memory, kernels decoded; and the checks that a
// driver makes before it starts one of them.
#pragma once

#include "runtime/simulator/Launch.h"

namespace stator::sim {

struct Program {
  std::string text;
  ptx::Module module;
  SymbolAddresses symbols;
  std::map<std::string, uint64_t> sizes; ///< bytes of each symbol
  std::vector<uint64_t> allocations;     ///< of the module's variables, for whoever unloads it
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
};

/// Why a module cannot be loaded.
enum class LoadFault : uint8_t { none, text, version, target };

/// Loads PTX text for `chip`. Null on failure: `why` tells what is wrong, with kernel, line and text where there are
/// any.
std::unique_ptr<Program> loadProgram(Memory &memory, const Chip &chip, std::string text, std::string &why,
                                     LoadFault &fault);
/// Frees the memory of the module's variables.
void unloadProgram(Memory &memory, const Program &program);

/// Why a driver refuses a launch.
enum class Refusal : uint8_t { none, invalidValue, clusterSize, outOfResources, cooperativeTooLarge };

/// What may be changed per function.
struct LaunchLimits {
  int maxDynamicShared = 48 * 1024;
  bool nonPortableCluster = false;
};
/// The limits of a function that nobody has changed: 48 KiB with the kernel's own shared memory.
LaunchLimits defaultLimits(const Kernel &kernel);

/// May `launch` (kernel, chip and shape filled in) start? `why` gives the reason in words where it may not.
/// `clusterGiven`: the caller named a cluster's size, even if it is one block.
Refusal checkLaunch(const Launch &launch, const LaunchLimits &limits, bool clusterGiven, std::string &why);

} // namespace stator::sim
