/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Stator's runtime: open an artifact (`model.stator`), make sessions, run them. Plain C11.
 *
 * Rules that hold everywhere
 *   - Every function that can fail returns a stator_status and, if `error` is not NULL, writes the status and one
 *     line of text there (an empty text on success). No exception leaves the library; there is no global state.
 *   - A stator_model may be used by any number of threads at once. A stator_session is used by one call at a time
 *     (a second one gets STATOR_BUSY); different sessions of one model run in parallel.
 *   - Structs that may grow begin with `struct_size`, which the caller sets to sizeof(the struct); zero everything
 *     else for the defaults. Text that the library returns lives as long as the object it was asked of.
 *   - An artifact holds machine code: open only those you would run as programs. Its file must not be written to
 *     while it is open (replacing it by rename is fine).
 */
#ifndef STATOR_RUNTIME_H
#define STATOR_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "stator/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define STATOR_API __attribute__((visibility("default")))
#else
#define STATOR_API
#endif

/* major * 10000 + minor * 100 + patch. The same major and an equal or newer minor are compatible. */
#define STATOR_RUNTIME_VERSION 100
STATOR_API uint32_t stator_runtime_version(void);

/* ---- status and errors ---------------------------------------------------------------------------------------- */

typedef enum stator_status STATOR_ENUM_BASE {
  STATOR_OK = 0,
  STATOR_INVALID_ARGUMENT = 1, /* NULL, unknown name, wrong count, unknown option */
  STATOR_BAD_ARTIFACT = 2,     /* damaged, truncated, inconsistent or of another version */
  STATOR_MISMATCH = 3,         /* a tensor's dtype, rank, shape, strides or alignment; a size outside its bounds */
  STATOR_ASSERTION = 4,        /* a condition the program states about its sizes or data does not hold */
  STATOR_UNAVAILABLE = 5,      /* a device, library, CPU feature or kernel image this machine lacks */
  STATOR_OUT_OF_MEMORY = 6,
  STATOR_IO = 7,          /* the file cannot be opened or read */
  STATOR_DEVICE_FAULT = 8, /* the driver or a library reported a failure; the text carries its words */
  STATOR_BUSY = 9,        /* the session is in use by another call */
  STATOR_INTERNAL = 10    /* a bug in the runtime */
} stator_status;

/* "ok", "invalid argument", ... ; "unknown status" for other numbers. */
STATOR_API const char *stator_status_name(stator_status status);

typedef struct stator_error {
  stator_status status;
  char message[1020]; /* NUL-terminated, cut if longer */
} stator_error;

/* ---- element types and tensors -------------------------------------------------------------------------------- */

/* The name as abi.h lists it, NULL for a number that is no dtype. */
STATOR_API const char *stator_dtype_name(stator_dtype dtype);
/* Bytes of one element, 0 for a number that is no dtype. */
STATOR_API size_t stator_dtype_bytes(stator_dtype dtype);

typedef enum stator_memory STATOR_ENUM_BASE {
  STATOR_MEMORY_HOST = 0,  /* ordinary memory */
  STATOR_MEMORY_DEVICE = 1 /* memory of the session's device, e.g. a CUdeviceptr as a pointer */
} stator_memory;

/* A tensor as the caller holds it. Zero-initialise, then set what applies. */
typedef struct stator_tensor {
  void *data;   /* may be NULL for zero elements; for outputs see stator_session_run */
  size_t bytes; /* bytes readable (outputs: writable) at `data`; 0: not told, not checked */
  stator_dtype dtype;
  stator_memory memory;
  uint32_t rank;
  uint32_t strided;                /* 0: dense row-major, `strides` is not read; 1: `strides` holds */
  int64_t shape[STATOR_MAX_RANK];  /* elements */
  int64_t strides[STATOR_MAX_RANK]; /* elements, not negative; 0 repeats (inputs only). `data` is element 0 */
} stator_tensor;

/* What an artifact says about one input, output or state. */
typedef struct stator_tensor_info {
  const char *name;
  stator_dtype dtype;
  uint32_t rank;
  int64_t shape[STATOR_MAX_RANK];           /* -1 where the size depends on symbols */
  const char *expressions[STATOR_MAX_RANK]; /* the size as text: "4", "s0", "2*s0+1" */
  int mutated;                              /* inputs: the program writes into it */
} stator_tensor_info;

/* A named size. Data-dependent symbols get their value during the run and have source_input -1. */
typedef struct stator_symbol_info {
  const char *name;
  int64_t min, max;
  int32_t source_input, source_dim;
} stator_symbol_info;

/* ---- models ---------------------------------------------------------------------------------------------------- */

typedef struct stator_model stator_model;

typedef struct stator_model_options {
  size_t struct_size;
  const char *weights_directory; /* where an external weight file is looked for; NULL: beside the artifact */
} stator_model_options;

/* Opens and checks an artifact: structure, version, digests, plan. No device is touched. `options` may be NULL. */
STATOR_API stator_status stator_model_open_file(const char *path, const stator_model_options *options,
                                                stator_model **model, stator_error *error);
/* The same from memory, which must stay valid and unchanged until the model is closed and its sessions destroyed. */
STATOR_API stator_status stator_model_open_memory(const void *data, size_t bytes, const stator_model_options *options,
                                                  stator_model **model, stator_error *error);
/* Sessions keep what they need of a closed model alive. NULL is ignored. */
STATOR_API void stator_model_close(stator_model *model);

/* The text of manifest.json; not NUL-terminated. */
STATOR_API const char *stator_model_manifest(const stator_model *model, size_t *bytes);

/* Functions are numbered from 0; counts are 0 and names NULL outside the range. */
STATOR_API size_t stator_model_function_count(const stator_model *model);
STATOR_API const char *stator_model_function_name(const stator_model *model, size_t function);
STATOR_API size_t stator_model_input_count(const stator_model *model, size_t function);
STATOR_API size_t stator_model_output_count(const stator_model *model, size_t function);
STATOR_API size_t stator_model_state_count(const stator_model *model, size_t function);
STATOR_API size_t stator_model_symbol_count(const stator_model *model, size_t function);
STATOR_API stator_status stator_model_input(const stator_model *model, size_t function, size_t index,
                                            stator_tensor_info *info, stator_error *error);
STATOR_API stator_status stator_model_output(const stator_model *model, size_t function, size_t index,
                                             stator_tensor_info *info, stator_error *error);
STATOR_API stator_status stator_model_state(const stator_model *model, size_t function, size_t index,
                                            stator_tensor_info *info, stator_error *error);
STATOR_API stator_status stator_model_symbol(const stator_model *model, size_t function, size_t index,
                                             stator_symbol_info *info, stator_error *error);

/* ---- sessions -------------------------------------------------------------------------------------------------- */

typedef struct stator_session stator_session;

typedef struct stator_session_options {
  size_t struct_size;
  const char *function;     /* NULL: the first */
  const char *device;       /* "host" or "cuda"; NULL: the first the artifact has a plan for, host before cuda */
  int32_t device_index;     /* which GPU */
  int32_t threads;          /* host threads in a run, the caller's included; 0: as many as the process may use */
  const char *cuda_library; /* path of the driver library; "sim": the simulator beside this library; NULL: the
                               environment variable STATOR_CUDA if set, else libcuda.so.1 */
  void *cuda_stream;        /* a CUstream to work on; NULL: the session makes its own */
  int32_t profile;          /* 1: keep the time of every step (waits for the device after each) */
  int32_t no_libraries;     /* 1: never use oneDNN and the like, always Stator's own kernels */
} stator_session_options;

/* Makes a session with its own arena and state (initial values from the artifact). `options` may be NULL. */
STATOR_API stator_status stator_session_create(stator_model *model, const stator_session_options *options,
                                               stator_session **session, stator_error *error);
STATOR_API void stator_session_destroy(stator_session *session);

/* Runs the function once.
 *
 * Inputs come in signature order. Dense host tensors aligned to their element size are read in place; others are
 * copied. An input the program mutates must be writable and gets its new value.
 *
 * Outputs: where `data` is NULL, the session provides memory (host memory on every device, valid until the next run or
 * the end of the session) and sets data, bytes, dtype, rank, shape, strides. Where `data` is set, dtype, rank and
 * shape must be what the program yields; if the output's shape depends on data, `bytes` is the capacity and the shape
 * is written. Outputs must not overlap each other or the inputs. Zero-size tensors are ordinary.
 *
 * After an error the contents of outputs are unspecified, state may be partly updated, and the session can be used
 * again (after STATOR_DEVICE_FAULT: only destroyed). */
STATOR_API stator_status stator_session_run(stator_session *session, const stator_tensor *inputs, size_t input_count,
                                            stator_tensor *outputs, size_t output_count, stator_error *error);

/* What a run with these inputs would yield: sets dtype, rank, shape of every output (-1: depends on data); data stays
 * untouched. Only dtype, rank and shape of the inputs are read (and the data of inputs that define a symbol). */
STATOR_API stator_status stator_session_output_shapes(stator_session *session, const stator_tensor *inputs,
                                                      size_t input_count, stator_tensor *outputs, size_t output_count,
                                                      stator_error *error);

/* State `index`: copied out to or in from a host tensor. `out` with data NULL gets session memory as outputs do. */
STATOR_API stator_status stator_session_read_state(stator_session *session, size_t index, stator_tensor *out,
                                                   stator_error *error);
STATOR_API stator_status stator_session_write_state(stator_session *session, size_t index, const stator_tensor *in,
                                                    stator_error *error);
/* All states back to the artifact's initial values. */
STATOR_API stator_status stator_session_reset_state(stator_session *session, stator_error *error);

/* Bytes, for the sizes of the last run (or of `inputs`, if not NULL). */
typedef struct stator_memory_info {
  uint64_t arena;     /* planned intermediate memory */
  uint64_t live_load; /* no plan of this order of steps can do with less; 0: the artifact does not say */
  uint64_t weights;   /* shared by all sessions of the model */
  uint64_t state;
  uint64_t library; /* prepacked weights (shared by sessions) and scratch memory of libraries, so far */
} stator_memory_info;
STATOR_API stator_status stator_session_memory(stator_session *session, const stator_tensor *inputs,
                                               size_t input_count, stator_memory_info *info, stator_error *error);

/* One row a step, in plan order, summed over the runs so far. */
typedef struct stator_profile_row {
  const char *kind;   /* "launch", "library", "copy", ... */
  const char *name;   /* kernel or operation, "" where there is none */
  const char *label;  /* what the compiler calls it, "" if nothing */
  const char *source; /* the user's line, "" if unknown */
  uint64_t calls;
  uint64_t nanoseconds;
  uint32_t depth; /* nesting in branches and loops */
  /* What the step needed at least over all calls, by the compiler's count: each input and output once. 0 if unknown. */
  uint64_t bytes_read;
  uint64_t bytes_written;
  uint64_t operations;
} stator_profile_row;
/* Writes up to `capacity` rows and the number there are to `count`. Times and costs are 0 unless options.profile was
 * set. */
STATOR_API stator_status stator_session_profile(const stator_session *session, stator_profile_row *rows,
                                                size_t capacity, size_t *count, stator_error *error);

/* The device as its driver names it, and what stands behind library steps; one line of text. */
STATOR_API const char *stator_session_device_name(const stator_session *session);

#ifdef __cplusplus
}
#endif
#endif
