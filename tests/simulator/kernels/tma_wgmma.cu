// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C = A B' for f16 operands and f32 results: A is m x k, B is n x k, C is m x n, all row-major; m and n multiples of 64, k
// of 64. A tile of A and one of B arrive by tensor copies into a ring of stages with 128-byte swizzle; full barriers count
// their bytes, and the warpgroup multiplies a stage while the next one is on its way.
#include <cstdint>
#define TILE 64
#define STAGES 2
#define STAGE_BYTES (TILE * TILE * 2)

struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

__device__ static uint32_t shared_address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ static void wait_phase(uint32_t barrier, uint32_t parity) {
  asm volatile("{\n\t.reg .pred done;\n"
               "wait:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t@!done bra wait;\n\t}"
               :
               : "r"(barrier), "r"(parity)
               : "memory");
}

__device__ static void copy_tile(uint32_t to, const TensorMap *map, int x, int y, uint32_t barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :
               : "r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier)
               : "memory");
}

// Rows of 128 bytes, swizzled by 128: 8 rows are 1024 bytes.
__device__ static uint64_t descriptor(uint32_t address) {
  return (uint64_t{1} << 62) | (uint64_t{1024 >> 4} << 32) | (uint64_t{1} << 16) | (address >> 4 & 0x3fff);
}

__device__ static void multiply(float (&d)[32], uint64_t a, uint64_t b, int accumulate) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %34, 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "
               "%23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0;\n\t}"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                 "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                 "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                 "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
               : "l"(a), "l"(b), "r"(accumulate));
}

extern "C" __global__ void __launch_bounds__(128)
    tma_wgmma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *c, int n, int k) {
  __shared__ alignas(1024) unsigned char as[STAGES][STAGE_BYTES];
  __shared__ alignas(1024) unsigned char bs[STAGES][STAGE_BYTES];
  __shared__ alignas(8) uint64_t full[STAGES];
  int row = blockIdx.y * TILE, col = blockIdx.x * TILE, steps = k / TILE;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(shared_address(&full[s])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
  }
  __syncthreads();
  auto load = [&](int step) {
    int stage = step % STAGES;
    uint32_t barrier = shared_address(&full[stage]);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" : : "r"(barrier), "r"(2 * STAGE_BYTES) : "memory");
    copy_tile(shared_address(as[stage]), &a, step * TILE, row, barrier);
    copy_tile(shared_address(bs[stage]), &b, step * TILE, col, barrier);
  };
  if (threadIdx.x == 0) load(0);
  float d[32];
  for (int step = 0; step < steps; ++step) {
    int stage = step % STAGES;
    if (threadIdx.x == 0 && step + 1 < steps) load(step + 1);
    wait_phase(shared_address(&full[stage]), step / STAGES & 1);
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
    for (int i = 0; i < TILE / 16; ++i)
      multiply(d, descriptor(shared_address(as[stage]) + 32 * i), descriptor(shared_address(bs[stage]) + 32 * i),
               step > 0 || i > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
    __syncthreads();
  }
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < 32; ++i) {
    int r = 16 * warp + lane / 4 + 8 * (i >> 1 & 1), q = 2 * (lane % 4) + (i & 1) + 8 * (i >> 2);
    c[(row + r) * n + col + q] = d[i];
  }
}
