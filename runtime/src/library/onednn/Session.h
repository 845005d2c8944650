// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the oneDNN steps of one session share: engine, stream, scratch memory, packed weights, thread count.
#ifndef STATOR_RUNTIME_LIBRARY_ONEDNN_SESSION_H
#define STATOR_RUNTIME_LIBRARY_ONEDNN_SESSION_H

#include "runtime/src/library/onednn/Dnnl.h"
#include "runtime/src/memory/AlignedMemory.h"

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

namespace stator::runtime::dnnl {

/// Throws STATOR_DEVICE_FAULT (or std::bad_alloc) unless `status` is success.
void check(Status status, const char *what);

/// Owns one of oneDNN's objects.
template <typename Object> class Owned {
public:
  Owned() = default;
  Owned(Object object, Status (*destroy)(Object)) : object(object), destroy(destroy) {}
  Owned(Owned &&other) noexcept { *this = std::move(other); }
  Owned &operator=(Owned &&other) noexcept {
    std::swap(object, other.object);
    std::swap(destroy, other.destroy);
    return *this;
  }
  ~Owned() {
    if (object) destroy(object);
  }
  Object get() const { return object; }
  explicit operator bool() const { return object != nullptr; }

private:
  Object object = nullptr;
  Status (*destroy)(Object) = nullptr;
};

/// Weights in the library's own layouts, shared by all sessions of a model. Thread-safe.
class PackedWeights {
public:
  struct Packed {
    Owned<Memory> memory; // its descriptor is the layout; its data lives in `data`
    AlignedMemory data;
  };
  using List = std::vector<std::unique_ptr<Packed>>;

  explicit PackedWeights(std::shared_ptr<const Api> api);
  Engine engine() const { return theEngine.get(); }

private:
  std::shared_ptr<const Api> api;
  Owned<Engine> theEngine; // of its own: the sessions' engines end before the model does

public:
  std::mutex mutex;
  std::map<std::string, List> all; // by weight and source layout; guarded by `mutex`
  std::atomic<uint64_t> bytes{0};
};

class Session {
public:
  Session(std::shared_ptr<const Api> api, std::shared_ptr<PackedWeights> packed, int threads);

  const Api &api() const { return *theApi; }
  Engine engine() const { return theEngine.get(); }
  Stream stream() const { return theStream.get(); }
  PackedWeights &packed() { return *packedWeights; }

  /// Scratch memory for the step that is running; valid until the next call.
  char *scratch(int64_t bytes);
  int64_t scratchBytes() const { return scratchCapacity; }

  int threads() const { return threadCount; }

  /// Sets the calling thread's OpenMP thread count while it lives: oneDNN plans and runs primitives with it.
  class ThreadScope {
  public:
    ThreadScope(const Session &session, int threads);
    ~ThreadScope();
    ThreadScope(const ThreadScope &) = delete;

  private:
    const Api &api;
    int before = 0;
  };

private:
  std::shared_ptr<const Api> theApi;
  std::shared_ptr<PackedWeights> packedWeights;
  int threadCount;
  Owned<Engine> theEngine;
  Owned<Stream> theStream;
  AlignedMemory scratchMemory;
  int64_t scratchCapacity = 0;
};

} // namespace stator::runtime::dnnl
#endif
