// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory: allocation, pools, host memory, copies, fills, pointer questions.
#include "runtime/simulator/driver/Driver.h"

#include <cstdlib>
#include <cstring>

using namespace stator::sim;
using namespace stator::sim::cu;

namespace {

struct Range {
  uint8_t *data = nullptr;
  Allocation *owner = nullptr;
};

/// A range of any address: device memory must be inside one allocation, everything else is taken as host memory.
Result rangeOf(Driver &driver, uint64_t address, uint64_t bytes, bool mustBeDevice, Range &out) {
  for (auto &device : driver.devices) {
    Allocation *a = device->memory->find(address);
    if (!a) continue;
    out.data = device->memory->host(address, bytes, &out.owner);
    return out.data ? success : invalidValue;
  }
  bool inDeviceWindow = address - kDeviceBase < kDeviceBytes * 64;
  if (mustBeDevice || inDeviceWindow || !address) return invalidValue;
  out.data = reinterpret_cast<uint8_t *>(address);
  return success;
}

void copyDefined(const Range &to, const Range &from, uint64_t bytes) {
  if (!to.owner || !to.owner->defined) return;
  uint8_t *d = to.owner->defined + (to.data - to.owner->data);
  if (from.owner && from.owner->defined)
    std::memmove(d, from.owner->defined + (from.data - from.owner->data), bytes);
  else
    std::memset(d, 1, bytes);
}

Result copyNow(ContextObject &context, uint64_t to, uint64_t from, uint64_t bytes, bool toDevice, bool fromDevice) {
  if (context.sticky != success) return context.sticky;
  if (!bytes) return success;
  Driver &driver = Driver::get();
  Range d, s;
  if (Result r = rangeOf(driver, to, bytes, toDevice, d); r != success) return r;
  if (Result r = rangeOf(driver, from, bytes, fromDevice, s); r != success) return r;
  std::memmove(d.data, s.data, bytes);
  copyDefined(d, s, bytes);
  return success;
}

Result copy(uint64_t to, uint64_t from, uint64_t bytes, bool toDevice, bool fromDevice, Stream stream) {
  STATOR_CUDA_LOCK;
  ContextObject *context = driver.contextOf(stream);
  if (!context) return invalidContext;
  return driver.submit(stream, 1, [=] { return copyNow(*context, to, from, bytes, toDevice, fromDevice); });
}

template <class T> Result fill(uint64_t to, T value, size_t pitch, size_t width, size_t height, Stream stream) {
  STATOR_CUDA_LOCK;
  ContextObject *context = driver.contextOf(stream);
  if (!context) return invalidContext;
  if (to % sizeof(T) || (height > 1 && pitch % sizeof(T))) return invalidValue;
  return driver.submit(stream, 2, [=]() -> Result {
    if (context->sticky != success) return context->sticky;
    for (size_t row = 0; row < height; ++row) {
      uint64_t bytes = uint64_t{width} * sizeof(T);
      if (!bytes) continue;
      Range d;
      if (Result r = rangeOf(Driver::get(), to + row * pitch, bytes, true, d); r != success) return r;
      if (sizeof(T) == 1)
        std::memset(d.data, static_cast<int>(value), bytes);
      else
        for (size_t i = 0; i < width; ++i) std::memcpy(d.data + i * sizeof(T), &value, sizeof(T));
      if (d.owner->defined) std::memset(d.owner->defined + (d.data - d.owner->data), 1, bytes);
    }
    return success;
  });
}

Result allocate(DevicePointer *pointer, size_t bytes, DeviceState &device, Allocation::Kind kind) {
  if (!pointer || !bytes) return invalidValue;
  uint64_t address = device.memory->allocate(bytes, "", kind);
  if (!address) return outOfMemory;
  *pointer = address;
  return success;
}

uint64_t address(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

} // namespace

STATOR_CUDA_EXPORT Result cuMemGetInfo_v2(size_t *free, size_t *total) {
  STATOR_CUDA_LOCK;
  if (!driver.current()) return invalidContext;
  const Memory &memory = *driver.current()->device->memory;
  if (free) *free = memory.capacity() - memory.used();
  if (total) *total = memory.capacity();
  return success;
}
STATOR_CUDA_EXPORT Result cuMemAlloc_v2(DevicePointer *pointer, size_t bytes) {
  STATOR_CUDA_LOCK;
  if (!driver.current()) return invalidContext;
  return allocate(pointer, bytes, *driver.current()->device, Allocation::Kind::device);
}
STATOR_CUDA_EXPORT Result cuMemAllocPitch_v2(DevicePointer *pointer, size_t *pitch, size_t width, size_t height,
                                             unsigned) {
  if (!pitch || width > (size_t{1} << 40) || (height && width > (size_t{1} << 46) / height)) return invalidValue;
  *pitch = (width + 511) / 512 * 512;
  return cuMemAlloc_v2(pointer, *pitch * height);
}
STATOR_CUDA_EXPORT Result cuMemFree_v2(DevicePointer pointer) {
  STATOR_CUDA_LOCK;
  if (!pointer) return success;
  for (auto &device : driver.devices)
    if (device->memory->free(pointer)) return success;
  return invalidValue;
}
STATOR_CUDA_EXPORT Result cuMemAllocAsync(DevicePointer *pointer, size_t bytes, Stream stream) {
  STATOR_CUDA_LOCK;
  ContextObject *context = driver.contextOf(stream);
  if (!context) return invalidContext;
  return allocate(pointer, bytes, *context->device, Allocation::Kind::device);
}
STATOR_CUDA_EXPORT Result cuMemAllocFromPoolAsync(DevicePointer *pointer, size_t bytes, Pool pool, Stream) {
  STATOR_CUDA_LOCK;
  if (!driver.pools.count(pool)) return invalidValue;
  return allocate(pointer, bytes, *pool->device, Allocation::Kind::device);
}
STATOR_CUDA_EXPORT Result cuMemFreeAsync(DevicePointer pointer, Stream stream) {
  STATOR_CUDA_LOCK;
  return driver.submit(stream, 11, [pointer] { return cuMemFree_v2(pointer); });
}
STATOR_CUDA_EXPORT Result cuMemAllocManaged(DevicePointer *pointer, size_t bytes, unsigned flags) {
  STATOR_CUDA_LOCK;
  if (!driver.current()) return invalidContext;
  if (!pointer || !bytes || (flags != 1 && flags != 2)) return invalidValue;
  void *p = nullptr;
  if (posix_memalign(&p, 4096, bytes)) return outOfMemory;
  std::memset(p, 0, bytes);
  driver.hostAllocations[p] = bytes;
  for (auto &device : driver.devices) device->memory->attachHost(p, bytes, Allocation::Kind::managed, "");
  *pointer = address(p);
  return success;
}

STATOR_CUDA_EXPORT Result cuDeviceGetDefaultMemPool(Pool *pool, Device device) {
  STATOR_CUDA_LOCK;
  if (device < 0 || static_cast<size_t>(device) >= driver.devices.size()) return invalidDevice;
  if (!pool) return invalidValue;
  *pool = &driver.devices[static_cast<size_t>(device)]->defaultPool;
  return success;
}
STATOR_CUDA_EXPORT Result cuDeviceGetMemPool(Pool *pool, Device device) {
  STATOR_CUDA_LOCK;
  if (device < 0 || static_cast<size_t>(device) >= driver.devices.size()) return invalidDevice;
  if (!pool) return invalidValue;
  *pool = driver.devices[static_cast<size_t>(device)]->pool;
  return success;
}
STATOR_CUDA_EXPORT Result cuDeviceSetMemPool(Device device, Pool pool) {
  STATOR_CUDA_LOCK;
  if (device < 0 || static_cast<size_t>(device) >= driver.devices.size()) return invalidDevice;
  if (!driver.pools.count(pool)) return invalidValue;
  driver.devices[static_cast<size_t>(device)]->pool = pool;
  return success;
}
STATOR_CUDA_EXPORT Result cuMemPoolCreate(Pool *pool, const PoolProperties *properties) {
  STATOR_CUDA_LOCK;
  if (!pool || !properties) return invalidValue;
  int id = properties->location.id;
  if (id < 0 || static_cast<size_t>(id) >= driver.devices.size()) return invalidDevice;
  *pool = new PoolObject{driver.devices[static_cast<size_t>(id)].get(), 0};
  driver.pools.insert(*pool);
  return success;
}
STATOR_CUDA_EXPORT Result cuMemPoolDestroy(Pool pool) {
  STATOR_CUDA_LOCK;
  if (!driver.pools.count(pool) || pool == &pool->device->defaultPool) return invalidValue;
  if (pool->device->pool == pool) pool->device->pool = &pool->device->defaultPool;
  driver.pools.erase(pool);
  delete pool;
  return success;
}
STATOR_CUDA_EXPORT Result cuMemPoolSetAttribute(Pool pool, int attribute, void *value) {
  STATOR_CUDA_LOCK;
  if (!driver.pools.count(pool) || !value) return invalidValue;
  if (attribute == 4) pool->releaseThreshold = *static_cast<uint64_t *>(value);
  return success;
}
STATOR_CUDA_EXPORT Result cuMemPoolGetAttribute(Pool pool, int attribute, void *value) {
  STATOR_CUDA_LOCK;
  if (!driver.pools.count(pool) || !value) return invalidValue;
  if (attribute <= 3)
    *static_cast<int *>(value) = 1;
  else
    *static_cast<uint64_t *>(value) = attribute == 4 ? pool->releaseThreshold : pool->device->memory->used();
  return success;
}
STATOR_CUDA_EXPORT Result cuMemPoolTrimTo(Pool pool, size_t) {
  STATOR_CUDA_LOCK;
  return driver.pools.count(pool) ? success : invalidValue;
}

STATOR_CUDA_EXPORT Result cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  STATOR_CUDA_LOCK;
  if (!pointer || !bytes) return invalidValue;
  if (!driver.current()) return invalidContext;
  void *p = nullptr;
  if (posix_memalign(&p, 4096, bytes)) return outOfMemory;
  driver.hostAllocations[p] = bytes;
  for (auto &device : driver.devices) device->memory->attachHost(p, bytes, Allocation::Kind::host, "");
  *pointer = p;
  return success;
}
STATOR_CUDA_EXPORT Result cuMemAllocHost_v2(void **pointer, size_t bytes) { return cuMemHostAlloc(pointer, bytes, 0); }
STATOR_CUDA_EXPORT Result cuMemFreeHost(void *pointer) {
  STATOR_CUDA_LOCK;
  if (!driver.hostAllocations.erase(pointer)) return invalidValue;
  for (auto &device : driver.devices) device->memory->detachHost(pointer);
  std::free(pointer);
  return success;
}
STATOR_CUDA_EXPORT Result cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned) {
  STATOR_CUDA_LOCK;
  if (!pointer || !bytes) return invalidValue;
  if (driver.devices[0]->memory->find(address(pointer))) return hostMemoryAlreadyRegistered;
  for (auto &device : driver.devices) device->memory->attachHost(pointer, bytes, Allocation::Kind::host, "");
  return success;
}
STATOR_CUDA_EXPORT Result cuMemHostUnregister(void *pointer) {
  STATOR_CUDA_LOCK;
  Allocation *a = driver.devices[0]->memory->find(address(pointer));
  if (!a || a->base != address(pointer)) return hostMemoryNotRegistered;
  for (auto &device : driver.devices) device->memory->detachHost(pointer);
  return success;
}
STATOR_CUDA_EXPORT Result cuMemHostGetDevicePointer_v2(DevicePointer *device, void *host, unsigned) {
  STATOR_CUDA_LOCK;
  if (!device || !driver.devices[0]->memory->find(address(host))) return invalidValue;
  *device = address(host);
  return success;
}

STATOR_CUDA_EXPORT Result cuMemcpyHtoD_v2(DevicePointer to, const void *from, size_t n) {
  return copy(to, address(from), n, true, false, nullptr);
}
STATOR_CUDA_EXPORT Result cuMemcpyDtoH_v2(void *to, DevicePointer from, size_t n) {
  return copy(address(to), from, n, false, true, nullptr);
}
STATOR_CUDA_EXPORT Result cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, size_t n) {
  return copy(to, from, n, true, true, nullptr);
}
STATOR_CUDA_EXPORT Result cuMemcpy(DevicePointer to, DevicePointer from, size_t n) {
  return copy(to, from, n, false, false, nullptr);
}
STATOR_CUDA_EXPORT Result cuMemcpyHtoDAsync_v2(DevicePointer to, const void *from, size_t n, Stream s) {
  return copy(to, address(from), n, true, false, s);
}
STATOR_CUDA_EXPORT Result cuMemcpyDtoHAsync_v2(void *to, DevicePointer from, size_t n, Stream s) {
  return copy(address(to), from, n, false, true, s);
}
STATOR_CUDA_EXPORT Result cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t n, Stream s) {
  return copy(to, from, n, true, true, s);
}
STATOR_CUDA_EXPORT Result cuMemcpyAsync(DevicePointer to, DevicePointer from, size_t n, Stream s) {
  return copy(to, from, n, false, false, s);
}
STATOR_CUDA_EXPORT Result cuMemcpyPeer(DevicePointer to, Context, DevicePointer from, Context, size_t n) {
  return copy(to, from, n, true, true, nullptr);
}
STATOR_CUDA_EXPORT Result cuMemcpyPeerAsync(DevicePointer to, Context, DevicePointer from, Context, size_t n,
                                            Stream s) {
  return copy(to, from, n, true, true, s);
}

STATOR_CUDA_EXPORT Result cuMemcpy2DAsync_v2(const Copy2D *c, Stream stream) {
  if (!c) return invalidValue;
  // CU_MEMORYTYPE_HOST 1, DEVICE 2, ARRAY 3, UNIFIED 4
  if (c->srcMemoryType == 3 || c->dstMemoryType == 3) return notSupported;
  uint64_t from = c->srcMemoryType == 1 ? address(c->srcHost) : c->srcDevice;
  uint64_t to = c->dstMemoryType == 1 ? address(c->dstHost) : c->dstDevice;
  for (size_t row = 0; row < c->height; ++row) {
    uint64_t s = from + (c->srcY + row) * c->srcPitch + c->srcXInBytes,
             d = to + (c->dstY + row) * c->dstPitch + c->dstXInBytes;
    if (Result r = copy(d, s, c->widthInBytes, c->dstMemoryType == 2, c->srcMemoryType == 2, stream); r != success)
      return r;
  }
  return success;
}
STATOR_CUDA_EXPORT Result cuMemcpy2D_v2(const Copy2D *c) { return cuMemcpy2DAsync_v2(c, nullptr); }

STATOR_CUDA_EXPORT Result cuMemsetD8_v2(DevicePointer to, unsigned char v, size_t n) {
  return fill<uint8_t>(to, v, 0, n, 1, nullptr);
}
STATOR_CUDA_EXPORT Result cuMemsetD16_v2(DevicePointer to, unsigned short v, size_t n) {
  return fill<uint16_t>(to, v, 0, n, 1, nullptr);
}
STATOR_CUDA_EXPORT Result cuMemsetD32_v2(DevicePointer to, unsigned v, size_t n) {
  return fill<uint32_t>(to, v, 0, n, 1, nullptr);
}
STATOR_CUDA_EXPORT Result cuMemsetD8Async(DevicePointer to, unsigned char v, size_t n, Stream s) {
  return fill<uint8_t>(to, v, 0, n, 1, s);
}
STATOR_CUDA_EXPORT Result cuMemsetD16Async(DevicePointer to, unsigned short v, size_t n, Stream s) {
  return fill<uint16_t>(to, v, 0, n, 1, s);
}
STATOR_CUDA_EXPORT Result cuMemsetD32Async(DevicePointer to, unsigned v, size_t n, Stream s) {
  return fill<uint32_t>(to, v, 0, n, 1, s);
}
STATOR_CUDA_EXPORT Result cuMemsetD2D8Async(DevicePointer to, size_t pitch, unsigned char v, size_t w, size_t h,
                                            Stream s) {
  return fill<uint8_t>(to, v, pitch, w, h, s);
}
STATOR_CUDA_EXPORT Result cuMemsetD2D16Async(DevicePointer to, size_t pitch, unsigned short v, size_t w, size_t h,
                                             Stream s) {
  return fill<uint16_t>(to, v, pitch, w, h, s);
}
STATOR_CUDA_EXPORT Result cuMemsetD2D32Async(DevicePointer to, size_t pitch, unsigned v, size_t w, size_t h, Stream s) {
  return fill<uint32_t>(to, v, pitch, w, h, s);
}
STATOR_CUDA_EXPORT Result cuMemsetD2D8_v2(DevicePointer to, size_t pitch, unsigned char v, size_t w, size_t h) {
  return fill<uint8_t>(to, v, pitch, w, h, nullptr);
}
STATOR_CUDA_EXPORT Result cuMemsetD2D32_v2(DevicePointer to, size_t pitch, unsigned v, size_t w, size_t h) {
  return fill<uint32_t>(to, v, pitch, w, h, nullptr);
}

STATOR_CUDA_EXPORT Result cuMemGetAddressRange_v2(DevicePointer *base, size_t *bytes, DevicePointer pointer) {
  STATOR_CUDA_LOCK;
  DeviceState *device = driver.deviceOf(pointer);
  if (!device) return notFound;
  Allocation *a = device->memory->find(pointer);
  if (a->freed) return notFound;
  if (base) *base = a->base;
  if (bytes) *bytes = a->bytes;
  return success;
}

STATOR_CUDA_EXPORT Result cuPointerGetAttribute(void *data, int attribute, DevicePointer pointer) {
  STATOR_CUDA_LOCK;
  if (!data) return invalidValue;
  DeviceState *device = driver.deviceOf(pointer);
  Allocation *a = device ? device->memory->find(pointer) : nullptr;
  if (!a || a->freed) return invalidValue;
  bool host = a->kind == Allocation::Kind::host;
  switch (attribute) {
  case pointerContext: *static_cast<void **>(data) = &device->primary; return success;
  case pointerMemoryType: *static_cast<unsigned *>(data) = host ? 1 : 2; return success;
  case pointerDevice: *static_cast<DevicePointer *>(data) = pointer; return success;
  case pointerHost:
    if (a->defined) return invalidValue;
    *static_cast<DevicePointer *>(data) = pointer;
    return success;
  case pointerIsManaged: *static_cast<unsigned *>(data) = a->kind == Allocation::Kind::managed; return success;
  case pointerDeviceOrdinal: *static_cast<int *>(data) = device->ordinal; return success;
  case pointerRangeStart: *static_cast<DevicePointer *>(data) = a->base; return success;
  case pointerRangeSize: *static_cast<size_t *>(data) = a->bytes; return success;
  case pointerMapped: *static_cast<unsigned *>(data) = 1; return success;
  default: return notSupported;
  }
}

// --- Extensions: what a memory plan tells the simulator. A program looks these up by name and does without where a
// real driver has none. ---

/// Declares that tensor `name` lives in [base, base+bytes) from now on, its contents undefined. Once an allocation
/// holds a declared tensor, kernels may access its declared live tensors only.
STATOR_CUDA_EXPORT Result statorSimTensorBegin(DevicePointer base, size_t bytes, const char *name) {
  STATOR_CUDA_LOCK;
  DeviceState *device = driver.deviceOf(base);
  if (!device || !name) return invalidValue;
  return device->memory->addRegion(base, bytes, name) ? success : invalidValue;
}
/// The tensor that begins at `base` is dead: an access before its memory is declared again is an error.
STATOR_CUDA_EXPORT Result statorSimTensorEnd(DevicePointer base) {
  STATOR_CUDA_LOCK;
  DeviceState *device = driver.deviceOf(base);
  return device && device->memory->endRegion(base) ? success : invalidValue;
}
/// Names an allocation for reports.
STATOR_CUDA_EXPORT Result statorSimName(DevicePointer base, const char *name) {
  STATOR_CUDA_LOCK;
  DeviceState *device = driver.deviceOf(base);
  if (!device || !name) return invalidValue;
  device->memory->find(base)->name = name;
  return success;
}
