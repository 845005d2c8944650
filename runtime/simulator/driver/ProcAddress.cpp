// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuGetProcAddress: names without version suffixes to this library's exports.
#include "runtime/simulator/driver/Driver.h"

#include <dlfcn.h>

using namespace stator::sim;
using namespace stator::sim::cu;

namespace {

void *self() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&self), &info) || !info.dli_fname) return nullptr;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/// The export that `name` means to a program built for driver interface `version`.
void *lookUp(const std::string &name, int version) {
  void *library = self();
  if (!library) return nullptr;
  // cuda.h 13 maps these names to newer signatures than their _v2.
  if (version >= 13000 && name == "cuCtxCreate") return dlsym(library, "cuCtxCreate_v4");
  // Their _v2 takes a context as well; cuda.h 13 maps the plain names to the plain functions.
  if (name == "cuCtxGetDevice" || name == "cuCtxSynchronize") return dlsym(library, name.c_str());
  if (void *second = dlsym(library, (name + "_v2").c_str())) return second;
  return dlsym(library, name.c_str());
}

} // namespace

STATOR_CUDA_EXPORT Result cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t, int *status) {
  if (!name || !function) return invalidValue;
  *function = lookUp(name, version);
  if (status) *status = *function ? 0 : 1; // CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
  return *function ? success : notFound;
}
STATOR_CUDA_EXPORT Result cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}
STATOR_CUDA_EXPORT Result cuGetExportTable(const void **table, const void *) {
  if (table) *table = nullptr;
  return notFound;
}
STATOR_CUDA_EXPORT Result cuProfilerStart() { return success; }
STATOR_CUDA_EXPORT Result cuProfilerStop() { return success; }
