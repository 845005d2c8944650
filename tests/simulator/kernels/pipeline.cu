// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// out[i] = in[i] + in of the neighbour thread in the same tile, through a two-stage pipeline of asynchronous copies: each
// block walks over `tiles` tiles of blockDim.x elements.
#include <cuda_pipeline_primitives.h>
#define THREADS 128

extern "C" __global__ void pipeline_copy(const float4 *in, float4 *out, int tiles) {
  __shared__ float4 stage[2][THREADS];
  int t = threadIdx.x, first = blockIdx.x * tiles;
  __pipeline_memcpy_async(&stage[0][t], &in[first * THREADS + t], sizeof(float4));
  __pipeline_commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) __pipeline_memcpy_async(&stage[(i + 1) & 1][t], &in[(first + i + 1) * THREADS + t], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    float4 a = stage[i & 1][t], b = stage[i & 1][(t + 1) % THREADS];
    out[(first + i) * THREADS + t] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    __syncthreads();
  }
}
