// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cooperative groups: every thread writes a square, the grid meets, and tiles of a warp add up what other blocks wrote.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void groups(int *squares, int *sums, int n) {
  auto grid = cg::this_grid();
  int i = static_cast<int>(grid.thread_rank());
  if (i < n) squares[i] = i * i;
  grid.sync();
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int value = i < n ? squares[n - 1 - i] : 0;
  for (int d = 16; d; d >>= 1) value += tile.shfl_down(value, d);
  if (tile.thread_rank() == 0) sums[i / 32] = value;
}
