// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/execute/Tensors.h"

#include "runtime/src/Failure.h"

#include <cstring>

namespace stator::runtime {
namespace {

/// Walks a strided tensor in row-major order. `move(strided, dense, elements, stride)` handles one innermost row.
template <typename Move> void forEachRow(const stator_tensor &tensor, const Move &move) {
  // Neighbouring dimensions that step evenly become one.
  int64_t shape[STATOR_MAX_RANK + 1], strides[STATOR_MAX_RANK + 1];
  int rank = 0;
  for (uint32_t d = 0; d < tensor.rank; ++d) {
    if (tensor.shape[d] == 0) return;
    if (tensor.shape[d] == 1) continue;
    if (rank > 0 && strides[rank - 1] == tensor.strides[d] * tensor.shape[d]) {
      shape[rank - 1] *= tensor.shape[d];
      strides[rank - 1] = tensor.strides[d];
    } else {
      shape[rank] = tensor.shape[d], strides[rank] = tensor.strides[d];
      ++rank;
    }
  }
  if (rank == 0) shape[0] = 1, strides[0] = 1, rank = 1;

  int64_t index[STATOR_MAX_RANK] = {}, offset = 0, dense = 0;
  int inner = rank - 1;
  while (true) {
    move(offset, dense, shape[inner], strides[inner]);
    dense += shape[inner];
    int d = inner - 1;
    for (; d >= 0; --d) {
      offset += strides[d];
      if (++index[d] < shape[d]) break;
      offset -= strides[d] * shape[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

template <typename T> void gather(char *dense, const stator_tensor &tensor) {
  const char *data = static_cast<const char *>(tensor.data);
  forEachRow(tensor, [&](int64_t from, int64_t to, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; ++i) // memcpy: callers' data may be unaligned
      std::memcpy(dense + (to + i) * int64_t(sizeof(T)), data + (from + i * stride) * int64_t(sizeof(T)), sizeof(T));
  });
}

template <typename T> void scatter(const stator_tensor &tensor, const char *dense) {
  char *data = static_cast<char *>(tensor.data);
  forEachRow(tensor, [&](int64_t to, int64_t from, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(data + (to + i * stride) * int64_t(sizeof(T)), dense + (from + i) * int64_t(sizeof(T)), sizeof(T));
  });
}

} // namespace

std::string tensorTitle(const char *role, size_t index, const TensorSpec &spec) {
  return std::string(role) + " " + std::to_string(index) + " ('" + spec.name.substr(0, 200) + "')";
}

int64_t elementCount(const stator_tensor &tensor) {
  int64_t count = 1;
  for (uint32_t d = 0; d < tensor.rank; ++d) count *= tensor.shape[d];
  return count;
}

void checkTensor(const stator_tensor &tensor, const TensorSpec &spec, const std::string &title, bool written,
                 bool needsData) {
  const char *name = title.c_str();
  if (tensor.dtype != spec.dtype) {
    const char *given = stator_dtype_name(tensor.dtype);
    fail(STATOR_MISMATCH, "%s: dtype is %s, %s is expected", name, given ? given : "invalid",
         stator_dtype_name(spec.dtype));
  }
  if (tensor.rank != spec.shape.size())
    fail(STATOR_MISMATCH, "%s: rank is %u, %zu is expected", name, tensor.rank, spec.shape.size());
  int64_t element = int64_t(stator_dtype_bytes(tensor.dtype));
  int64_t bytes = element; // of the dense tensor, zeros left out
  bool empty = false;
  for (uint32_t d = 0; d < tensor.rank; ++d) {
    if (tensor.shape[d] < 0) fail(STATOR_MISMATCH, "%s: dimension %u is %lld", name, d, (long long)tensor.shape[d]);
    empty |= tensor.shape[d] == 0;
    if (tensor.shape[d] != 0 && !multiplyInto(bytes, tensor.shape[d])) fail(STATOR_MISMATCH, "%s: size overflow", name);
  }
  int64_t last = 0; // offset of the last element
  if (tensor.strided) {
    for (uint32_t d = 0; d < tensor.rank; ++d) {
      if (tensor.strides[d] < 0) fail(STATOR_MISMATCH, "%s: stride %u is negative", name, d);
      if (empty || tensor.shape[d] == 1) continue;
      if (written && tensor.strides[d] == 0)
        fail(STATOR_MISMATCH, "%s: stride %u is 0 in a tensor that is written", name, d);
      int64_t step = tensor.strides[d];
      if (!multiplyInto(step, tensor.shape[d] - 1) || !addInto(last, step))
        fail(STATOR_MISMATCH, "%s: strides overflow", name);
    }
    if (!addInto(last, 1) || !multiplyInto(last, element)) fail(STATOR_MISMATCH, "%s: strides overflow", name);
  } else {
    last = bytes;
  }
  if (!needsData) return;
  if (empty) return;
  if (!tensor.data) fail(STATOR_MISMATCH, "%s: data is NULL", name);
  if (tensor.bytes != 0 && uint64_t(last) > tensor.bytes)
    fail(STATOR_MISMATCH, "%s: shape and strides reach over %lld bytes, %zu are given", name, (long long)last,
         tensor.bytes);
}

bool isDense(const stator_tensor &tensor) {
  if (!tensor.strided) return true;
  int64_t expected = 1;
  for (uint32_t d = 0; d < tensor.rank; ++d)
    if (tensor.shape[d] == 0) return true;
  for (uint32_t d = tensor.rank; d-- > 0;) {
    if (tensor.shape[d] != 1 && tensor.strides[d] != expected) return false;
    expected *= tensor.shape[d];
  }
  return true;
}

bool isAligned(const stator_tensor &tensor, size_t alignment) {
  alignment = std::max(alignment, stator_dtype_bytes(tensor.dtype));
  return reinterpret_cast<uintptr_t>(tensor.data) % alignment == 0;
}

void gatherElements(char *dense, const stator_tensor &strided) {
  size_t element = stator_dtype_bytes(strided.dtype);
  if (isDense(strided)) {
    int64_t count = elementCount(strided);
    if (count != 0) std::memcpy(dense, strided.data, size_t(count) * element);
    return;
  }
  switch (element) {
  case 1: return gather<uint8_t>(dense, strided);
  case 2: return gather<uint16_t>(dense, strided);
  case 4: return gather<uint32_t>(dense, strided);
  default: return gather<uint64_t>(dense, strided);
  }
}

void scatterElements(const stator_tensor &strided, const char *dense) {
  size_t element = stator_dtype_bytes(strided.dtype);
  if (isDense(strided)) {
    int64_t count = elementCount(strided);
    if (count != 0) std::memcpy(strided.data, dense, size_t(count) * element);
    return;
  }
  switch (element) {
  case 1: return scatter<uint8_t>(strided, dense);
  case 2: return scatter<uint16_t>(strided, dense);
  case 4: return scatter<uint32_t>(strided, dense);
  default: return scatter<uint64_t>(strided, dense);
  }
}

} // namespace stator::runtime
