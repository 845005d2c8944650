// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/device/cuda/CudaDevice.h"

#include "runtime/src/Failure.h"
#include "runtime/src/device/cuda/CudaModules.h"
#include "runtime/src/execute/Frame.h"
#include "runtime/src/library/cublaslt/CublasLt.h"
#include "runtime/src/library/cudnn/Cudnn.h"

#include <algorithm>
#include <deque>

namespace stator::runtime {
namespace cuda {
namespace {

Address addressOf(const char *pointer) { return Address(reinterpret_cast<uintptr_t>(pointer)); }

/// Dynamic shared memory that a kernel may use without asking.
constexpr int64_t ordinaryShared = 48 << 10;

class CudaDevice : public Device {
public:
  CudaDevice(std::shared_ptr<Model> model, std::shared_ptr<CudaModules> modules, void *callersStream)
      : model(std::move(model)), modules(std::move(modules)), api(this->modules->driver()),
        stream(static_cast<Stream>(callersStream)), ownStream(!callersStream) {
    CudaModules::Current current(*this->modules);
    if (ownStream) api.check(api.streamCreate(&stream, streamNonBlocking), "creating a stream");
  }

  ~CudaDevice() override {
    if (!ownStream) return;
    if (api.contextPush(modules->context()) != success) return;
    api.streamDestroy(stream);
    Context popped;
    api.contextPop(&popped);
  }

  DeviceKind kind() const override { return DeviceKind::Cuda; }
  std::string name() const override { return modules->description(); }

  void enter() override { api.check(api.contextPush(modules->context()), "entering the context"); }
  void leave() noexcept override {
    Context popped;
    api.contextPop(&popped);
  }

  // Sessions also allocate and release while they are made and destroyed, outside of enter() and leave().
  char *allocate(int64_t bytes, MemoryKind memory) override {
    CudaModules::Current current(*modules);
    size_t size = size_t(std::max<int64_t>(bytes, 1));
    if (memory == MemoryKind::Host) {
      void *host = nullptr;
      api.check(api.allocateHost(&host, size), "allocating page-locked memory");
      return static_cast<char *>(host);
    }
    Address address = 0;
    api.check(api.allocate(&address, size), "allocating memory");
    return reinterpret_cast<char *>(uintptr_t(address));
  }

  void release(char *address, MemoryKind memory) noexcept override {
    if (api.contextPush(modules->context()) != success) return;
    // Page-locked memory is given back at once, so nothing may still use it.
    if (memory == MemoryKind::Host) {
      api.streamSynchronize(stream);
      api.releaseHost(address);
    } else {
      api.release(addressOf(address));
    }
    Context popped;
    api.contextPop(&popped);
  }

  void copy(char *to, const char *from, int64_t bytes) override {
    if (to == from) return;
    if (to < from + bytes && from < to + bytes) {
      bounce.reserve(*this, bytes);
      copy(bounce.get(), from, bytes);
      return copy(to, bounce.get(), bytes);
    }
    api.check(api.copy(addressOf(to), addressOf(from), size_t(bytes), stream), "copying");
  }

  void upload(char *to, const void *from, int64_t bytes) override {
    if (bytes != 0) api.check(api.copyToDevice(addressOf(to), from, size_t(bytes), stream), "copying to the device");
  }

  void download(void *to, const char *from, int64_t bytes) override {
    if (bytes != 0) api.check(api.copyToHost(to, addressOf(from), size_t(bytes), stream), "copying from the device");
    synchronize();
  }

  void fill(char *to, uint64_t bits, uint32_t width, int64_t bytes) override {
    Address address = addressOf(to);
    size_t count = size_t(bytes) / width;
    Result result = success;
    if (width == 1)
      result = api.set8(address, uint8_t(bits), count, stream);
    else if (width == 2)
      result = api.set16(address, uint16_t(bits), count, stream);
    else if (width == 4)
      result = api.set32(address, uint32_t(bits), count, stream);
    else if (uint32_t(bits) == uint32_t(bits >> 32))
      result = api.set32(address, uint32_t(bits), count * 2, stream);
    else
      return fillWide(to, bits, bytes);
    api.check(result, "filling memory");
  }

  bool watchesTensors() const override { return api.tensorBegin && api.tensorEnd; }
  void beginTensor(char *address, int64_t bytes, const std::string &name) override {
    synchronize(); // it happens at once, while work on the stream may still be to come
    api.check(api.tensorBegin(addressOf(address), size_t(bytes), name.c_str()), "declaring a tensor");
  }
  void endTensor(char *address) override {
    synchronize();
    api.check(api.tensorEnd(addressOf(address)), "ending a tensor");
  }
  void nameMemory(char *address, const std::string &name) override {
    if (api.nameMemory) api.check(api.nameMemory(addressOf(address), name.c_str()), "naming memory");
  }

  void synchronize() override { api.check(api.streamSynchronize(stream), "running the work on the device"); }

  void *findKernel(const LaunchStep &step) override {
    CudaModules::Current current(*modules);
    kernels.push_back({modules->find(step.module, step.kernel), ordinaryShared});
    return &kernels.back();
  }

  void launch(const LaunchStep &step, void *kernel, Frame &frame) override {
    Kernel &target = *static_cast<Kernel *>(kernel);
    unsigned grid[3], block[3];
    for (int i = 0; i < 3; ++i) {
      grid[i] = size(step, frame, step.grid[i], "grid");
      block[i] = size(step, frame, step.block[i], "block");
    }
    if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return;
    unsigned shared = size(step, frame, step.shared, "shared");
    if (int64_t(shared) > target.shared) {
      api.check(api.functionSetAttribute(target.function, functionMaxDynamicShared, int(shared)),
                "asking for shared memory");
      target.shared = shared;
    }
    values.clear();
    for (BufferId buffer : step.buffers) values.push_back(addressOf(frame.address(buffer)));
    for (const LaunchStep::Scalar &scalar : step.scalars) {
      int64_t value = frame.value(scalar.value);
      if (!scalar.wide && (value > INT32_MAX || value < INT32_MIN))
        fail(STATOR_MISMATCH, "%lld does not fit a 32-bit parameter of kernel '%.200s'", (long long)value,
             step.kernel.c_str());
      values.push_back(uint64_t(value)); // little-endian: a 32-bit parameter reads the low half
    }
    parameters.clear();
    for (uint64_t &value : values) parameters.push_back(&value);
    api.check(api.launch(target.function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, stream,
                         parameters.data(), nullptr),
              "launching a kernel");
  }

  char *weight(const std::string &name, int64_t &bytes) override {
    std::string_view data = model->weight(name).data;
    bytes = int64_t(data.size());
    return reinterpret_cast<char *>(uintptr_t(modules->weight(name, data)));
  }

  Library *library(const std::string &name) override {
    return name == "cublaslt" ? cublasLt.get() : name == "cudnn" ? cudnn.get() : nullptr;
  }

private:
  struct Kernel {
    Function function;
    int64_t shared; // dynamic shared memory that it has been allowed
  };

  /// 8-byte elements, which the driver cannot set: one is written, then what is there is doubled.
  void fillWide(char *to, uint64_t bits, int64_t bytes) {
    upload(to, &bits, sizeof bits);
    for (int64_t done = sizeof bits; done < bytes;) {
      int64_t more = std::min(done, bytes - done);
      copy(to + done, to, more);
      done += more;
    }
  }

  static unsigned size(const LaunchStep &step, Frame &frame, ExprId id, const char *what) {
    int64_t value = frame.value(id);
    if (value < 0 || value > INT32_MAX)
      fail(STATOR_MISMATCH, "kernel '%.200s': %s is %lld", step.kernel.c_str(), what, (long long)value);
    return unsigned(value);
  }

  std::shared_ptr<Model> model;
  std::shared_ptr<CudaModules> modules;
  const Driver &api;
  Stream stream;
  bool ownStream;
  std::deque<Kernel> kernels; // addresses stay
  std::unique_ptr<Library> cublasLt = openCublasLt(), cudnn = openCudnn();
  DeviceMemory bounce;
  std::vector<uint64_t> values; // of the launch being made
  std::vector<void *> parameters;
};

} // namespace
} // namespace cuda

std::unique_ptr<Device> openCudaDevice(std::shared_ptr<Model> model, const CudaOptions &options) {
  std::shared_ptr<const cuda::Driver> driver = cuda::Driver::open(options.library);
  std::string key = "cuda:" + std::to_string(options.index) + ":" + driver->path;
  auto modules = model->shared<cuda::CudaModules>(
      key, [&] { return std::make_shared<cuda::CudaModules>(driver, options.index, model->modules()); });
  return std::make_unique<cuda::CudaDevice>(std::move(model), std::move(modules), options.stream);
}

} // namespace stator::runtime
