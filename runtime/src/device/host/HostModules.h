// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host machine code of a model, loaded once and shared by its sessions.
#ifndef STATOR_RUNTIME_DEVICE_HOST_HOSTMODULES_H
#define STATOR_RUNTIME_DEVICE_HOST_HOSTMODULES_H

#include "runtime/src/artifact/Model.h"

namespace stator::runtime {

class HostModules {
public:
  /// Loads, of every module name, the last image whose needs this CPU meets. Throws STATOR_UNAVAILABLE, naming the
  /// missing features, where there is none.
  explicit HostModules(const std::vector<Module> &modules);
  ~HostModules();
  HostModules(const HostModules &) = delete;

  /// `module` "" stands for the only one.
  stator_host_kernel find(const std::string &module, const std::string &kernel) const;

private:
  struct Loaded {
    std::string name;
    void *handle;
    int descriptor;
  };
  void unload();

  std::vector<Loaded> loaded;
};

} // namespace stator::runtime
#endif
