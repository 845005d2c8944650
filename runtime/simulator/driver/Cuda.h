// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of the CUDA driver API's binary interface that the simulator answers, declared anew so that no toolkit is
// needed to build. tests/unit/simulator compares every size and number with the toolkit's header where there is one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stator::sim::cu {

enum Result : int {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialized = 3,
  deinitialized = 4,
  noDevice = 100,
  invalidDevice = 101,
  invalidImage = 200,
  invalidContext = 201,
  noBinaryForGpu = 209,
  invalidPtx = 218,
  unsupportedPtxVersion = 222,
  invalidSource = 300,
  fileNotFound = 301,
  invalidHandle = 400,
  illegalState = 401,
  notFound = 500,
  notReady = 600,
  illegalAddress = 700,
  launchOutOfResources = 701,
  launchTimeout = 702,
  peerAccessAlreadyEnabled = 704,
  peerAccessNotEnabled = 705,
  primaryContextActive = 708,
  hostMemoryAlreadyRegistered = 712,
  hostMemoryNotRegistered = 713,
  misalignedAddress = 716,
  launchFailed = 719,
  cooperativeLaunchTooLarge = 720,
  notPermitted = 800,
  notSupported = 801,
  streamCaptureUnsupported = 900,
  streamCaptureInvalidated = 901,
  streamCaptureUnmatched = 903,
  streamCaptureUnjoined = 904,
  invalidClusterSize = 912,
  unknown = 999
};

using Device = int;
using DevicePointer = unsigned long long;
struct ContextObject;
struct ModuleObject;
struct FunctionObject;
struct StreamObject;
struct EventObject;
struct PoolObject;
struct GraphObject;
struct GraphExecObject;
struct GraphNodeObject;
using Context = ContextObject *;
using Module = ModuleObject *;
using Function = FunctionObject *;
using Stream = StreamObject *;
using Event = EventObject *;
using Pool = PoolObject *;
using Graph = GraphObject *;
using GraphExec = GraphExecObject *;
using GraphNode = GraphNodeObject *;
using HostFunction = void (*)(void *);
using OccupancySize = size_t (*)(int);

struct Uuid {
  char bytes[16];
};

/// Attributes of an extended launch.
struct LaunchAttribute {
  enum Id : int { cooperative = 2, clusterDimension = 4 };
  int id;
  char pad[4];
  union {
    char bytes[64];
    int cooperativeValue;
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};

struct PoolProperties {
  int allocType, handleTypes;
  struct {
    int type, id;
  } location;
  void *security;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

struct Copy2D {
  size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void *srcHost;
  DevicePointer srcDevice;
  void *srcArray;
  size_t srcPitch, dstXInBytes, dstY;
  int dstMemoryType;
  void *dstHost;
  DevicePointer dstDevice;
  void *dstArray;
  size_t dstPitch, widthInBytes, height;
};

struct Copy3D {
  size_t srcXInBytes, srcY, srcZ, srcLod;
  int srcMemoryType;
  const void *srcHost;
  DevicePointer srcDevice;
  void *srcArray, *reserved0;
  size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLod;
  int dstMemoryType;
  void *dstHost;
  DevicePointer dstDevice;
  void *dstArray, *reserved1;
  size_t dstPitch, dstHeight, widthInBytes, height, depth;
};

struct MemsetNodeParams {
  DevicePointer dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};

struct HostNodeParams {
  HostFunction function;
  void *data;
};

struct KernelNodeParams {
  Function function;
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void **kernelParams, **extra;
  void *kernel;
  Context context;
};

enum DeviceAttribute : int {
  maxThreadsPerBlock = 1,
  maxBlockDimX = 2,
  maxBlockDimY = 3,
  maxBlockDimZ = 4,
  maxGridDimX = 5,
  maxGridDimY = 6,
  maxGridDimZ = 7,
  maxSharedPerBlock = 8,
  totalConstantMemory = 9,
  warpSize = 10,
  maxPitch = 11,
  maxRegistersPerBlock = 12,
  clockRate = 13,
  textureAlignment = 14,
  gpuOverlap = 15,
  multiprocessorCount = 16,
  kernelExecTimeout = 17,
  integrated = 18,
  canMapHostMemory = 19,
  computeMode = 20,
  concurrentKernels = 31,
  eccEnabled = 32,
  pciBusId = 33,
  pciDeviceId = 34,
  tccDriver = 35,
  memoryClockRate = 36,
  globalMemoryBusWidth = 37,
  l2CacheSize = 38,
  maxThreadsPerSm = 39,
  asyncEngineCount = 40,
  unifiedAddressing = 41,
  pciDomainId = 50,
  capabilityMajor = 75,
  capabilityMinor = 76,
  streamPrioritiesSupported = 78,
  globalL1CacheSupported = 79,
  localL1CacheSupported = 80,
  maxSharedPerSm = 81,
  maxRegistersPerSm = 82,
  managedMemory = 83,
  multiGpuBoard = 84,
  hostNativeAtomicSupported = 86,
  pageableMemoryAccess = 88,
  concurrentManagedAccess = 89,
  computePreemptionSupported = 90,
  canUseHostPointerForRegisteredMem = 91,
  cooperativeLaunch = 95,
  maxSharedPerBlockOptin = 97,
  hostRegisterSupported = 99,
  directManagedMemAccessFromHost = 101,
  virtualMemoryManagement = 102,
  maxBlocksPerSm = 106,
  maxPersistingL2CacheSize = 108,
  reservedSharedPerBlock = 111,
  memoryPoolsSupported = 115,
  clusterLaunch = 120,
  tensorMapAccessSupported = 127,
  unifiedFunctionPointers = 129
};

enum FunctionAttribute : int {
  functionMaxThreads = 0,
  functionShared = 1,
  functionConst = 2,
  functionLocal = 3,
  functionRegisters = 4,
  functionPtxVersion = 5,
  functionBinaryVersion = 6,
  functionCacheMode = 7,
  functionMaxDynamicShared = 8,
  functionCarveout = 9,
  functionClusterRequired = 10,
  functionClusterX = 11,
  functionClusterY = 12,
  functionClusterZ = 13,
  functionNonPortableCluster = 14,
  functionClusterPolicy = 15
};

enum PointerAttribute : int {
  pointerContext = 1,
  pointerMemoryType = 2,
  pointerDevice = 3,
  pointerHost = 4,
  pointerIsManaged = 8,
  pointerDeviceOrdinal = 9,
  pointerRangeStart = 11,
  pointerRangeSize = 12,
  pointerMapped = 13
};

enum JitOption : int { jitInfoLog = 3, jitInfoLogSize = 4, jitErrorLog = 5, jitErrorLogSize = 6 };

} // namespace stator::sim::cu
