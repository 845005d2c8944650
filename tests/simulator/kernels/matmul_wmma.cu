// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C = A B for f16 operands and f32 results, all row-major, m, n and k multiples of 16: one warp a 16x16 tile.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void matmul_wmma(const half *a, const half *b, float *c, int m, int n, int k) {
  int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32, across = n / 16;
  int row = tile / across * 16, col = tile % across * 16;
  if (row >= m) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int k0 = 0; k0 < k; k0 += 16) {
    wmma::load_matrix_sync(fa, a + row * k + k0, k);
    wmma::load_matrix_sync(fb, b + k0 * n + col, n);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c + row * n + col, fc, n, wmma::mem_row_major);
}
