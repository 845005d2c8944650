// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps the elements that are divisible by `divisor`: lanes that keep one are counted by a ballot of whoever is active, the
// first of them takes places from the queue's head with one atomic, the rest follow it by their rank.
extern "C" __global__ void queue_push(const unsigned *in, unsigned *out, unsigned *head, int n, unsigned divisor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = in[i];
  if (value % divisor) return;
  unsigned mask = __activemask();
  int leader = __ffs(mask) - 1, lane = threadIdx.x & 31;
  unsigned base = 0;
  if (lane == leader) base = atomicAdd(head, __popc(mask));
  base = __shfl_sync(mask, base, leader);
  out[base + __popc(mask & (1u << lane) - 1)] = value;
}
