/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The one header that the compiler and the runtime share. Plain C11, no includes beyond <stdint.h>.
 *
 * It fixes: the element types and their names, the signature of host kernels, how CUDA kernels are given their
 * parameters, and the version numbers that an artifact carries. The artifact itself is described in
 * docs/artifact-format.md. A change that an older runtime would misread raises STATOR_ABI_VERSION (kernels) or
 * STATOR_ARTIFACT_VERSION (manifest).
 */
#ifndef STATOR_ABI_H
#define STATOR_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the calling convention of kernels: `"abi"` in the manifest must equal it. */
#define STATOR_ABI_VERSION 1

/* Version of the manifest: `"format"` in the manifest must equal it. */
#define STATOR_ARTIFACT_VERSION 1

/* The highest rank of a tensor in a signature. */
#define STATOR_MAX_RANK 16

/* Start of every arena, weight, state and session-owned buffer, in bytes. Archive entries and the tensors of
 * weights.safetensors should be aligned to it too; those that are not are copied when the artifact is opened. */
#define STATOR_ALIGNMENT 64

/* The element types: X(enumerator, number, name, bits). Numbers and names never change; new ones are appended.
 * Names are what the manifest and the graph dialect print. A bool is one byte that holds 0 or 1. */
#define STATOR_DTYPES(X)                                                                                               \
  X(BOOL, 1, "bool", 8)                                                                                                \
  X(U8, 2, "u8", 8)                                                                                                    \
  X(U16, 3, "u16", 16)                                                                                                 \
  X(U32, 4, "u32", 32)                                                                                                 \
  X(U64, 5, "u64", 64)                                                                                                 \
  X(I8, 6, "i8", 8)                                                                                                    \
  X(I16, 7, "i16", 16)                                                                                                 \
  X(I32, 8, "i32", 32)                                                                                                 \
  X(I64, 9, "i64", 64)                                                                                                 \
  X(F16, 10, "f16", 16)                                                                                                \
  X(BF16, 11, "bf16", 16)                                                                                              \
  X(F32, 12, "f32", 32)                                                                                                \
  X(F64, 13, "f64", 64)                                                                                                \
  X(F8E4M3FN, 14, "f8E4M3FN", 8)                                                                                       \
  X(F8E5M2, 15, "f8E5M2", 8)

/* Callers may hand over any number: C++ must take it for a value of the enumeration, as C does. */
#ifdef __cplusplus
#define STATOR_ENUM_BASE : unsigned int
#else
#define STATOR_ENUM_BASE
#endif

typedef enum stator_dtype STATOR_ENUM_BASE {
  STATOR_DTYPE_INVALID = 0,
#define STATOR_ENUMERATOR(NAME, NUMBER, TEXT, BITS) STATOR_DTYPE_##NAME = NUMBER,
  STATOR_DTYPES(STATOR_ENUMERATOR)
#undef STATOR_ENUMERATOR
} stator_dtype;

/* A host kernel, exported by name from a module's shared object.
 *
 * It does the iterations [begin, end) of its parallel domain; the launch step says how many there are (`count`) and
 * how many are worth a thread (`grain`). The runtime splits [0, count) among threads, so a kernel may be entered by
 * several threads at once with disjoint ranges, in any order, and must give the same result for every split.
 * `begin < end` always holds; a launch of count 0 does not call the kernel.
 *
 *   buffers  one pointer for each entry of the step's `buffers`, in that order. Tensors are dense and row-major; a
 *            bool is one byte. Arena (at its planned offset), weight, state and session-owned buffers are aligned to
 *            STATOR_ALIGNMENT; callers' inputs and outputs to the plan's `io_alignment` (at least their element size).
 *            The pointer of a zero-size buffer may be anything.
 *   sizes    one value for each entry of the step's `sizes`, evaluated for this call.
 *
 * A kernel may use 256 KiB of stack. It reports nothing: data-dependent failures go through a buffer that a
 * `read_symbol` and an `assert` step look at. The shared object names its own needed libraries (libm.so.6 at most)
 * and keeps no writable global state.
 */
typedef void (*stator_host_kernel)(char *const *buffers, const int64_t *sizes, int64_t begin, int64_t end);

/* A CUDA kernel is a PTX `.entry` whose parameters are, in this order, one 64-bit global pointer for each entry of
 * the step's `buffers` and then one scalar for each entry of its `scalars`, each a `.b64`/`.s64` ("i64") or
 * `.b32`/`.s32` ("i32") parameter. A 64-bit value that does not fit an "i32" parameter is an error of the call. */

#ifdef __cplusplus
}
#endif
#endif
