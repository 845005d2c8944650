/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Host kernels that the runtime's tests pack into artifacts, as generated code would look to the runtime. */
#include "stator/abi.h"

#include <string.h>
#include <unistd.h>

#define KERNEL(name) void name(char *const *buffers, const int64_t *sizes, int64_t begin, int64_t end)

/* out[i] = a[i] + b[i] over f32; one iteration an element. */
KERNEL(add) {
  const float *a = (const float *)buffers[0], *b = (const float *)buffers[1];
  float *out = (float *)buffers[2];
  for (int64_t i = begin; i < end; ++i) out[i] = a[i] + b[i];
}

/* out[i] = a[i] * sizes[0] over f32. */
KERNEL(scale) {
  const float *a = (const float *)buffers[0];
  float *out = (float *)buffers[1];
  for (int64_t i = begin; i < end; ++i) out[i] = a[i] * (float)sizes[0];
}

/* One iteration a row: out[r] = sum of sizes[0] columns. */
KERNEL(row_sum) {
  const float *a = (const float *)buffers[0];
  float *out = (float *)buffers[1];
  for (int64_t r = begin; r < end; ++r) {
    out[r] = 0;
    for (int64_t c = 0; c < sizes[0]; ++c) out[r] += a[r * sizes[0] + c];
  }
}

/* counter += 1 over one i64. */
KERNEL(increment) { ++*(int64_t *)buffers[0]; }

/* predicate = counter < sizes[0]; counter is i64, predicate one byte. */
KERNEL(less_than) { *buffers[1] = *(const int64_t *)buffers[0] < sizes[0]; }

/* predicate = first i64 of buffers[0] is not zero. */
KERNEL(is_nonzero) { *buffers[1] = *(const int64_t *)buffers[0] != 0; }

/* count = number of non-zero elements among sizes[0] f32. */
KERNEL(count_nonzero) {
  int64_t count = 0;
  for (int64_t i = 0; i < sizes[0]; ++i) count += ((const float *)buffers[0])[i] != 0;
  *(int64_t *)buffers[1] = count;
}

/* Writes the indices (i64) of the non-zero elements. */
KERNEL(nonzero) {
  int64_t *out = (int64_t *)buffers[1];
  for (int64_t i = 0; i < sizes[0]; ++i)
    if (((const float *)buffers[0])[i] != 0) *out++ = i;
}

/* Sleeps for sizes[0] microseconds. */
KERNEL(sleep_for) { usleep((useconds_t)sizes[0]); }

/* Counts how often each iteration was done (u8). */
KERNEL(mark) {
  for (int64_t i = begin; i < end; ++i) ++buffers[0][i];
}
