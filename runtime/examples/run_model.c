/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Opens an artifact, prints its signature, runs it once on ones and prints the beginning of every output.
 *
 *   run_model MODEL.stator [DEVICE] [SIZE]
 *
 * DEVICE is host or cuda; SIZE stands for every size that the artifact leaves open (default 1).
 */
#include "stator/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int report(const stator_error *error) {
  fprintf(stderr, "run_model: %s: %s\n", stator_status_name(error->status), error->message);
  return 1;
}

static void print_signature(const char *role, const stator_tensor_info *info) {
  printf("%s %s: %s[", role, info->name, stator_dtype_name(info->dtype));
  for (uint32_t d = 0; d < info->rank; ++d) printf("%s%s", d ? ", " : "", info->expressions[d]);
  printf("]\n");
}

/* Allocates a dense tensor of ones. Symbols become `size`; sizes that are more than a symbol are not solved here. */
static int make_input(const stator_tensor_info *info, int64_t size, stator_tensor *tensor) {
  size_t count = 1;
  memset(tensor, 0, sizeof *tensor);
  tensor->dtype = info->dtype;
  tensor->rank = info->rank;
  for (uint32_t d = 0; d < info->rank; ++d) {
    tensor->shape[d] = info->shape[d] >= 0 ? info->shape[d] : size;
    count *= (size_t)tensor->shape[d];
  }
  tensor->bytes = count * stator_dtype_bytes(info->dtype);
  tensor->data = calloc(tensor->bytes ? tensor->bytes : 1, 1);
  if (!tensor->data) return 0;
  for (size_t i = 0; i < count; ++i) {
    if (info->dtype == STATOR_DTYPE_F32)
      ((float *)tensor->data)[i] = 1.0f;
    else if (info->dtype == STATOR_DTYPE_I64)
      ((int64_t *)tensor->data)[i] = 1;
  }
  return 1;
}

static void print_tensor(size_t index, const stator_tensor *tensor) {
  size_t count = 1;
  printf("result %zu: %s[", index, stator_dtype_name(tensor->dtype));
  for (uint32_t d = 0; d < tensor->rank; ++d) {
    printf("%s%lld", d ? ", " : "", (long long)tensor->shape[d]);
    count *= (size_t)tensor->shape[d];
  }
  printf("]");
  for (size_t i = 0; i < count && i < 8; ++i) {
    if (tensor->dtype == STATOR_DTYPE_F32)
      printf(" %g", (double)((const float *)tensor->data)[i]);
    else if (tensor->dtype == STATOR_DTYPE_I64)
      printf(" %lld", (long long)((const int64_t *)tensor->data)[i]);
  }
  printf("%s\n", count > 8 ? " ..." : "");
}

int main(int argc, char **argv) {
  stator_error error;
  stator_model *model = NULL;
  stator_session *session = NULL;
  stator_tensor_info info;
  int result = 1;

  if (argc < 2 || argc > 4) {
    fprintf(stderr, "usage: run_model MODEL.stator [DEVICE] [SIZE]\n");
    return 1;
  }
  if (stator_model_open_file(argv[1], NULL, &model, &error) != STATOR_OK) return report(&error);

  size_t input_count = stator_model_input_count(model, 0), output_count = stator_model_output_count(model, 0);
  int64_t size = argc > 3 ? strtoll(argv[3], NULL, 10) : 1;
  stator_tensor *inputs = calloc(input_count + 1, sizeof *inputs);
  stator_tensor *outputs = calloc(output_count + 1, sizeof *outputs); /* data NULL: the session's own memory */
  if (!inputs || !outputs) goto done;
  for (size_t i = 0; i < input_count; ++i) {
    if (stator_model_input(model, 0, i, &info, &error) != STATOR_OK) goto failed;
    print_signature("input", &info);
    if (!make_input(&info, size, &inputs[i])) goto done;
  }
  for (size_t i = 0; i < output_count; ++i) {
    if (stator_model_output(model, 0, i, &info, &error) != STATOR_OK) goto failed;
    print_signature("output", &info);
  }

  stator_session_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.device = argc > 2 ? argv[2] : NULL;
  if (stator_session_create(model, &options, &session, &error) != STATOR_OK) goto failed;
  printf("device %s\n", stator_session_device_name(session));
  if (stator_session_run(session, inputs, input_count, outputs, output_count, &error) != STATOR_OK) goto failed;
  for (size_t i = 0; i < output_count; ++i) print_tensor(i, &outputs[i]);

  stator_memory_info memory;
  if (stator_session_memory(session, NULL, 0, &memory, &error) != STATOR_OK &&
      stator_session_memory(session, inputs, input_count, &memory, &error) != STATOR_OK)
    goto failed;
  printf("memory: arena %llu, weights %llu, state %llu bytes\n", (unsigned long long)memory.arena,
         (unsigned long long)memory.weights, (unsigned long long)memory.state);
  result = 0;
  goto done;

failed:
  report(&error);
done:
  stator_session_destroy(session);
  for (size_t i = 0; inputs && i < input_count; ++i) free(inputs[i].data);
  free(inputs);
  free(outputs);
  stator_model_close(model);
  return result;
}
