// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/device/cuda/Driver.h"

#include "runtime/src/Failure.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace stator::runtime::cuda {
namespace {

constexpr const char *simulatorName = "libstator_cuda_sim.so";

/// The folder of the shared object (or program) that holds this code.
std::string ownFolder() {
  Dl_info info = {};
  if (!dladdr(reinterpret_cast<void *>(&stator_runtime_version), &info) || !info.dli_fname) return ".";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

void *openLibrary(const std::string &choice, std::string &path) {
  if (choice != "sim") {
    path = choice;
    return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  // Beside the shared library, or where the program's libraries are.
  for (const std::string &folder : {ownFolder(), ownFolder() + "/../lib"}) {
    path = folder + "/" + simulatorName;
    if (void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  path = simulatorName;
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

} // namespace

std::shared_ptr<const Driver> Driver::open(const char *choice) {
  if (!choice || !*choice) choice = std::getenv("STATOR_CUDA");
  if (!choice || !*choice) choice = "libcuda.so.1";
  auto driver = std::make_shared<Driver>();
  void *handle = openLibrary(choice, driver->path);
  if (!handle) {
    const char *text = dlerror();
    fail(STATOR_UNAVAILABLE, "the CUDA driver cannot be opened: %s", text ? text : "no reason given");
  }
#define STATOR_BIND(MEMBER, NAME, PARAMETERS)                                                                          \
  driver->MEMBER = reinterpret_cast<Result(*) PARAMETERS>(dlsym(handle, #NAME));                                       \
  if (!driver->MEMBER)                                                                                                 \
    fail(STATOR_UNAVAILABLE, "'%.200s' has no " #NAME ": the driver is too old", driver->path.c_str());
  STATOR_CUDA_FUNCTIONS(STATOR_BIND)
#undef STATOR_BIND
  driver->tensorBegin = reinterpret_cast<decltype(driver->tensorBegin)>(dlsym(handle, "statorSimTensorBegin"));
  driver->tensorEnd = reinterpret_cast<decltype(driver->tensorEnd)>(dlsym(handle, "statorSimTensorEnd"));
  driver->nameMemory = reinterpret_cast<decltype(driver->nameMemory)>(dlsym(handle, "statorSimName"));
  if (Result result = driver->init(0); result != success) {
    const char *text = nullptr;
    driver->errorString(result, &text);
    fail(STATOR_UNAVAILABLE, "the CUDA driver does not start: %s (%d)", text ? text : "unknown error", result);
  }
  return driver;
}

void Driver::check(Result result, const char *what) const {
  if (result == success) return;
  const char *name = nullptr, *text = nullptr;
  errorName(result, &name);
  errorString(result, &text);
  fail(result == errorOutOfMemory ? STATOR_OUT_OF_MEMORY : STATOR_DEVICE_FAULT, "CUDA: %s failed: %s (%s)", what,
       text ? text : "unknown error", name ? name : std::to_string(result).c_str());
}

} // namespace stator::runtime::cuda
