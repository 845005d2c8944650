// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/library/onednn/Dnnl.h"

#include <dlfcn.h>

namespace stator::runtime::dnnl {
namespace {

/// dnnl_version_t as far as it is needed.
struct Version {
  int major, minor, patch;
};

template <typename Function> bool bind(void *handle, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

} // namespace

std::shared_ptr<const Api> Api::open() {
  auto api = std::make_shared<Api>();
  api->handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!api->handle) return nullptr;
  const Version *(*version)() = nullptr;
  if (!bind(api->handle, "dnnl_version", version) || version()->major != 2) return nullptr;
  bool complete = true;
#define STATOR_BIND(MEMBER, NAME, RESULT, PARAMETERS) complete &= bind(api->handle, #NAME, api->MEMBER);
  STATOR_DNNL_FUNCTIONS(STATOR_BIND)
#undef STATOR_BIND
  if (!complete) return nullptr;
  // Through the library's handle, so that these are of the very OpenMP that it is linked with.
  bool openMp = bind(api->handle, "omp_set_num_threads", api->ompSetThreads) &&
                bind(api->handle, "omp_get_max_threads", api->ompMaxThreads) &&
                bind(api->handle, "GOMP_parallel", api->ompParallel);
  if (!openMp) api->ompSetThreads = nullptr, api->ompMaxThreads = nullptr, api->ompParallel = nullptr;
  api->version = "oneDNN " + std::to_string(version()->major) + "." + std::to_string(version()->minor) + "." +
                 std::to_string(version()->patch);
  return api;
}

} // namespace stator::runtime::dnnl
