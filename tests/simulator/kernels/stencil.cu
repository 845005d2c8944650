// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Five-point stencil with a tile and its halo in shared memory; edges repeat.
#define TILE 16

extern "C" __global__ void stencil(const float *in, float *out, int width, int height, float c) {
  __shared__ float tile[TILE + 2][TILE + 2];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int cx = min(x, width - 1), cy = min(y, height - 1);
  tile[ty][tx] = in[cy * width + cx];
  if (threadIdx.x == 0) tile[ty][0] = in[cy * width + max(cx - 1, 0)];
  if (threadIdx.x == TILE - 1) tile[ty][TILE + 1] = in[cy * width + min(x + 1, width - 1)];
  if (threadIdx.y == 0) tile[0][tx] = in[max(cy - 1, 0) * width + cx];
  if (threadIdx.y == TILE - 1) tile[TILE + 1][tx] = in[min(y + 1, height - 1) * width + cx];
  __syncthreads();
  if (x < width && y < height) {
    float right = x + 1 < width ? tile[ty][tx + 1] : tile[ty][tx];
    float below = y + 1 < height ? tile[ty + 1][tx] : tile[ty][tx];
    float around = __fadd_rn(__fadd_rn(tile[ty][tx - 1], right), __fadd_rn(tile[ty - 1][tx], below));
    out[y * width + x] = __fmaf_rn(c, __fmaf_rn(-4.0f, tile[ty][tx], around), tile[ty][tx]);
  }
}
