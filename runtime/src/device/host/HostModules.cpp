// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/device/host/HostModules.h"

#include "runtime/src/Failure.h"

#include <cerrno>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace stator::runtime {
namespace {

bool cpuHas(const std::string &feature) {
#if defined(__x86_64__)
  // __builtin_cpu_supports takes literals only.
#define STATOR_FEATURES(X)                                                                                             \
  X("popcnt")                                                                                                          \
  X("sse3") X("ssse3") X("sse4.1") X("sse4.2") X("avx") X("avx2") X("bmi") X("bmi2") X("fma") X("avx512f")             \
      X("avx512bw") X("avx512cd") X("avx512dq") X("avx512vl") X("avx512vnni") X("avx512bf16") X("avx512vbmi")          \
          X("avx512ifma") X("avx512vbmi2") X("avx512bitalg") X("avx512vpopcntdq") X("vpclmulqdq") X("gfni")            \
              X("pclmul") X("aes")
#define STATOR_TEST(NAME)                                                                                              \
  if (feature == NAME) return __builtin_cpu_supports(NAME);
  STATOR_FEATURES(STATOR_TEST)
#undef STATOR_TEST
#undef STATOR_FEATURES
#endif
  return false;
}

/// The first feature that the CPU lacks, "" if none.
std::string missingFeature(const Module &module) {
  for (const std::string &feature : module.cpuFeatures)
    if (!cpuHas(feature)) return feature;
  return "";
}

/// Puts the image into an anonymous file, because dlopen takes files only.
int writeImage(const Module &module) {
  int descriptor = memfd_create("stator-module", MFD_CLOEXEC);
  if (descriptor < 0) fail(STATOR_UNAVAILABLE, "memfd_create failed (error %d)", errno);
  for (size_t done = 0; done < module.image.size();) {
    ssize_t written = write(descriptor, module.image.data() + done, module.image.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      close(descriptor);
      fail(STATOR_OUT_OF_MEMORY, "no memory for the code of module '%.100s'", module.name.c_str());
    }
    done += size_t(written);
  }
  return descriptor;
}

} // namespace

HostModules::HostModules(const std::vector<Module> &modules) {
  std::map<std::string, const Module *> chosen;
  std::map<std::string, std::string> refused;
  for (const Module &module : modules) {
    if (module.kind != Module::Kind::Host) continue;
    std::string missing = missingFeature(module);
    if (missing.empty())
      chosen[module.name] = &module;
    else
      refused[module.name] = missing;
  }
  for (auto &[name, missing] : refused)
    if (!chosen.count(name))
      fail(STATOR_UNAVAILABLE, "module '%.100s' needs a CPU with %.40s, which this one lacks", name.c_str(),
           missing.c_str());

  try {
    for (auto &[name, module] : chosen) {
      int descriptor = writeImage(*module);
      loaded.push_back({name, nullptr, descriptor});
      // The descriptor stays open: the loader knows libraries by path, and a reused number would give the old one.
      std::string path = "/proc/self/fd/" + std::to_string(descriptor);
      loaded.back().handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!loaded.back().handle) {
        const char *text = dlerror();
        fail(STATOR_BAD_ARTIFACT, "module '%.100s' cannot be loaded: %s", name.c_str(),
             text ? text : "no reason given");
      }
    }
  } catch (...) {
    unload();
    throw;
  }
}

HostModules::~HostModules() { unload(); }

void HostModules::unload() {
  for (Loaded &module : loaded) {
    if (module.handle) dlclose(module.handle);
    close(module.descriptor);
  }
  loaded.clear();
}

stator_host_kernel HostModules::find(const std::string &module, const std::string &kernel) const {
  const Loaded *found = nullptr;
  for (const Loaded &candidate : loaded)
    if (module.empty() ? loaded.size() == 1 : candidate.name == module) found = &candidate;
  if (!found) fail(STATOR_BAD_ARTIFACT, "there is no host module '%.100s'", module.c_str());
  void *symbol = dlsym(found->handle, kernel.c_str());
  if (!symbol)
    fail(STATOR_BAD_ARTIFACT, "host module '%.100s' has no kernel '%.200s'", found->name.c_str(), kernel.c_str());
  return reinterpret_cast<stator_host_kernel>(symbol);
}

} // namespace stator::runtime
