// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules, functions, their attributes, occupancy.
#include "runtime/simulator/driver/Driver.h"
#include "runtime/simulator/ptx/Lexer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace stator::sim::cu {

Result loadModule(ContextObject &context, const char *image, std::string &log, ModuleObject *&out) {
  // An ELF image or a fat binary holds machine code, which this device cannot run.
  for (const char *magic : {"\177ELF", "\x50\xed\x55\xba", "\xb1\x43\x62\x46"})
    if (!std::strncmp(image, magic, 4)) {
      log = "the simulated device runs PTX text only";
      return noBinaryForGpu;
    }
  LoadFault fault = LoadFault::none;
  auto program = loadProgram(*context.device->memory, *context.device->chip, image, log, fault);
  if (!program) {
    std::fprintf(stderr, "stator simulator: %s\n", log.c_str());
    return fault == LoadFault::version ? unsupportedPtxVersion : invalidPtx;
  }
  auto module = std::make_unique<ModuleObject>();
  module->context = &context;
  for (const auto &[name, kernel] : program->kernels) {
    auto function = std::make_unique<FunctionObject>();
    function->module = module.get();
    function->kernel = kernel.get();
    function->limits = defaultLimits(*kernel);
    module->functions[name] = std::move(function);
  }
  module->program = std::move(program);
  out = module.release();
  Driver::get().modules.insert(out);
  return success;
}

void unloadModule(ModuleObject *module) {
  unloadProgram(*module->context->device->memory, *module->program);
  Driver::get().modules.erase(module);
  delete module;
}

} // namespace stator::sim::cu

using namespace stator::sim;
using namespace stator::sim::cu;

namespace {

void writeLog(const std::string &log, unsigned count, const int *options, void **values) {
  char *buffer = nullptr;
  size_t size = 0;
  unsigned sizeAt = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == jitErrorLog) buffer = static_cast<char *>(values[i]);
    if (options[i] == jitErrorLogSize) {
      size = reinterpret_cast<uintptr_t>(values[i]) & 0xffffffffu;
      sizeAt = i + 1;
    }
  }
  if (buffer && size) std::snprintf(buffer, size, "%s", log.c_str());
  if (sizeAt) values[sizeAt - 1] = reinterpret_cast<void *>(std::min(size, log.size()));
}

} // namespace

STATOR_CUDA_EXPORT Result cuModuleLoadDataEx(Module *module, const void *image, unsigned count, int *options,
                                             void **values) {
  STATOR_CUDA_LOCK;
  if (!module || !image) return invalidValue;
  ContextObject *context = driver.current();
  if (!context) return invalidContext;
  std::string log;
  ModuleObject *loaded = nullptr;
  Result r = loadModule(*context, static_cast<const char *>(image), log, loaded);
  if (count && options && values) writeLog(log, count, options, values);
  if (r == success) *module = loaded;
  return r;
}

STATOR_CUDA_EXPORT Result cuModuleLoadData(Module *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

STATOR_CUDA_EXPORT Result cuModuleLoadFatBinary(Module *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

STATOR_CUDA_EXPORT Result cuModuleLoad(Module *module, const char *path) {
  if (!path) return invalidValue;
  std::FILE *file = std::fopen(path, "rb");
  if (!file) return fileNotFound;
  std::string text;
  char buffer[65536];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  std::fclose(file);
  return cuModuleLoadDataEx(module, text.c_str(), 0, nullptr, nullptr);
}

STATOR_CUDA_EXPORT Result cuModuleUnload(Module module) {
  STATOR_CUDA_LOCK;
  if (!driver.modules.count(module)) return invalidHandle;
  unloadModule(module);
  return success;
}

STATOR_CUDA_EXPORT Result cuModuleGetFunction(Function *function, Module module, const char *name) {
  STATOR_CUDA_LOCK;
  if (!function || !name) return invalidValue;
  if (!driver.modules.count(module)) return invalidHandle;
  auto it = module->functions.find(name);
  if (it == module->functions.end()) return notFound;
  *function = it->second.get();
  return success;
}

STATOR_CUDA_EXPORT Result cuModuleGetGlobal_v2(DevicePointer *address, size_t *bytes, Module module, const char *name) {
  STATOR_CUDA_LOCK;
  if (!driver.modules.count(module)) return invalidHandle;
  if (!name) return invalidValue;
  auto it = module->program->symbols.find(name);
  if (it == module->program->symbols.end()) return notFound;
  if (address) *address = it->second;
  if (bytes) *bytes = module->program->sizes[name];
  return success;
}

STATOR_CUDA_EXPORT Result cuModuleGetLoadingMode(int *mode) {
  if (!mode) return invalidValue;
  *mode = 1; // eager
  return success;
}

STATOR_CUDA_EXPORT Result cuModuleGetFunctionCount(unsigned *count, Module module) {
  STATOR_CUDA_LOCK;
  if (!driver.modules.count(module) || !count) return invalidValue;
  *count = static_cast<unsigned>(module->functions.size());
  return success;
}

STATOR_CUDA_EXPORT Result cuFuncGetAttribute(int *value, int attribute, Function function) {
  STATOR_CUDA_LOCK;
  if (!value || !function) return invalidValue;
  const Kernel &k = *function->kernel;
  const ptx::Function &f = *k.function;
  switch (attribute) {
  case functionMaxThreads: {
    uint64_t limit = 1024;
    if (f.maxThreads[0])
      limit = std::min<uint64_t>(limit, uint64_t{f.maxThreads[0]} * f.maxThreads[1] * f.maxThreads[2]);
    if (f.requiredThreads[0])
      limit = std::min<uint64_t>(limit, uint64_t{f.requiredThreads[0]} * f.requiredThreads[1] * f.requiredThreads[2]);
    *value = static_cast<int>(limit);
    return success;
  }
  case functionShared: *value = static_cast<int>(k.sharedBytes); return success;
  case functionConst: *value = 0; return success;
  case functionLocal: *value = static_cast<int>(k.localBytes); return success;
  case functionRegisters: *value = static_cast<int>(k.registersPerThread); return success;
  case functionPtxVersion:
    *value = static_cast<int>(function->module->program->module.versionMajor * 10 +
                              function->module->program->module.versionMinor);
    return success;
  case functionBinaryVersion: *value = function->module->context->device->chip->capability(); return success;
  case functionCacheMode: *value = 0; return success;
  case functionMaxDynamicShared: *value = function->limits.maxDynamicShared; return success;
  case functionCarveout: *value = -1; return success;
  case functionClusterRequired: *value = f.explicitCluster && !f.requiredCluster[0]; return success;
  case functionClusterX: *value = static_cast<int>(f.requiredCluster[0]); return success;
  case functionClusterY: *value = static_cast<int>(f.requiredCluster[1]); return success;
  case functionClusterZ: *value = static_cast<int>(f.requiredCluster[2]); return success;
  case functionNonPortableCluster: *value = function->limits.nonPortableCluster; return success;
  case functionClusterPolicy: *value = 0; return success;
  default: return invalidValue;
  }
}

STATOR_CUDA_EXPORT Result cuFuncSetAttribute(Function function, int attribute, int value) {
  STATOR_CUDA_LOCK;
  if (!function) return invalidValue;
  if (attribute == functionMaxDynamicShared) {
    const Chip &chip = *function->module->context->device->chip;
    if (value < 0 || value + static_cast<int>(function->kernel->sharedBytes) > chip.sharedPerBlockOptin)
      return invalidValue;
    function->limits.maxDynamicShared = value;
    return success;
  }
  if (attribute == functionNonPortableCluster)
    function->limits.nonPortableCluster = value != 0;
  else if (attribute != functionCarveout && attribute != functionClusterPolicy)
    return invalidValue;
  return success;
}

STATOR_CUDA_EXPORT Result cuFuncSetCacheConfig(Function function, int) { return function ? success : invalidValue; }
STATOR_CUDA_EXPORT Result cuFuncSetSharedMemConfig(Function function, int) { return function ? success : invalidValue; }
STATOR_CUDA_EXPORT Result cuFuncGetModule(Module *module, Function function) {
  if (!module || !function) return invalidValue;
  *module = function->module;
  return success;
}
STATOR_CUDA_EXPORT Result cuFuncGetName(const char **name, Function function) {
  if (!name || !function) return invalidValue;
  *name = function->kernel->name.c_str();
  return success;
}
STATOR_CUDA_EXPORT Result cuFuncGetParamInfo(Function function, size_t index, size_t *offset, size_t *size) {
  if (!function || !offset) return invalidValue;
  const auto &params = function->kernel->function->params;
  if (index >= params.size()) return invalidValue;
  *offset = params[index].offset;
  if (size) *size = params[index].bytes;
  return success;
}

STATOR_CUDA_EXPORT Result cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, Function function,
                                                                               int threads, size_t dynamicShared,
                                                                               unsigned) {
  STATOR_CUDA_LOCK;
  if (!blocks || !function || threads <= 0 || dynamicShared > UINT32_MAX) return invalidValue;
  *blocks = static_cast<int>(blocksPerSm(*function->kernel, *function->module->context->device->chip,
                                         static_cast<uint32_t>(threads), static_cast<uint32_t>(dynamicShared)));
  return success;
}
STATOR_CUDA_EXPORT Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function function, int threads,
                                                                      size_t dynamicShared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamicShared, 0);
}

STATOR_CUDA_EXPORT Result cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, Function function,
                                                                    OccupancySize sizeOf, size_t dynamicShared,
                                                                    int limit, unsigned) {
  STATOR_CUDA_LOCK;
  if (!grid || !block || !function) return invalidValue;
  const Chip &chip = *function->module->context->device->chip;
  int most = 1024, best = 0;
  cuFuncGetAttribute(&most, functionMaxThreads, function);
  if (limit > 0) most = std::min(most, limit);
  for (int threads = most / 32 * 32; threads >= 32; threads -= 32) {
    size_t shared = sizeOf ? sizeOf(threads) : dynamicShared;
    int blocks = static_cast<int>(
        blocksPerSm(*function->kernel, chip, static_cast<uint32_t>(threads), static_cast<uint32_t>(shared)));
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *block = threads;
    *grid = blocks * chip.sms;
  }
  return best ? success : launchOutOfResources;
}
STATOR_CUDA_EXPORT Result cuOccupancyMaxPotentialBlockSize(int *grid, int *block, Function function,
                                                           OccupancySize sizeOf, size_t dynamicShared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, sizeOf, dynamicShared, limit, 0);
}
STATOR_CUDA_EXPORT Result cuOccupancyMaxActiveClusters(int *clusters, Function function, const LaunchConfig *config) {
  STATOR_CUDA_LOCK;
  if (!clusters || !function || !config) return invalidValue;
  unsigned size = 1;
  for (unsigned i = 0; i < config->attributeCount; ++i)
    if (const auto &a = config->attributes[i]; a.id == LaunchAttribute::clusterDimension)
      size = a.value.cluster.x * a.value.cluster.y * a.value.cluster.z;
  const Chip &chip = *function->module->context->device->chip;
  unsigned perSm =
      blocksPerSm(*function->kernel, chip, config->blockX * config->blockY * config->blockZ, config->sharedBytes);
  *clusters = size ? static_cast<int>(perSm * static_cast<unsigned>(chip.sms) / size) : 0;
  return success;
}
