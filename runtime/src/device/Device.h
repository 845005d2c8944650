// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the executor asks of a device. A device belongs to one session; what sessions share hangs on the Model.
#ifndef STATOR_RUNTIME_DEVICE_DEVICE_H
#define STATOR_RUNTIME_DEVICE_DEVICE_H

#include "runtime/src/artifact/Plan.h"

#include <memory>

namespace stator::runtime {

class Frame;
class Library;
class Model;

/// Work is done in the order of the calls; only download(), synchronize() and the host device wait for it. Addresses
/// are the device's; memory of MemoryKind::Host can be read and written by the CPU too. Errors are thrown as Failures.
class Device {
public:
  virtual ~Device() = default;

  virtual DeviceKind kind() const = 0;
  /// One line for people.
  virtual std::string name() const = 0;

  /// Around every group of calls except allocate() and release(), on the thread that makes them.
  virtual void enter() {}
  virtual void leave() noexcept {}

  /// At least one byte, aligned to STATOR_ALIGNMENT.
  virtual char *allocate(int64_t bytes, MemoryKind memory) = 0;
  virtual void release(char *address, MemoryKind memory) noexcept = 0;

  /// Between two device addresses; overlapping ranges behave like memmove.
  virtual void copy(char *to, const char *from, int64_t bytes) = 0;
  /// From and to the CPU's memory. upload() may return before `from` was read; download() waits.
  virtual void upload(char *to, const void *from, int64_t bytes) = 0;
  virtual void download(void *to, const char *from, int64_t bytes) = 0;
  /// Repeats the low `width` bytes of `bits`; `bytes` is a multiple of `width`.
  virtual void fill(char *to, uint64_t bits, uint32_t width, int64_t bytes) = 0;
  virtual void synchronize() = 0;

  /// Finds the kernel of a launch step; what it returns is passed to launch().
  virtual void *findKernel(const LaunchStep &step) = 0;
  virtual void launch(const LaunchStep &step, void *kernel, Frame &frame) = 0;

  /// The address and bytes of a weight on this device; valid as long as the model.
  virtual char *weight(const std::string &name, int64_t &bytes) = 0;

  /// Whether the device judges accesses by tensor, and what it is then told: `name` lies at `address` from now on, its
  /// content undefined; the tensor at `address` is dead; `name` is what the allocation at `address` holds.
  virtual bool watchesTensors() const { return false; }
  virtual void beginTensor(char *address, int64_t bytes, const std::string &name) {}
  virtual void endTensor(char *address) {}
  virtual void nameMemory(char *address, const std::string &name) {}

  /// The library of that name, nullptr where it is absent. Owned by the device.
  virtual Library *library(const std::string &name) = 0;
};

/// Device memory that grows when asked and is given back at the end.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory &&other) noexcept { *this = std::move(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    std::swap(device, other.device);
    std::swap(address, other.address);
    std::swap(capacity, other.capacity);
    std::swap(memory, other.memory);
    return *this;
  }
  ~DeviceMemory() {
    if (address) device->release(address, memory);
  }

  /// At least `bytes`; the content is lost when it has to grow. True if the address changed.
  bool reserve(Device &onDevice, int64_t bytes, MemoryKind kind = MemoryKind::Device) {
    if (address && bytes <= capacity) return false;
    if (address) device->release(address, memory);
    address = nullptr, device = &onDevice, memory = kind;
    address = onDevice.allocate(bytes, kind);
    capacity = bytes;
    return true;
  }

  char *get() const { return address; }

private:
  Device *device = nullptr;
  char *address = nullptr;
  int64_t capacity = 0;
  MemoryKind memory = MemoryKind::Device;
};

} // namespace stator::runtime
#endif
