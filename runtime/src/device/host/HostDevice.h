// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU as a device.
#ifndef STATOR_RUNTIME_DEVICE_HOST_HOSTDEVICE_H
#define STATOR_RUNTIME_DEVICE_HOST_HOSTDEVICE_H

#include "runtime/src/device/Device.h"
#include "runtime/src/device/host/HostModules.h"
#include "runtime/src/device/host/Parallel.h"
#include "runtime/src/library/Library.h"

namespace stator::runtime {

class HostDevice : public Device {
public:
  /// `useLibraries`: whether the plan has library steps that may be served (it decides whose threads do the loops).
  HostDevice(Model &model, int threads, bool useLibraries);

  DeviceKind kind() const override { return DeviceKind::Host; }
  std::string name() const override;
  char *allocate(int64_t bytes, MemoryKind memory) override;
  void release(char *address, MemoryKind memory) noexcept override;
  void copy(char *to, const char *from, int64_t bytes) override;
  void upload(char *to, const void *from, int64_t bytes) override;
  void download(void *to, const char *from, int64_t bytes) override;
  void fill(char *to, uint64_t bits, uint32_t width, int64_t bytes) override;
  void synchronize() override {}
  void *findKernel(const LaunchStep &step) override;
  void launch(const LaunchStep &step, void *kernel, Frame &frame) override;
  char *weight(const std::string &name, int64_t &bytes) override;
  Library *library(const std::string &name) override;

private:
  Model &model;
  std::shared_ptr<HostModules> modules;
  std::unique_ptr<Library> onednn;
  std::unique_ptr<Parallel> parallel;
  std::vector<char *> addresses; // of the launch being made
  std::vector<int64_t> sizes;
};

} // namespace stator::runtime
#endif
