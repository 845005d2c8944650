// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The objects behind the driver API's handles. Work is done at once, in the order of the calls: for one stream that is
// what a driver does, and for several it is one of the legal orders.
#pragma once

#include "runtime/simulator/Program.h"
#include "runtime/simulator/driver/Cuda.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace stator::sim::cu {

struct DeviceState;

struct ContextObject {
  DeviceState *device = nullptr;
  unsigned flags = 0;
  bool primary = false;
  Result sticky = success; ///< set by a launch that was judged wrong; every synchronising call returns it from then on
};

struct FunctionObject {
  ModuleObject *module = nullptr;
  const Kernel *kernel = nullptr;
  LaunchLimits limits;
};

struct ModuleObject {
  ContextObject *context = nullptr;
  std::unique_ptr<Program> program;
  std::map<std::string, std::unique_ptr<FunctionObject>> functions;
};

struct GraphObject {
  struct Node {
    std::function<Result()> run;
    int type;                        ///< CUgraphNodeType: 0 kernel, 1 memcpy, 2 memset, 3 host, 5 empty
    std::vector<const Node *> after; ///< what must run before, beside what capturing put in front
    const Node *origin = nullptr;    ///< in an executable graph: the node it was made of
    ContextObject *context = nullptr;
  };
  std::deque<Node> nodes; ///< a node's handle is its address
};
struct GraphExecObject {
  std::vector<GraphObject::Node> nodes;
};

struct StreamObject {
  ContextObject *context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  std::shared_ptr<GraphObject> capture; ///< not null while capturing
  bool captureOrigin = false;
};

struct EventObject {
  ContextObject *context = nullptr;
  unsigned flags = 0;
  bool recorded = false;
  double time = 0; ///< ms
  std::shared_ptr<GraphObject> capture;
};

struct PoolObject {
  DeviceState *device = nullptr;
  uint64_t releaseThreshold = 0;
};

struct DeviceState {
  int ordinal = 0;
  const Chip *chip = nullptr;
  std::unique_ptr<Memory> memory;
  uint64_t workspace = 0; ///< memory for the barriers of cooperative launches; 0 before the first
  ContextObject primary;
  unsigned primaryUses = 0;
  PoolObject defaultPool;
  PoolObject *pool = nullptr;
};

/// Everything of the process. Calls lock `mutex`; a launch holds it until its kernel has ended.
class Driver {
public:
  static Driver &get();

  std::recursive_mutex mutex;
  bool initialised = false;
  Settings settings;
  std::vector<std::unique_ptr<DeviceState>> devices;
  std::set<ContextObject *> contexts;
  std::set<ModuleObject *> modules;
  std::set<StreamObject *> streams;
  std::set<EventObject *> events;
  std::set<PoolObject *> pools;
  std::map<GraphObject *, std::shared_ptr<GraphObject>> graphs;
  std::set<GraphExecObject *> graphExecs;
  std::map<const void *, size_t> hostAllocations;
  uint64_t launches = 0;
  double clock = 0; ///< simulated ms

  Result initialise();
  ContextObject *current();
  std::vector<ContextObject *> &stack(); ///< of the calling thread
  /// The context a stream belongs to: its own, or the current one for the default streams; null where neither exists.
  ContextObject *contextOf(Stream stream);
  /// Runs `work` now, or appends it to the graph that `stream` captures.
  Result submit(Stream stream, int nodeType, std::function<Result()> work);
  std::shared_ptr<GraphObject> captureOf(Stream stream);
  bool isDefault(Stream stream) const { return reinterpret_cast<uintptr_t>(stream) <= 2; }
  /// The memory that holds a device or host address, or null.
  DeviceState *deviceOf(uint64_t address);
};

/// A launch, checked as a driver does before it is submitted.
struct LaunchRequest {
  Function function = nullptr;
  Dim3 grid, block, cluster;
  unsigned sharedBytes = 0;
  bool cooperative = false, clusterGiven = false;
  std::vector<uint8_t> params;
};
Result checkLaunch(ContextObject &context, const LaunchRequest &request);
Result runLaunch(ContextObject &context, const LaunchRequest &request);
Result readParams(const Kernel &kernel, void **kernelParams, void **extra, std::vector<uint8_t> &out);

/// The graph's nodes in an order that its edges allow; false where they go in circles.
bool sortNodes(const GraphObject &graph, std::vector<GraphObject::Node> &sorted);

/// Loads PTX text; `log` receives what a compiler would say.
Result loadModule(ContextObject &context, const char *image, std::string &log, ModuleObject *&module);
void unloadModule(ModuleObject *module);

} // namespace stator::sim::cu

#define STATOR_CUDA_EXPORT extern "C" __attribute__((visibility("default")))
#define STATOR_CUDA_LOCK                                                                                               \
  Driver &driver = Driver::get();                                                                                      \
  std::lock_guard<std::recursive_mutex> guard(driver.mutex);                                                           \
  if (!driver.initialised) return notInitialized
