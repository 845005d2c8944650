// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/library/onednn/OneDnn.h"

#include "runtime/src/Failure.h"
#include "runtime/src/artifact/Model.h"
#include "runtime/src/library/onednn/Call.h"
#include "runtime/src/library/onednn/Session.h"

namespace stator::runtime {
namespace dnnl {

void check(Status status, const char *what) {
  if (status == success) return;
  if (status == outOfMemory) throw std::bad_alloc();
  fail(STATOR_DEVICE_FAULT, "oneDNN: %s failed with status %d", what, status);
}

namespace {

Owned<Engine> makeEngine(const Api &api) {
  Engine engine = nullptr;
  check(api.engineCreate(&engine, cpu, 0), "creating an engine");
  return {engine, api.engineDestroy};
}

} // namespace

PackedWeights::PackedWeights(std::shared_ptr<const Api> opened) : api(std::move(opened)), theEngine(makeEngine(*api)) {}

Session::Session(std::shared_ptr<const Api> api, std::shared_ptr<PackedWeights> packed, int threads)
    : theApi(std::move(api)), packedWeights(std::move(packed)), threadCount(threads), theEngine(makeEngine(*theApi)) {
  Stream stream = nullptr;
  check(theApi->streamCreate(&stream, theEngine.get(), inOrder), "creating a stream");
  theStream = {stream, theApi->streamDestroy};
}

char *Session::scratch(int64_t bytes) {
  if (bytes > scratchCapacity || !scratchMemory) {
    scratchMemory.reset();
    scratchMemory = allocateAligned(bytes);
    scratchCapacity = bytes;
  }
  return scratchMemory.get();
}

Session::ThreadScope::ThreadScope(const Session &session, int threads) : api(session.api()) {
  if (!api.ompSetThreads) return;
  before = api.ompMaxThreads();
  if (before != threads) api.ompSetThreads(threads);
}

Session::ThreadScope::~ThreadScope() {
  if (api.ompSetThreads && api.ompMaxThreads() != before) api.ompSetThreads(before);
}

namespace {

/// Loops on the OpenMP team that oneDNN's primitives use.
class OpenMpLoops : public Parallel {
public:
  OpenMpLoops(std::shared_ptr<const Api> api, int threads) : Parallel(threads), api(std::move(api)) {}

protected:
  void team(int, void (*work)(void *), void *argument) override {
    // Always the whole team: libgomp ends threads that one region has no use for and starts them for the next.
    api->ompParallel(work, argument, unsigned(threads()), 0);
  }

private:
  std::shared_ptr<const Api> api;
};

class OneDnnLibrary : public Library {
public:
  OneDnnLibrary(std::shared_ptr<const Api> api, std::shared_ptr<PackedWeights> packed, int threads)
      : api(api), session(api, packed, threads), packed(packed) {}

  std::string name() const override { return api->version; }

  std::unique_ptr<LibraryCall> prepare(const LibraryStep &step, const Plan &plan) override {
    return prepareCall(session, step, plan);
  }

  std::unique_ptr<Parallel> parallel(int threads) override {
    if (!api->ompParallel) return nullptr;
    return std::make_unique<OpenMpLoops>(api, threads);
  }

  uint64_t bytes() const override { return packed->bytes.load() + uint64_t(session.scratchBytes()); }

private:
  std::shared_ptr<const Api> api;
  Session session;
  std::shared_ptr<PackedWeights> packed;
};

} // namespace
} // namespace dnnl

std::unique_ptr<Library> openOneDnn(Model &model, int threads) {
  std::shared_ptr<const dnnl::Api> api = dnnl::Api::open();
  if (!api) return nullptr;
  auto packed = model.shared<dnnl::PackedWeights>("onednn", [&] { return std::make_shared<dnnl::PackedWeights>(api); });
  return std::make_unique<dnnl::OneDnnLibrary>(std::move(api), std::move(packed), threads);
}

} // namespace stator::runtime
