// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file Makes plan instances: hard ones that fit by construction, and ones that look like the buffers of a network.
#ifndef STATOR_TOOLS_STATOR_PLAN_GENERATE_H
#define STATOR_TOOLS_STATOR_PLAN_GENERATE_H

#include "tools/stator-plan/InstanceFile.h"

#include <cstdint>
#include <vector>

namespace stator::memory {

/// Cuts a rectangle, time across and \p capacity bytes up, into \p count pieces; each piece is a buffer, so all of them
/// fit \p capacity and often no byte is to spare. \p trimPercent of the pieces lose up to a quarter of their life.
/// Sizes are multiples of capacity / 1024. Needs 0 < count <= 100,000 and capacity a positive multiple of 1024.
std::vector<Buffer> cutRectangle(int count, int64_t capacity, int trimPercent, uint64_t seed);

/// The activations of a random layered network of \p count values in the order of its layers: wide and narrow layers,
/// branches, skip connections over a few or many layers. With \p training a part of the values live on until the
/// backward half reads them in reverse order, and gradients take their place. Sizes are multiples of 256 bytes.
std::vector<Buffer> layeredNetwork(int count, bool training, uint64_t seed);

/// Makes the instance that \p text names: cut:COUNT:TRIM:SEED (of 1 MiB), layers:COUNT:SEED or training:COUNT:SEED,
/// with COUNT up to 100,000 pieces or 10,000,000 values. Returns what is wrong with the text, or nothing.
std::string generateInstance(const std::string &text, Instance &instance);

} // namespace stator::memory

#endif // STATOR_TOOLS_STATOR_PLAN_GENERATE_H
