// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file Decides which permissions to share are used, and makes the blocks that are left to place.
#ifndef STATOR_CODEGEN_MEMORY_SHARING_H
#define STATOR_CODEGEN_MEMORY_SHARING_H

#include "codegen/memory/Block.h"
#include "codegen/memory/MemoryPlanner.h"

namespace stator::memory {

/// The blocks of one arena and where in them its buffers lie.
struct Places {
  std::vector<Block> blocks;
  std::vector<int> blockOf;    ///< for each buffer of the problem its block; -1: of another arena, or of no bytes
  std::vector<int64_t> within; ///< for each buffer its offset in its block
  std::vector<bool> shared;    ///< for each buffer whether it lies in the place of its shareWith
  bool anyShared = false;
};

/// One block for each buffer with bytes.
Places makePlaces(const Problem &problem, int arena);

/// Uses those permissions, in the order of the buffers, that do not raise the most bytes live at any moment of the
/// lives involved. A place keeps all its bytes from the first birth to the last death in it, and takes in at most 1,024
/// buffers.
Places makeSharedPlaces(const Problem &problem, int arena);

/// Fewer bytes than this no use of the permissions needs: the live bytes, each permitted overlap counted once.
int64_t shareLoad(const Problem &problem, int arena);

} // namespace stator::memory

#endif // STATOR_CODEGEN_MEMORY_SHARING_H
