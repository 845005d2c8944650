// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the sessions of one model share on one GPU: context, code, weights.
#ifndef STATOR_RUNTIME_DEVICE_CUDA_CUDAMODULES_H
#define STATOR_RUNTIME_DEVICE_CUDA_CUDAMODULES_H

#include "runtime/src/artifact/Model.h"
#include "runtime/src/device/cuda/Driver.h"

namespace stator::runtime::cuda {

class CudaModules {
public:
  /// Retains the device's primary context and loads, of every module name, the best image: a cubin made for this
  /// architecture, else PTX, which the driver compiles. Throws STATOR_UNAVAILABLE where a module has no image for it.
  CudaModules(std::shared_ptr<const Driver> driver, int index, const std::vector<runtime::Module> &modules);
  ~CudaModules();
  CudaModules(const CudaModules &) = delete;

  const Driver &driver() const { return *theDriver; }
  Context context() const { return theContext; }
  const std::string &description() const { return text; }

  /// `module` "" stands for the only one. The context is current.
  Function find(const std::string &module, const std::string &kernel) const;

  /// The device address of a weight, uploaded when first asked for. Thread-safe; the context is current.
  Address weight(const std::string &name, std::string_view data);

  /// Makes the context current while it lives.
  class Current {
  public:
    explicit Current(const CudaModules &modules) : driver(modules.driver()) {
      driver.check(driver.contextPush(modules.context()), "entering the context");
    }
    ~Current() {
      Context popped;
      driver.contextPop(&popped);
    }
    Current(const Current &) = delete;

  private:
    const Driver &driver;
  };

private:
  void unload();
  void load(const std::string &name, const std::vector<const runtime::Module *> &candidates);

  std::shared_ptr<const Driver> theDriver;
  DeviceNumber device = 0;
  Context theContext = nullptr;
  int capability = 0; // 90 for compute capability 9.0
  std::string text;
  std::map<std::string, Module> loaded;
  std::mutex weightsMutex;
  std::map<std::string, Address> weights;
};

} // namespace stator::runtime::cuda
#endif
