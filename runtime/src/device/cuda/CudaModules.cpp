// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/device/cuda/CudaModules.h"

#include "runtime/src/Failure.h"

#include <algorithm>

namespace stator::runtime::cuda {
namespace {

using Image = runtime::Module;

/// Whether code for `image.arch` runs on a device of this capability. Machine code runs within its major version only,
/// PTX on everything newer, unless the architecture's suffix narrows that.
bool runsOn(const Image &image, int capability) {
  if (image.arch > capability) return false;
  bool sameMajor = image.arch / 10 == capability / 10;
  switch (image.scope) {
  case Image::Scope::Exact: return image.arch == capability;
  case Image::Scope::Family: return sameMajor;
  case Image::Scope::Any: return sameMajor || image.kind == Image::Kind::Ptx;
  }
  return false;
}

} // namespace

CudaModules::CudaModules(std::shared_ptr<const Driver> opened, int index, const std::vector<Image> &modules)
    : theDriver(std::move(opened)) {
  const Driver &api = *theDriver;
  int count = 0;
  api.check(api.deviceCount(&count), "counting devices");
  if (index < 0 || index >= count)
    fail(STATOR_UNAVAILABLE, "there is no CUDA device %d: the driver knows %d", index, count);
  api.check(api.deviceGet(&device, index), "opening a device");
  int major = 0, minor = 0, version = 0;
  api.check(api.deviceAttribute(&major, attributeMajor, device), "asking for the compute capability");
  api.check(api.deviceAttribute(&minor, attributeMinor, device), "asking for the compute capability");
  api.check(api.driverVersion(&version), "asking for the driver's version");
  capability = major * 10 + minor;
  char name[256] = "";
  api.check(api.deviceName(name, sizeof name, device), "asking for the device's name");
  text = "cuda:" + std::to_string(index) + " " + name + " (sm_" + std::to_string(capability) + ", driver " +
         std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) + ")";
  api.check(api.contextRetain(&theContext, device), "making a context");
  try {
    Current current(*this);
    std::map<std::string, std::vector<const Image *>> candidates;
    for (const Image &image : modules) {
      if (image.kind == Image::Kind::Host) continue;
      std::vector<const Image *> &list = candidates[image.name];
      if (runsOn(image, capability)) list.push_back(&image);
    }
    for (auto &[module, list] : candidates) load(module, list);
  } catch (...) {
    unload();
    throw;
  }
}

void CudaModules::load(const std::string &name, const std::vector<const Image *> &candidates) {
  std::vector<const Image *> order = candidates;
  std::stable_sort(order.begin(), order.end(), [](const Image *a, const Image *b) {
    bool aCubin = a->kind == Image::Kind::Cubin, bCubin = b->kind == Image::Kind::Cubin;
    if (aCubin != bCubin) return aCubin;
    if (a->arch != b->arch) return a->arch > b->arch;
    return a->scope < b->scope; // the more special one first
  });
  const Driver &api = *theDriver;
  for (const Image *image : order) {
    char log[4096] = "";
    int options[] = {jitErrorLog, jitErrorLogBytes};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    std::string code(image->image); // the driver wants PTX to end with a NUL
    Module module = nullptr;
    Result result = api.moduleLoad(&module, code.c_str(), 2, options, values);
    if (result == success) {
      loaded[name] = module;
      return;
    }
    // A device that takes no machine code (the simulator) or not this one's: the next image is an equal.
    bool unfit = image->kind == Image::Kind::Cubin && (result == errorInvalidImage || result == errorNoBinary);
    if (unfit) continue;
    log[sizeof log - 1] = '\0';
    const char *words = nullptr;
    api.errorString(result, &words);
    fail(result == errorUnsupportedPtx ? STATOR_UNAVAILABLE : STATOR_DEVICE_FAULT,
         "CUDA: module '%.100s' for sm_%d cannot be loaded: %s%s%.600s", name.c_str(), image->arch,
         words ? words : "unknown error", *log ? ": " : "", log);
  }
  fail(STATOR_UNAVAILABLE, "module '%.100s' has no image for %s", name.c_str(), text.c_str());
}

void CudaModules::unload() {
  if (!theContext) return;
  const Driver &api = *theDriver;
  if (api.contextPush(theContext) == success) {
    for (auto &[name, address] : weights) api.release(address);
    for (auto &[name, module] : loaded) api.moduleUnload(module);
    Context popped;
    api.contextPop(&popped);
  }
  api.contextRelease(device);
  theContext = nullptr;
}

CudaModules::~CudaModules() { unload(); }

Function CudaModules::find(const std::string &module, const std::string &kernel) const {
  auto found = loaded.find(module);
  if (module.empty() && loaded.size() == 1) found = loaded.begin();
  if (found == loaded.end()) fail(STATOR_BAD_ARTIFACT, "there is no CUDA module '%.100s'", module.c_str());
  Function function = nullptr;
  Result result = theDriver->moduleFunction(&function, found->second, kernel.c_str());
  if (result == errorNotFound)
    fail(STATOR_BAD_ARTIFACT, "CUDA module '%.100s' has no kernel '%.200s'", found->first.c_str(), kernel.c_str());
  theDriver->check(result, "finding a kernel");
  return function;
}

Address CudaModules::weight(const std::string &name, std::string_view data) {
  std::lock_guard<std::mutex> lock(weightsMutex);
  auto known = weights.find(name);
  if (known != weights.end()) return known->second;
  const Driver &api = *theDriver;
  Address address = 0;
  // An allocation of its own for each: what bounds checking there is then works a tensor.
  api.check(api.allocate(&address, std::max<size_t>(data.size(), 1)), "allocating a weight");
  weights[name] = address;
  if (api.nameMemory) api.nameMemory(address, name.c_str());
  if (data.empty()) return address;
  api.check(api.copyToDevice(address, data.data(), data.size(), nullptr), "uploading a weight");
  // On the default stream, which the sessions' streams do not wait for.
  api.check(api.streamSynchronize(nullptr), "uploading a weight");
  return address;
}

} // namespace stator::runtime::cuda
