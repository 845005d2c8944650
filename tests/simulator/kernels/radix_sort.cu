// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass of a least-significant-digit radix sort, 4 bits a pass: digits counted per block, offsets by one block, then a
// stable scatter in which each thread ranks its key among those of its block.
#define DIGITS 16

extern "C" __global__ void radix_count(const unsigned *keys, unsigned *counts, int n, int shift) {
  __shared__ unsigned bins[DIGITS];
  if (threadIdx.x < DIGITS) bins[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[keys[i] >> shift & (DIGITS - 1)], 1u);
  __syncthreads();
  if (threadIdx.x < DIGITS) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

// Exclusive scan of counts[total] by one block, in place.
extern "C" __global__ void radix_offsets(unsigned *counts, int total) {
  __shared__ unsigned part[256];
  __shared__ unsigned carry;
  if (threadIdx.x == 0) carry = 0;
  __syncthreads();
  for (int base = 0; base < total; base += 256) {
    int i = base + threadIdx.x;
    unsigned own = i < total ? counts[i] : 0;
    part[threadIdx.x] = own;
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
      unsigned other = threadIdx.x >= d ? part[threadIdx.x - d] : 0;
      __syncthreads();
      part[threadIdx.x] += other;
      __syncthreads();
    }
    if (i < total) counts[i] = carry + part[threadIdx.x] - own;
    __syncthreads();
    if (threadIdx.x == 255) carry += part[255];
    __syncthreads();
  }
}

extern "C" __global__ void radix_scatter(const unsigned *keys, unsigned *out, const unsigned *offsets, int n, int shift) {
  __shared__ unsigned char digits[256];
  __shared__ unsigned base[DIGITS];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned key = i < n ? keys[i] : 0, digit = key >> shift & (DIGITS - 1);
  digits[threadIdx.x] = i < n ? digit : DIGITS;
  if (threadIdx.x < DIGITS) base[threadIdx.x] = offsets[threadIdx.x * gridDim.x + blockIdx.x];
  __syncthreads();
  if (i < n) {
    unsigned rank = 0;
    for (int j = 0; j < threadIdx.x; ++j) rank += digits[j] == digit;
    out[base[digit] + rank] = key;
  }
}
