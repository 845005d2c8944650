// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An opened artifact: immutable after opening, shared by all sessions.
#ifndef STATOR_RUNTIME_ARTIFACT_MODEL_H
#define STATOR_RUNTIME_ARTIFACT_MODEL_H

#include "runtime/src/artifact/Archive.h"
#include "runtime/src/artifact/File.h"
#include "runtime/src/artifact/Plan.h"
#include "runtime/src/artifact/Safetensors.h"
#include "runtime/src/memory/AlignedMemory.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace stator::runtime {

/// One compiled code image in the archive.
struct Module {
  enum class Kind { Host, Ptx, Cubin } kind;
  std::string name;
  std::vector<std::string> cpuFeatures; // host
  int arch = 0;                         // 80 for "sm_80"
  /// What the architecture's suffix says: sm_90a runs on 9.0 alone, sm_100f on its major version, sm_90 on newer ones.
  enum class Scope { Exact, Family, Any } scope = Scope::Any;
  std::string_view image;
};

class Model {
public:
  /// Maps the file and opens it; `weightsDirectory` is where an external weight file is, "" for the artifact's folder.
  static std::shared_ptr<Model> openFile(const std::string &path, std::string weightsDirectory);
  static std::shared_ptr<Model> openMemory(std::string_view bytes, std::string weightsDirectory);

  std::string_view manifest() const { return manifestText; }
  const std::vector<Function> &functions() const { return allFunctions; }
  const std::vector<Module> &modules() const { return allModules; }

  /// The weight of that name, its data aligned to STATOR_ALIGNMENT; an unknown name is a Failure.
  const StoredTensor &weight(const std::string &name) const;
  uint64_t weightBytes() const { return totalWeightBytes; }

  /// Something that sessions share and that is made on first use (loaded modules, packed weights), by key. The maker
  /// runs under a lock; a maker that throws leaves nothing behind. What is made must not own the model.
  template <typename T>
  std::shared_ptr<T> shared(const std::string &key, const std::function<std::shared_ptr<T>()> &make) {
    std::lock_guard<std::mutex> lock(sharedMutex);
    std::shared_ptr<void> &slot = sharedThings[key];
    if (!slot) slot = make();
    return std::static_pointer_cast<T>(slot);
  }

private:
  Model() = default;
  void open(std::string_view bytes, const std::string &weightsDirectory);
  void checkEntries(const Archive &archive, const Json &manifest) const;
  void readModules(const Archive &archive, const Json &modules);
  void openWeights(const Archive &archive, const Json &weights, const std::string &directory);

  File file, weightsFile;
  std::string_view manifestText;
  std::vector<Function> allFunctions;
  std::vector<Module> allModules;
  std::unordered_map<std::string, StoredTensor> weights;
  std::vector<AlignedMemory> realigned;
  uint64_t totalWeightBytes = 0;

  std::mutex sharedMutex;
  std::map<std::string, std::shared_ptr<void>> sharedThings;
};

} // namespace stator::runtime
#endif
