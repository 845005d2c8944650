// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/device/host/HostDevice.h"

#include "runtime/src/Failure.h"
#include "runtime/src/execute/Frame.h"
#include "runtime/src/library/onednn/OneDnn.h"

#include <cstring>

namespace stator::runtime {
namespace {

struct KernelCall {
  stator_host_kernel kernel;
  char *const *buffers;
  const int64_t *sizes;

  static void run(const void *context, int64_t begin, int64_t end) {
    const KernelCall &call = *static_cast<const KernelCall *>(context);
    call.kernel(call.buffers, call.sizes, begin, end);
  }
};

template <typename T> void fillWith(char *to, uint64_t bits, int64_t bytes) {
  T value = T(bits), *element = reinterpret_cast<T *>(to);
  for (int64_t i = 0; i < bytes / int64_t(sizeof(T)); ++i) std::memcpy(element + i, &value, sizeof value);
}

} // namespace

HostDevice::HostDevice(Model &model, int threads, bool useLibraries) : model(model) {
  if (threads <= 0) threads = availableThreads();
  if (useLibraries) onednn = openOneDnn(model, threads);
  parallel = onednn ? onednn->parallel(threads) : nullptr;
  if (!parallel) parallel = std::make_unique<ThreadPool>(threads);
  modules = model.shared<HostModules>("host", [&] { return std::make_shared<HostModules>(model.modules()); });
}

std::string HostDevice::name() const {
  return "host, " + std::to_string(parallel->threads()) + (parallel->threads() == 1 ? " thread" : " threads") +
         (onednn ? ", " + onednn->name() : std::string());
}

char *HostDevice::allocate(int64_t bytes, MemoryKind) { return allocateAligned(bytes).release(); }
void HostDevice::release(char *address, MemoryKind) noexcept { FreeMemory()(address); }
void HostDevice::copy(char *to, const char *from, int64_t bytes) { std::memmove(to, from, size_t(bytes)); }
void HostDevice::upload(char *to, const void *from, int64_t bytes) { std::memcpy(to, from, size_t(bytes)); }
void HostDevice::download(void *to, const char *from, int64_t bytes) { std::memcpy(to, from, size_t(bytes)); }

void HostDevice::fill(char *to, uint64_t bits, uint32_t width, int64_t bytes) {
  switch (width) {
  case 1: std::memset(to, int(bits & 255), size_t(bytes)); break;
  case 2: fillWith<uint16_t>(to, bits, bytes); break;
  case 4: fillWith<uint32_t>(to, bits, bytes); break;
  default: fillWith<uint64_t>(to, bits, bytes); break;
  }
}

void *HostDevice::findKernel(const LaunchStep &step) {
  return reinterpret_cast<void *>(modules->find(step.module, step.kernel));
}

void HostDevice::launch(const LaunchStep &step, void *kernel, Frame &frame) {
  int64_t count = frame.value(step.count);
  if (count < 0) fail(STATOR_BAD_ARTIFACT, "kernel '%.200s' has count %lld", step.kernel.c_str(), (long long)count);
  if (count == 0) return;
  addresses.clear();
  sizes.clear();
  for (BufferId buffer : step.buffers) addresses.push_back(frame.address(buffer));
  for (ExprId size : step.sizes) sizes.push_back(frame.value(size));
  KernelCall call{reinterpret_cast<stator_host_kernel>(kernel), addresses.data(), sizes.data()};
  parallel->loop(count, frame.value(step.grain), {&KernelCall::run, &call});
}

char *HostDevice::weight(const std::string &name, int64_t &bytes) {
  std::string_view data = model.weight(name).data;
  bytes = int64_t(data.size());
  return const_cast<char *>(data.data()); // mapped read-only; the plan reader lets no step write to it
}

Library *HostDevice::library(const std::string &name) { return name == "onednn" ? onednn.get() : nullptr; }

} // namespace stator::runtime
