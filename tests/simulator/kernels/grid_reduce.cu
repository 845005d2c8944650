// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sum of all elements by a cooperative grid: blocks write partial sums, meet at a barrier made of one counter, and block 0
// adds them up.
__device__ unsigned arrived;

__device__ static void grid_barrier(unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1u);
    while (atomicAdd(&arrived, 0u) < blocks) {
    }
    __threadfence();
  }
  __syncthreads();
}

__device__ static unsigned block_sum(unsigned value) {
  __shared__ unsigned sums[32];
  for (int d = 16; d; d >>= 1) value += __shfl_down_sync(0xffffffffu, value, d);
  if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
  if (threadIdx.x < 32)
    for (int d = 16; d; d >>= 1) value += __shfl_down_sync(0xffffffffu, value, d);
  return value;
}

extern "C" __global__ void grid_reduce(const unsigned *in, unsigned *partial, unsigned *out, int n) {
  unsigned value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += in[i];
  value = block_sum(value);
  if (threadIdx.x == 0) partial[blockIdx.x] = value;
  grid_barrier(gridDim.x);
  if (blockIdx.x == 0) {
    value = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) value += partial[i];
    value = block_sum(value);
    if (threadIdx.x == 0) *out = value;
  }
}
