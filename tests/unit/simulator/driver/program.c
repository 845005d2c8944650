/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An ordinary program that uses the driver API and knows nothing of a simulator:
 *   program FILE.ptx KERNEL BLOCKS THREADS SHARED [cooperative] ARGUMENT..
 * ARGUMENT: z:BYTES a buffer of zeros, u:BYTES one nobody has written, i:COUNT one of the numbers 0, 1, .., f:BYTES one
 * that has been freed, n:NUMBER a 32-bit number. Prints the devices, then what each call returned, and the first words
 * of the first buffer. */
#include "cuda_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 16

static CUresult show(const char *what, CUresult result) {
  const char *name = "?";
  cuGetErrorName(result, &name);
  printf("%s %d %s\n", what, result, name);
  return result;
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = calloc(1, 1 << 20);
  if (!file || !text) exit(3);
  if (!fread(text, 1, (1 << 20) - 1, file)) exit(3);
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  if (argc < 6) return 3;
  int count = 0, at = 6, cooperative = 0, words = 0, n = 0;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  CUstream stream;
  if (show("init", cuInit(0))) return 2;
  cuDeviceGetCount(&count);
  for (int i = 0; i < count; ++i) {
    char name[64];
    if (cuDeviceGet(&device, i) || cuDeviceGetName(name, sizeof name, device)) return 2;
    printf("device %d %s\n", i, name);
  }
  if (show("context", cuDeviceGet(&device, 0)) || show("context", cuCtxCreate_v2(&context, 0, device))) return 2;
  if (show("module", cuModuleLoadData(&module, read_file(argv[1])))) return 1;
  if (show("function", cuModuleGetFunction(&function, module, argv[2]))) return 1;
  if (show("stream", cuStreamCreate(&stream, 1))) return 2;
  if (at < argc && !strcmp(argv[at], "cooperative")) cooperative = 1, ++at;
  CUdeviceptr pointers[MOST], first = 0;
  unsigned numbers[MOST];
  void *params[MOST];
  for (; at < argc && n < MOST; ++at, ++n) {
    size_t size = strtoul(argv[at] + 2, NULL, 0);
    params[n] = &pointers[n];
    if (argv[at][0] == 'n') {
      numbers[n] = (unsigned)size;
      params[n] = &numbers[n];
      continue;
    }
    if (argv[at][0] == 'i') size *= 4;
    if (show("allocate", cuMemAlloc_v2(&pointers[n], size))) return 2;
    if (argv[at][0] == 'z') cuMemsetD8_v2(pointers[n], 0, size);
    if (argv[at][0] == 'i') {
      unsigned *values = malloc(size);
      for (unsigned i = 0; i < size / 4; ++i) values[i] = i;
      if (cuMemcpyHtoD_v2(pointers[n], values, size)) return 2;
      free(values);
    }
    if (argv[at][0] == 'f') cuMemFree_v2(pointers[n]);
    if (!first) first = pointers[n], words = (int)(size / 4 < 8 ? size / 4 : 8);
  }
  unsigned blocks = (unsigned)atoi(argv[3]), threads = (unsigned)atoi(argv[4]), shared = (unsigned)atoi(argv[5]);
  CUresult launched = cooperative
                          ? cuLaunchCooperativeKernel(function, blocks, 1, 1, threads, 1, 1, shared, stream, params)
                          : cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, stream, params, NULL);
  show("launch", launched);
  show("synchronize", cuCtxSynchronize());
  unsigned out[8] = {0};
  if (!show("copy", cuMemcpyDtoH_v2(out, first, (size_t)words * 4))) {
    printf("words");
    for (int i = 0; i < words; ++i) printf(" %u", out[i]);
    printf("\n");
  }
  show("again", cuCtxSynchronize());
  return 0;
}
