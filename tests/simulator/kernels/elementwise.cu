// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// y = gelu(x + bias) * scale + residual, the tanh form of gelu, four elements a thread.
__device__ static float gelu(float x) {
  float inner = 0.7978845608f * __fmaf_rn(__fmul_rn(0.044715f, x), __fmul_rn(x, x), x);
  return 0.5f * x * (1.0f + tanhf(inner));
}

extern "C" __global__ void elementwise(const float4 *x, const float4 *bias, const float4 *residual, float4 *y, int n,
                                       int row, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 a = x[i], b = bias[i % row], r = residual[i];
  y[i] = make_float4(__fmaf_rn(gelu(a.x + b.x), scale, r.x), __fmaf_rn(gelu(a.y + b.y), scale, r.y),
                     __fmaf_rn(gelu(a.z + b.z), scale, r.z), __fmaf_rn(gelu(a.w + b.w), scale, r.w));
}
