// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C = A B for f16 operands and f32 results, all row-major; m and n multiples of 64, k of 32. Four warps a 64x64 tile; two
// stages of cp.async copies, ldmatrix, mma.sync. Rows in shared memory are padded by 16 bytes, so that no banks conflict.
#include <cstdint>
#include <cuda_fp16.h>
#define TILE 64
#define DEPTH 32

__device__ static uint32_t shared_address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ static void copy16(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared_address(to)), "l"(from) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) matmul_mma(const half *a, const half *b, float *c, int n, int k) {
  __shared__ alignas(16) half as[2][TILE][DEPTH + 8];
  __shared__ alignas(16) half bs[2][DEPTH][TILE + 8];
  int t = threadIdx.x, warp = t / 32, lane = t % 32, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
  auto load = [&](int stage, int k0) {
    for (int i = t; i < TILE * DEPTH / 8; i += 128) {
      int r = i / (DEPTH / 8), q = i % (DEPTH / 8) * 8;
      copy16(&as[stage][r][q], a + (row + r) * k + k0 + q);
    }
    for (int i = t; i < DEPTH * TILE / 8; i += 128) {
      int r = i / (TILE / 8), q = i % (TILE / 8) * 8;
      copy16(&bs[stage][r][q], b + (k0 + r) * n + col + q);
    }
    asm volatile("cp.async.commit_group;" : : : "memory");
  };
  float d[8][4] = {};
  load(0, 0);
  for (int k0 = 0, stage = 0; k0 < k; k0 += DEPTH, stage ^= 1) {
    if (k0 + DEPTH < k) {
      load(stage ^ 1, k0 + DEPTH);
      asm volatile("cp.async.wait_group 1;" : : : "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" : : : "memory");
    }
    __syncthreads();
    for (int kk = 0; kk < DEPTH; kk += 16) {
      uint32_t fa[4];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                   : "r"(shared_address(&as[stage][16 * warp + lane % 16][kk + lane / 16 * 8]))
                   : "memory");
      for (int j = 0; j < 8; ++j) {
        uint32_t fb[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(fb[0]), "=r"(fb[1])
                     : "r"(shared_address(&bs[stage][kk + lane % 16][8 * j]))
                     : "memory");
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                     "{%0, %1, %2, %3};"
                     : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                     : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 4; ++i)
      c[(row + 16 * warp + lane / 4 + 8 * (i >> 1)) * n + col + 8 * j + 2 * (lane % 4) + (i & 1)] = d[j][i];
}
