// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launch checks, the launch itself, and what its findings mean to the caller.
#include "runtime/simulator/driver/Driver.h"

#include <cstdio>
#include <cstring>

namespace stator::sim::cu {

Result readParams(const Kernel &kernel, void **kernelParams, void **extra, std::vector<uint8_t> &out) {
  out.assign(kernel.paramBytes, 0);
  const auto &params = kernel.function->params;
  if (extra) {
    // CU_LAUNCH_PARAM_BUFFER_POINTER (1), _SIZE (2), _END (0)
    const void *buffer = nullptr;
    size_t size = 0;
    for (size_t i = 0; extra[i] && i < 8; i += 2) {
      if (extra[i] == reinterpret_cast<void *>(1)) buffer = extra[i + 1];
      if (extra[i] == reinterpret_cast<void *>(2)) size = *static_cast<size_t *>(extra[i + 1]);
    }
    if (!buffer || size < kernel.paramBytes) return invalidValue;
    std::memcpy(out.data(), buffer, kernel.paramBytes);
    return success;
  }
  if (params.empty()) return success;
  if (!kernelParams) return invalidValue;
  for (size_t i = 0; i < params.size(); ++i) {
    if (!kernelParams[i]) return invalidValue;
    std::memcpy(out.data() + params[i].offset, kernelParams[i], params[i].bytes);
  }
  return success;
}

namespace {

Launch launchOf(ContextObject &context, const LaunchRequest &r) {
  Launch launch;
  launch.kernel = r.function->kernel;
  launch.module = &r.function->module->program->module;
  launch.memory = context.device->memory.get();
  launch.chip = context.device->chip;
  launch.settings = &Driver::get().settings;
  launch.grid = r.grid;
  launch.block = r.block;
  launch.cluster = r.cluster;
  launch.dynamicShared = r.sharedBytes;
  launch.cooperative = r.cooperative;
  if (r.cooperative) {
    constexpr uint64_t bytes = 256;
    DeviceState &device = *context.device;
    if (!device.workspace)
      device.workspace = device.memory->allocate(bytes, "workspace of cooperative launches", Allocation::Kind::module);
    // Where no memory is left the kernel finds no workspace.
    if (Allocation *place = device.memory->find(device.workspace)) {
      std::memset(place->data, 0, bytes);
      Memory::define(*place, place->base, bytes);
      launch.workspace = device.workspace;
    }
  }
  launch.params = r.params;
  return launch;
}

} // namespace

Result checkLaunch(ContextObject &context, const LaunchRequest &r) {
  if (context.sticky != success) return context.sticky;
  std::string why;
  Refusal refusal = sim::checkLaunch(launchOf(context, r), r.function->limits, r.clusterGiven, why);
  if (refusal != Refusal::none && !Driver::get().settings.quiet)
    std::fprintf(stderr, "stator simulator: %s\n", why.c_str());
  if (refusal == Refusal::cooperativeTooLarge) {
    // A launch that would have waited for ever: part of the report as well.
    Finding finding;
    finding.kind = Kind::cooperative;
    finding.kernel = r.function->kernel->name;
    finding.line = r.function->kernel->function->line;
    finding.lanes = kAllLanes;
    finding.message = why;
    Settings silent = Driver::get().settings;
    silent.quiet = true; // it has been told above
    publish({finding}, silent);
  }
  switch (refusal) {
  case Refusal::none: return success;
  case Refusal::invalidValue: return invalidValue;
  case Refusal::clusterSize: return invalidClusterSize;
  case Refusal::outOfResources: return launchOutOfResources;
  case Refusal::cooperativeTooLarge: return cooperativeLaunchTooLarge;
  }
  return invalidValue;
}

namespace {

/// The error that a card would give. A deadlock would be a timeout, a stray access an illegal address.
Result errorFor(const std::vector<Finding> &findings) {
  Result worst = success;
  for (const Finding &f : findings) {
    if (f.severity != Severity::error) continue;
    switch (f.kind) {
    case Kind::outOfBounds:
    case Kind::useAfterFree: return illegalAddress;
    case Kind::misaligned: worst = misalignedAddress; break;
    case Kind::deadlock:
      if (worst != misalignedAddress) worst = launchTimeout;
      break;
    default:
      if (worst == success) worst = launchFailed;
    }
  }
  return worst;
}

} // namespace

Result runLaunch(ContextObject &context, const LaunchRequest &r) {
  Driver &driver = Driver::get();
  if (context.sticky != success) return context.sticky;
  Launch launch = launchOf(context, r);
  launch.gridId = ++driver.launches;
  LaunchResult result = execute(launch);
  driver.clock += static_cast<double>(result.counters.warpInstructions) * 1e-6;
  publish(result.findings, driver.settings);
  if (!driver.settings.counters.empty())
    if (std::FILE *file = std::fopen(driver.settings.counters.c_str(), "a")) {
      std::string line = result.counters.json(launch.kernel->name) + "\n";
      std::fwrite(line.data(), 1, line.size(), file);
      std::fclose(file);
    }
  context.sticky = errorFor(result.findings);
  return success; // the next synchronising call tells
}

} // namespace stator::sim::cu

using namespace stator::sim;
using namespace stator::sim::cu;

namespace {

Result launchChecked(Driver &driver, Stream stream, LaunchRequest request, void **kernelParams, void **extra) {
  ContextObject *context = driver.contextOf(stream);
  if (!context) return driver.isDefault(stream) ? invalidContext : invalidHandle;
  if (!request.function || !driver.modules.count(request.function->module)) return invalidHandle;
  const ptx::Function &f = *request.function->kernel->function;
  if (!request.clusterGiven && f.requiredCluster[0])
    request.cluster = {f.requiredCluster[0], f.requiredCluster[1], f.requiredCluster[2]};
  if (Result r = readParams(*request.function->kernel, kernelParams, extra, request.params); r != success) return r;
  if (Result r = checkLaunch(*context, request); r != success) return r;
  return driver.submit(stream, 0, [context, request] { return runLaunch(*context, request); });
}

} // namespace

STATOR_CUDA_EXPORT Result cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                         unsigned by, unsigned bz, unsigned shared, Stream stream, void **params,
                                         void **extra) {
  STATOR_CUDA_LOCK;
  LaunchRequest request;
  request.function = function;
  request.grid = {gx, gy, gz};
  request.block = {bx, by, bz};
  request.sharedBytes = shared;
  return launchChecked(driver, stream, request, params, extra);
}

STATOR_CUDA_EXPORT Result cuLaunchCooperativeKernel(Function function, unsigned gx, unsigned gy, unsigned gz,
                                                    unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                                    Stream stream, void **params) {
  STATOR_CUDA_LOCK;
  LaunchRequest request;
  request.function = function;
  request.grid = {gx, gy, gz};
  request.block = {bx, by, bz};
  request.sharedBytes = shared;
  request.cooperative = true;
  return launchChecked(driver, stream, request, params, nullptr);
}

STATOR_CUDA_EXPORT Result cuLaunchKernelEx(const LaunchConfig *config, Function function, void **params, void **extra) {
  STATOR_CUDA_LOCK;
  if (!config) return invalidValue;
  LaunchRequest request;
  request.function = function;
  request.grid = {config->gridX, config->gridY, config->gridZ};
  request.block = {config->blockX, config->blockY, config->blockZ};
  request.sharedBytes = config->sharedBytes;
  for (unsigned i = 0; i < config->attributeCount; ++i) {
    const LaunchAttribute &a = config->attributes[i];
    if (a.id == LaunchAttribute::cooperative) request.cooperative = a.value.cooperativeValue != 0;
    if (a.id == LaunchAttribute::clusterDimension) {
      request.cluster = {a.value.cluster.x, a.value.cluster.y, a.value.cluster.z};
      request.clusterGiven = true;
    }
  }
  return launchChecked(driver, config->stream, request, params, extra);
}

STATOR_CUDA_EXPORT Result cuLaunchHostFunc(Stream stream, HostFunction function, void *data) {
  STATOR_CUDA_LOCK;
  if (!function) return invalidValue;
  ContextObject *context = driver.contextOf(stream);
  if (!context) return invalidContext;
  return driver.submit(stream, 3, [function, data] {
    function(data);
    return success;
  });
}
