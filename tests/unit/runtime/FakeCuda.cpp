// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA driver that keeps "device" memory on the host, records every call that matters, and knows a few kernels by
// name. It lets the runtime's use of the driver API be tested to the letter without a GPU.
#include "tests/unit/runtime/FakeCuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace {

struct State {
  std::recursive_mutex mutex;
  std::string log, loadedImage;
  int capability = 90;
  int failLaunchWith = 0, refuseCubins = 0;
  std::map<unsigned long long, size_t> allocations;
  int contexts = 0, modules = 0, streams = 0;
};

State &state() {
  static State instance;
  return instance;
}

thread_local int contextDepth = 0; // work without a current context is refused, as a driver does

template <typename... Values> void record(const char *format, Values... values) {
  char line[256];
  std::snprintf(line, sizeof line, format, values...);
  std::lock_guard<std::recursive_mutex> lock(state().mutex);
  state().log += line;
  state().log += '\n';
}

constexpr int invalidContext = 201, invalidValue = 1, notFound = 500;

struct Function {
  std::string name;
};

/// Whether [address, address + bytes) lies within one allocation.
bool inside(unsigned long long address, size_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(state().mutex);
  auto after = state().allocations.upper_bound(address);
  if (after == state().allocations.begin()) return bytes == 0;
  --after;
  return address + bytes <= after->first + after->second;
}

} // namespace

#define CONTEXT()                                                                                                      \
  if (contextDepth == 0) return invalidContext
#define EXPORT extern "C" __attribute__((visibility("default")))
#define LOCK() std::lock_guard<std::recursive_mutex> lock(state().mutex)

EXPORT std::string fake_cuda_take_log() {
  LOCK();
  return std::exchange(state().log, std::string());
}
EXPORT void fake_cuda_set_capability(int capability) { state().capability = capability; }
EXPORT void fake_cuda_fail_launch(int result) { state().failLaunchWith = result; }
EXPORT void fake_cuda_refuse_cubins(int refuse) { state().refuseCubins = refuse; }
EXPORT std::string fake_cuda_left_over() {
  LOCK();
  return std::to_string(state().allocations.size()) + " allocations, " + std::to_string(state().contexts) +
         " contexts, " + std::to_string(state().modules) + " modules, " + std::to_string(state().streams) + " streams";
}

EXPORT int cuInit(unsigned) { return 0; }
EXPORT int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
// As the driver does, no text for a code that there is not.
EXPORT int cuGetErrorName(int result, const char **text) {
  if (result > 999) return *text = nullptr, invalidValue;
  return *text = result == 700 ? "FAKE_ILLEGAL_ADDRESS" : "FAKE_ERROR", 0;
}
EXPORT int cuGetErrorString(int result, const char **text) {
  if (result > 999) return *text = nullptr, invalidValue;
  return *text = result == 700 ? "an illegal address" : "an error", 0;
}
EXPORT int cuDeviceGetCount(int *count) { return *count = 2, 0; }
EXPORT int cuDeviceGet(int *device, int ordinal) { return *device = ordinal + 10, 0; }
EXPORT int cuDeviceGetName(char *name, int length, int) { return std::snprintf(name, size_t(length), "Fake"), 0; }
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int) {
  if (attribute == 75) return *value = state().capability / 10, 0;
  if (attribute == 76) return *value = state().capability % 10, 0;
  return invalidValue;
}
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  LOCK();
  record("retain %d", device);
  ++state().contexts;
  *context = &state();
  return 0;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
  LOCK();
  --state().contexts;
  return 0;
}
EXPORT int cuCtxPushCurrent_v2(void *) { return ++contextDepth, 0; }
EXPORT int cuCtxPopCurrent_v2(void **) { return --contextDepth, 0; }
EXPORT int cuCtxSynchronize() { return 0; }
EXPORT int cuStreamCreate(void **stream, unsigned flags) {
  CONTEXT();
  LOCK();
  record("stream flags %u", flags);
  ++state().streams;
  *stream = new int;
  return 0;
}
EXPORT int cuStreamDestroy_v2(void *stream) {
  CONTEXT();
  LOCK();
  --state().streams;
  delete static_cast<int *>(stream);
  return 0;
}
EXPORT int cuStreamSynchronize(void *stream) {
  CONTEXT();
  record(stream ? "synchronize" : "synchronize default");
  return 0;
}
EXPORT int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  CONTEXT();
  LOCK();
  if (bytes == 0) return invalidValue;
  if (bytes > (size_t(1) << 33)) return 2;
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(memory, 0xAB, bytes);
  *address = reinterpret_cast<uintptr_t>(memory);
  state().allocations[*address] = bytes;
  record("allocate %zu", bytes);
  return 0;
}
EXPORT int cuMemFree_v2(unsigned long long address) {
  CONTEXT();
  LOCK();
  if (state().allocations.erase(address) != 1) return invalidValue;
  std::free(reinterpret_cast<void *>(uintptr_t(address)));
  return 0;
}
EXPORT int cuMemAllocHost_v2(void **memory, size_t bytes) {
  unsigned long long address = 0;
  int result = cuMemAlloc_v2(&address, bytes);
  *memory = reinterpret_cast<void *>(uintptr_t(address));
  return result;
}
EXPORT int cuMemFreeHost(void *memory) { return cuMemFree_v2(reinterpret_cast<uintptr_t>(memory)); }
EXPORT int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t bytes, void *) {
  CONTEXT();
  if (!inside(to, bytes) || !inside(from, bytes) || (to < from + bytes && from < to + bytes)) return invalidValue;
  record("copy %zu", bytes);
  std::memcpy(reinterpret_cast<void *>(uintptr_t(to)), reinterpret_cast<void *>(uintptr_t(from)), bytes);
  return 0;
}
EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *) {
  CONTEXT();
  if (!inside(to, bytes)) return invalidValue;
  record("upload %zu", bytes);
  std::memcpy(reinterpret_cast<void *>(uintptr_t(to)), from, bytes);
  return 0;
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *) {
  CONTEXT();
  if (!inside(from, bytes)) return invalidValue;
  record("download %zu", bytes);
  std::memcpy(to, reinterpret_cast<void *>(uintptr_t(from)), bytes);
  return 0;
}
template <typename T> static int setValues(unsigned long long to, T value, size_t count, size_t step) {
  CONTEXT();
  if (!inside(to, count == 0 ? 0 : (count - 1) * step + sizeof value)) return invalidValue;
  record("set%zu %zu", sizeof value * 8, count);
  for (size_t i = 0; i < count; ++i)
    std::memcpy(reinterpret_cast<char *>(uintptr_t(to)) + i * step, &value, sizeof value);
  return 0;
}
EXPORT int cuMemsetD8Async(unsigned long long to, unsigned char v, size_t n, void *) { return setValues(to, v, n, 1); }
EXPORT int cuMemsetD16Async(unsigned long long to, unsigned short v, size_t n, void *) {
  return setValues(to, v, n, 2);
}
EXPORT int cuMemsetD32Async(unsigned long long to, unsigned v, size_t n, void *) { return setValues(to, v, n, 4); }
EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned, int *options, void **values) {
  CONTEXT();
  LOCK();
  std::string text = static_cast<const char *>(image);
  record("load %s", text.c_str());
  if (state().refuseCubins && text.compare(0, 5, "cubin") == 0) return 209;
  if (text.find("broken") != text.npos) {
    std::snprintf(static_cast<char *>(values[0]), reinterpret_cast<size_t>(values[1]), "line 7: no such opcode");
    return options[0] == 5 && options[1] == 6 ? 218 : invalidValue;
  }
  ++state().modules;
  *module = new int;
  return 0;
}
EXPORT int cuModuleUnload(void *module) {
  CONTEXT();
  LOCK();
  --state().modules;
  delete static_cast<int *>(module);
  return 0;
}
EXPORT int cuModuleGetFunction(void **function, void *, const char *name) {
  CONTEXT();
  static Function add{"add"}, sum{"sum"}, count{"count"}, idle{"idle"};
  for (Function *known : {&add, &sum, &count, &idle})
    if (known->name == name) return *function = known, 0;
  return notFound;
}
EXPORT int cuFuncSetAttribute(void *function, int attribute, int value) {
  CONTEXT();
  record("attribute %s %d %d", static_cast<Function *>(function)->name.c_str(), attribute, value);
  return 0;
}
EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *, void **p, void **) {
  CONTEXT();
  const std::string &name = static_cast<Function *>(function)->name;
  record("launch %s grid %u %u %u block %u %u %u shared %u", name.c_str(), gx, gy, gz, bx, by, bz, shared);
  if (int result = std::exchange(state().failLaunchWith, 0)) return result;
  auto floats = [&](int i) { return reinterpret_cast<float *>(uintptr_t(*static_cast<unsigned long long *>(p[i]))); };
  if (name == "add") { // a, b, out, i64 count
    for (long long i = 0; i < *static_cast<long long *>(p[3]); ++i) floats(2)[i] = floats(0)[i] + floats(1)[i];
  } else if (name == "sum") { // in, out, i32 count
    float total = 0;
    for (int i = 0; i < *static_cast<int *>(p[2]); ++i) total += floats(0)[i];
    *floats(1) = total;
  } else if (name == "count") { // in, i64 out, i64 count
    long long found = 0;
    for (long long i = 0; i < *static_cast<long long *>(p[2]); ++i) found += floats(0)[i] != 0;
    std::memcpy(floats(1), &found, sizeof found);
  }
  return 0;
}
