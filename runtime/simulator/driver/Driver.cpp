// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/driver/Driver.h"

#include <cstdio>

namespace stator::sim::cu {

Driver &Driver::get() {
  // Never destroyed: threads of the program may still call when the process ends.
  static Driver *driver = new Driver;
  return *driver;
}

Result Driver::initialise() {
  if (initialised) return success;
  std::string error;
  settings = Settings::fromEnvironment(error);
  if (!error.empty()) {
    std::fprintf(stderr, "stator simulator: %s\n", error.c_str());
    return invalidValue;
  }
  for (size_t i = 0; i < settings.chips.size(); ++i) {
    auto device = std::make_unique<DeviceState>();
    device->ordinal = static_cast<int>(i);
    device->chip = findChip(settings.chips[i]);
    device->memory =
        std::make_unique<Memory>(static_cast<unsigned>(i), static_cast<uint64_t>(device->chip->globalBytes));
    device->primary.device = device.get();
    device->primary.primary = true;
    device->defaultPool.device = device.get();
    device->pool = &device->defaultPool;
    pools.insert(&device->defaultPool);
    devices.push_back(std::move(device));
  }
  initialised = true;
  return success;
}

std::vector<ContextObject *> &Driver::stack() {
  thread_local std::vector<ContextObject *> contexts;
  return contexts;
}

ContextObject *Driver::current() { return stack().empty() ? nullptr : stack().back(); }

ContextObject *Driver::contextOf(Stream stream) {
  if (isDefault(stream)) return current();
  return streams.count(stream) ? stream->context : nullptr;
}

std::shared_ptr<GraphObject> Driver::captureOf(Stream stream) {
  return isDefault(stream) || !streams.count(stream) ? nullptr : stream->capture;
}

Result Driver::submit(Stream stream, int nodeType, std::function<Result()> work) {
  if (auto graph = captureOf(stream)) {
    graph->nodes.push_back({std::move(work), nodeType, {}, nullptr, contextOf(stream)});
    return success;
  }
  return work();
}

DeviceState *Driver::deviceOf(uint64_t address) {
  for (auto &device : devices)
    if (device->memory->find(address)) return device.get();
  return nullptr;
}

} // namespace stator::sim::cu
