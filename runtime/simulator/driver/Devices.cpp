// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Initialisation, devices, contexts, error names.
#include "runtime/simulator/driver/Driver.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace stator::sim;
using namespace stator::sim::cu;

namespace {

DeviceState *deviceAt(Driver &driver, Device device) {
  return device >= 0 && static_cast<size_t>(device) < driver.devices.size()
             ? driver.devices[static_cast<size_t>(device)].get()
             : nullptr;
}

struct Named {
  Result code;
  const char *name, *text;
};
const Named kNames[] = {
    {success, "CUDA_SUCCESS", "no error"},
    {invalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {outOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {notInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {deinitialized, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {noDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {invalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {invalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {invalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {noBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {invalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {unsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {invalidSource, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
    {fileNotFound, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {invalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {illegalState, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {notFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {notReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {illegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {launchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {launchTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {peerAccessAlreadyEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {peerAccessNotEnabled, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
    {primaryContextActive, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "cannot set while device is active in this process"},
    {hostMemoryAlreadyRegistered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {hostMemoryNotRegistered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {misalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {launchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {cooperativeLaunchTooLarge, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
    {notPermitted, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {notSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {streamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {streamCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {streamCaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not initiated in this stream"},
    {streamCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {invalidClusterSize, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "invalid cluster size"},
    {unknown, "CUDA_ERROR_UNKNOWN", "unknown error"}};

int attributeOf(const Chip &c, int attribute, int ordinal, bool &known) {
  known = true;
  switch (attribute) {
  case maxThreadsPerBlock:
  case maxBlockDimX:
  case maxBlockDimY: return 1024;
  case maxBlockDimZ: return 64;
  case maxGridDimX: return INT32_MAX;
  case maxGridDimY:
  case maxGridDimZ: return 65535;
  case maxSharedPerBlock: return 48 * 1024;
  case totalConstantMemory: return 65536;
  case warpSize: return 32;
  case maxPitch: return INT32_MAX;
  case maxRegistersPerBlock: return 65536;
  case clockRate: return c.clockKHz;
  case textureAlignment: return 512;
  case multiprocessorCount: return c.sms;
  case gpuOverlap:
  case canMapHostMemory:
  case concurrentKernels:
  case unifiedAddressing:
  case streamPrioritiesSupported:
  case globalL1CacheSupported:
  case localL1CacheSupported:
  case managedMemory:
  case computePreemptionSupported:
  case cooperativeLaunch:
  case hostRegisterSupported:
  case memoryPoolsSupported:
  case canUseHostPointerForRegisteredMem:
  case concurrentManagedAccess: return 1;
  case eccEnabled:
  case tccDriver: return 1;
  case kernelExecTimeout:
  case integrated:
  case computeMode:
  case multiGpuBoard:
  case pageableMemoryAccess:
  case directManagedMemAccessFromHost:
  case hostNativeAtomicSupported:
  case virtualMemoryManagement:
  case pciDomainId:
  case pciDeviceId:
  case unifiedFunctionPointers: return 0;
  case pciBusId: return ordinal + 1;
  case memoryClockRate: return c.memoryClockKHz;
  case globalMemoryBusWidth: return c.busBits;
  case l2CacheSize: return static_cast<int>(c.l2Bytes);
  case maxThreadsPerSm: return c.threadsPerSm;
  case asyncEngineCount: return 2;
  case capabilityMajor: return c.major;
  case capabilityMinor: return c.minor;
  case maxSharedPerSm: return c.sharedPerSm;
  case maxRegistersPerSm: return c.registersPerSm;
  case maxSharedPerBlockOptin: return c.sharedPerBlockOptin;
  case maxBlocksPerSm: return c.blocksPerSm;
  case maxPersistingL2CacheSize: return c.major >= 8 ? static_cast<int>(c.l2Bytes / 4 * 3) : 0;
  case reservedSharedPerBlock: return c.major >= 8 ? 1024 : 0;
  case clusterLaunch:
  case tensorMapAccessSupported: return c.major >= 9;
  default:
    // Features that this device does not have answer 0, as a driver's newer attributes do on older cards.
    known = attribute > 0 && attribute < 160;
    return 0;
  }
}

} // namespace

STATOR_CUDA_EXPORT Result cuInit(unsigned flags) {
  if (flags) return invalidValue;
  Driver &driver = Driver::get();
  std::lock_guard<std::recursive_mutex> guard(driver.mutex);
  return driver.initialise();
}

STATOR_CUDA_EXPORT Result cuDriverGetVersion(int *version) {
  if (!version) return invalidValue;
  *version = 13000;
  return success;
}

STATOR_CUDA_EXPORT Result cuGetErrorName(Result error, const char **name) {
  if (!name) return invalidValue;
  for (const Named &n : kNames)
    if (n.code == error) {
      *name = n.name;
      return success;
    }
  *name = nullptr;
  return invalidValue;
}

STATOR_CUDA_EXPORT Result cuGetErrorString(Result error, const char **text) {
  if (!text) return invalidValue;
  for (const Named &n : kNames)
    if (n.code == error) {
      *text = n.text;
      return success;
    }
  *text = nullptr;
  return invalidValue;
}

STATOR_CUDA_EXPORT Result cuDeviceGet(Device *device, int ordinal) {
  STATOR_CUDA_LOCK;
  if (!device) return invalidValue;
  if (!deviceAt(driver, ordinal)) return invalidDevice;
  *device = ordinal;
  return success;
}

STATOR_CUDA_EXPORT Result cuDeviceGetCount(int *count) {
  STATOR_CUDA_LOCK;
  if (!count) return invalidValue;
  *count = static_cast<int>(driver.devices.size());
  return success;
}

STATOR_CUDA_EXPORT Result cuDeviceGetName(char *name, int length, Device device) {
  STATOR_CUDA_LOCK;
  DeviceState *d = deviceAt(driver, device);
  if (!d) return invalidDevice;
  if (!name || length <= 0) return invalidValue;
  std::snprintf(name, static_cast<size_t>(length), "%s", d->chip->product);
  return success;
}

STATOR_CUDA_EXPORT Result cuDeviceGetUuid_v2(Uuid *uuid, Device device) {
  STATOR_CUDA_LOCK;
  DeviceState *d = deviceAt(driver, device);
  if (!d) return invalidDevice;
  if (!uuid) return invalidValue;
  std::memset(uuid, 0, sizeof *uuid);
  std::memcpy(uuid->bytes, "stator-sim", 10);
  uuid->bytes[15] = static_cast<char>(device);
  return success;
}
STATOR_CUDA_EXPORT Result cuDeviceGetUuid(Uuid *uuid, Device device) { return cuDeviceGetUuid_v2(uuid, device); }

STATOR_CUDA_EXPORT Result cuDeviceTotalMem_v2(size_t *bytes, Device device) {
  STATOR_CUDA_LOCK;
  DeviceState *d = deviceAt(driver, device);
  if (!d) return invalidDevice;
  if (!bytes) return invalidValue;
  *bytes = d->memory->capacity();
  return success;
}

STATOR_CUDA_EXPORT Result cuDeviceGetAttribute(int *value, int attribute, Device device) {
  STATOR_CUDA_LOCK;
  DeviceState *d = deviceAt(driver, device);
  if (!d) return invalidDevice;
  if (!value) return invalidValue;
  bool known = false;
  *value = attributeOf(*d->chip, attribute, device, known);
  return known ? success : invalidValue;
}

STATOR_CUDA_EXPORT Result cuDeviceComputeCapability(int *major, int *minor, Device device) {
  STATOR_CUDA_LOCK;
  DeviceState *d = deviceAt(driver, device);
  if (!d) return invalidDevice;
  if (!major || !minor) return invalidValue;
  *major = d->chip->major;
  *minor = d->chip->minor;
  return success;
}

STATOR_CUDA_EXPORT Result cuDeviceCanAccessPeer(int *can, Device a, Device b) {
  STATOR_CUDA_LOCK;
  if (!deviceAt(driver, a) || !deviceAt(driver, b)) return invalidDevice;
  if (!can) return invalidValue;
  *can = 0; // each simulated device sees its own memory only
  return success;
}

STATOR_CUDA_EXPORT Result cuDeviceGetPCIBusId(char *text, int length, Device device) {
  STATOR_CUDA_LOCK;
  if (!deviceAt(driver, device)) return invalidDevice;
  if (!text || length <= 0) return invalidValue;
  std::snprintf(text, static_cast<size_t>(length), "0000:%02x:00.0", device + 1);
  return success;
}

STATOR_CUDA_EXPORT Result cuCtxCreate_v2(Context *context, unsigned flags, Device device) {
  STATOR_CUDA_LOCK;
  DeviceState *d = deviceAt(driver, device);
  if (!d) return invalidDevice;
  if (!context) return invalidValue;
  auto *created = new ContextObject;
  created->device = d;
  created->flags = flags;
  driver.contexts.insert(created);
  driver.stack().push_back(created);
  *context = created;
  return success;
}
STATOR_CUDA_EXPORT Result cuCtxCreate_v4(Context *context, void *, unsigned flags, Device device) {
  return cuCtxCreate_v2(context, flags, device);
}

STATOR_CUDA_EXPORT Result cuCtxDestroy_v2(Context context) {
  STATOR_CUDA_LOCK;
  if (!driver.contexts.count(context)) return invalidContext;
  std::vector<ModuleObject *> mine;
  for (ModuleObject *m : driver.modules)
    if (m->context == context) mine.push_back(m);
  for (ModuleObject *m : mine) unloadModule(m);
  auto &stack = driver.stack();
  stack.erase(std::remove(stack.begin(), stack.end(), context), stack.end());
  driver.contexts.erase(context);
  delete context;
  return success;
}

STATOR_CUDA_EXPORT Result cuCtxPushCurrent_v2(Context context) {
  STATOR_CUDA_LOCK;
  if (!driver.contexts.count(context)) return invalidContext;
  driver.stack().push_back(context);
  return success;
}
STATOR_CUDA_EXPORT Result cuCtxPopCurrent_v2(Context *context) {
  STATOR_CUDA_LOCK;
  if (driver.stack().empty()) return invalidContext;
  if (context) *context = driver.stack().back();
  driver.stack().pop_back();
  return success;
}
STATOR_CUDA_EXPORT Result cuCtxSetCurrent(Context context) {
  STATOR_CUDA_LOCK;
  auto &stack = driver.stack();
  if (context && !driver.contexts.count(context)) return invalidContext;
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(context);
  return success;
}
STATOR_CUDA_EXPORT Result cuCtxGetCurrent(Context *context) {
  STATOR_CUDA_LOCK;
  if (!context) return invalidValue;
  *context = driver.current();
  return success;
}
STATOR_CUDA_EXPORT Result cuCtxGetDevice(Device *device) {
  STATOR_CUDA_LOCK;
  if (!device) return invalidValue;
  if (!driver.current()) return invalidContext;
  *device = driver.current()->device->ordinal;
  return success;
}
STATOR_CUDA_EXPORT Result cuCtxGetDevice_v2(Device *device, Context context) {
  STATOR_CUDA_LOCK;
  if (!context) return cuCtxGetDevice(device);
  if (!device || !driver.contexts.count(context)) return invalidValue;
  *device = context->device->ordinal;
  return success;
}
STATOR_CUDA_EXPORT Result cuCtxSynchronize() {
  STATOR_CUDA_LOCK;
  return driver.current() ? driver.current()->sticky : invalidContext;
}
STATOR_CUDA_EXPORT Result cuCtxSynchronize_v2(Context context) {
  STATOR_CUDA_LOCK;
  if (!context) return cuCtxSynchronize();
  return driver.contexts.count(context) ? context->sticky : invalidContext;
}
STATOR_CUDA_EXPORT Result cuCtxGetFlags(unsigned *flags) {
  STATOR_CUDA_LOCK;
  if (!driver.current()) return invalidContext;
  if (!flags) return invalidValue;
  *flags = driver.current()->flags;
  return success;
}
STATOR_CUDA_EXPORT Result cuCtxGetId(Context context, unsigned long long *id) {
  STATOR_CUDA_LOCK;
  if (!context) context = driver.current();
  if (!driver.contexts.count(context) || !id) return invalidContext;
  *id = reinterpret_cast<uintptr_t>(context);
  return success;
}
STATOR_CUDA_EXPORT Result cuCtxGetApiVersion(Context, unsigned *version) {
  if (!version) return invalidValue;
  *version = 13000;
  return success;
}
STATOR_CUDA_EXPORT Result cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return success;
}
STATOR_CUDA_EXPORT Result cuCtxGetLimit(size_t *value, int) {
  if (!value) return invalidValue;
  *value = 1024;
  return success;
}
STATOR_CUDA_EXPORT Result cuCtxSetLimit(int, size_t) { return success; }
STATOR_CUDA_EXPORT Result cuCtxGetCacheConfig(int *config) {
  if (!config) return invalidValue;
  *config = 0;
  return success;
}
STATOR_CUDA_EXPORT Result cuCtxSetCacheConfig(int) { return success; }
STATOR_CUDA_EXPORT Result cuCtxEnablePeerAccess(Context, unsigned) { return notSupported; }
STATOR_CUDA_EXPORT Result cuCtxDisablePeerAccess(Context) { return peerAccessNotEnabled; }

STATOR_CUDA_EXPORT Result cuDevicePrimaryCtxRetain(Context *context, Device device) {
  STATOR_CUDA_LOCK;
  DeviceState *d = deviceAt(driver, device);
  if (!d) return invalidDevice;
  if (!context) return invalidValue;
  ++d->primaryUses;
  driver.contexts.insert(&d->primary);
  *context = &d->primary;
  return success;
}
STATOR_CUDA_EXPORT Result cuDevicePrimaryCtxRelease_v2(Device device) {
  STATOR_CUDA_LOCK;
  DeviceState *d = deviceAt(driver, device);
  if (!d) return invalidDevice;
  if (!d->primaryUses) return invalidContext;
  // What a program leaves behind after its last release is gone on a card too; the context's error ends with it.
  if (--d->primaryUses == 0) d->primary.sticky = success;
  return success;
}
STATOR_CUDA_EXPORT Result cuDevicePrimaryCtxReset_v2(Device device) {
  STATOR_CUDA_LOCK;
  DeviceState *d = deviceAt(driver, device);
  if (!d) return invalidDevice;
  std::vector<ModuleObject *> mine;
  for (ModuleObject *m : driver.modules)
    if (m->context == &d->primary) mine.push_back(m);
  for (ModuleObject *m : mine) unloadModule(m);
  d->primary.sticky = success;
  return success;
}
STATOR_CUDA_EXPORT Result cuDevicePrimaryCtxGetState(Device device, unsigned *flags, int *active) {
  STATOR_CUDA_LOCK;
  DeviceState *d = deviceAt(driver, device);
  if (!d) return invalidDevice;
  if (flags) *flags = d->primary.flags;
  if (active) *active = d->primaryUses != 0;
  return success;
}
STATOR_CUDA_EXPORT Result cuDevicePrimaryCtxSetFlags_v2(Device device, unsigned flags) {
  STATOR_CUDA_LOCK;
  DeviceState *d = deviceAt(driver, device);
  if (!d) return invalidDevice;
  d->primary.flags = flags;
  return success;
}
