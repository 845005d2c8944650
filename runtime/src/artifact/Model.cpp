// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/artifact/Model.h"

#include "runtime/src/Failure.h"
#include "runtime/src/artifact/Digest.h"

#include <cstring>

namespace stator::runtime {
namespace {

void checkDigest(std::string_view data, const Json &description, const char *what) {
  int64_t bytes = description.at("bytes").integer("bytes");
  if (bytes != int64_t(data.size()))
    fail(STATOR_BAD_ARTIFACT, "'%.255s' has %zu bytes, the manifest says %lld", what, data.size(), (long long)bytes);
  const std::string &digest = description.at("digest").string("digest");
  if (digest.compare(0, 6, "xxh64:") != 0) fail(STATOR_BAD_ARTIFACT, "'%.255s': unknown kind of digest", what);
  if (digestText(data) != digest) fail(STATOR_BAD_ARTIFACT, "'%.255s' is damaged: its digest differs", what);
}

std::vector<std::string> levelFeatures(const std::string &level) {
  static constexpr const char *v2[] = {"popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"};
  static constexpr const char *v3[] = {"avx", "avx2", "bmi", "bmi2", "fma"};
  static constexpr const char *v4[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};
  std::vector<std::string> features;
  int number = level == "x86-64"      ? 1
               : level == "x86-64-v2" ? 2
               : level == "x86-64-v3" ? 3
               : level == "x86-64-v4" ? 4
                                      : 0;
  if (number == 0) fail(STATOR_BAD_ARTIFACT, "manifest: unknown cpu '%.40s'", level.c_str());
  if (number >= 2) features.insert(features.end(), std::begin(v2), std::end(v2));
  if (number >= 3) features.insert(features.end(), std::begin(v3), std::end(v3));
  if (number >= 4) features.insert(features.end(), std::begin(v4), std::end(v4));
  return features;
}

void readArch(const std::string &text, Module &module) {
  size_t end = text.size();
  if (end > 3 && text[end - 1] == 'a') module.scope = Module::Scope::Exact;
  if (end > 3 && text[end - 1] == 'f') module.scope = Module::Scope::Family;
  if (module.scope != Module::Scope::Any) --end;
  bool good = (end == 5 || end == 6) && text.compare(0, 3, "sm_") == 0;
  for (size_t i = 3; good && i < end; ++i) {
    good = text[i] >= '0' && text[i] <= '9';
    module.arch = module.arch * 10 + (text[i] - '0');
  }
  if (!good) fail(STATOR_BAD_ARTIFACT, "manifest: unknown arch '%.40s'", text.c_str());
}

} // namespace

std::shared_ptr<Model> Model::openFile(const std::string &path, std::string weightsDirectory) {
  std::shared_ptr<Model> model(new Model);
  model->file = File::open(path);
  if (weightsDirectory.empty()) {
    size_t slash = path.rfind('/');
    weightsDirectory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  }
  model->open(model->file.data(), weightsDirectory);
  return model;
}

std::shared_ptr<Model> Model::openMemory(std::string_view bytes, std::string weightsDirectory) {
  std::shared_ptr<Model> model(new Model);
  model->open(bytes, weightsDirectory);
  return model;
}

void Model::open(std::string_view bytes, const std::string &weightsDirectory) {
  Archive archive(bytes);
  const Archive::Entry *entry = archive.find("manifest.json");
  if (!entry || entry != &archive.entries().front())
    fail(STATOR_BAD_ARTIFACT, "artifact: manifest.json is not its first entry");
  if (crc32(entry->data) != entry->crc)
    fail(STATOR_BAD_ARTIFACT, "artifact: manifest.json is damaged: its CRC differs");
  manifestText = entry->data;
  Json manifest = Json::parse(manifestText, "manifest");
  int64_t format = manifest.at("format").integer("format"), abi = manifest.at("abi").integer("abi");
  if (format != STATOR_ARTIFACT_VERSION || abi != STATOR_ABI_VERSION)
    fail(STATOR_BAD_ARTIFACT, "artifact of format %lld with ABI %lld; this runtime reads format %d with ABI %d",
         (long long)format, (long long)abi, STATOR_ARTIFACT_VERSION, STATOR_ABI_VERSION);
  if (const Json *required = manifest.find("requires"))
    for (const Json &feature : required->array("requires"))
      fail(STATOR_BAD_ARTIFACT, "artifact needs '%.100s', which this runtime lacks",
           feature.string("requires").c_str());
  checkEntries(archive, manifest);
  readModules(archive, manifest.at("modules"));
  if (const Json *description = manifest.find("weights")) openWeights(archive, *description, weightsDirectory);
  allFunctions = readFunctions(manifest.at("functions"));
  for (const Function &function : allFunctions)
    for (const Plan &plan : function.plans) {
      for (const Buffer &buffer : plan.buffers)
        if (buffer.space == Buffer::Space::Weight) weight(buffer.weight);
      for (const TensorSpec &state : plan.states)
        if (!state.initial.empty()) weight(state.initial);
    }
}

void Model::checkEntries(const Archive &archive, const Json &manifest) const {
  const Json &entries = manifest.at("entries");
  for (const auto &[name, description] : entries.object("entries"))
    if (!archive.find(name)) fail(STATOR_BAD_ARTIFACT, "artifact: entry '%.255s' is missing", name.c_str());
  for (const Archive::Entry &entry : archive.entries()) {
    if (entry.name == "manifest.json") continue;
    std::string name(entry.name);
    const Json *description = entries.find(entry.name);
    if (!description) fail(STATOR_BAD_ARTIFACT, "artifact: entry '%.255s' is not in the manifest", name.c_str());
    checkDigest(entry.data, *description, name.c_str());
  }
}

void Model::readModules(const Archive &archive, const Json &modules) {
  for (const Json &json : modules.array("modules")) {
    Module module;
    module.name = json.at("name").string("name");
    const std::string &kind = json.at("kind").string("kind");
    if (kind == "host") {
      module.kind = Module::Kind::Host;
      if (const Json *features = json.find("features"))
        for (const Json &feature : features->array("features"))
          module.cpuFeatures.push_back(feature.string("features"));
      else
        module.cpuFeatures = levelFeatures(json.at("cpu").string("cpu"));
    } else if (kind == "ptx" || kind == "cubin") {
      module.kind = kind == "ptx" ? Module::Kind::Ptx : Module::Kind::Cubin;
      readArch(json.at("arch").string("arch"), module);
    } else {
      fail(STATOR_BAD_ARTIFACT, "manifest: unknown kind of module '%.40s'", kind.c_str());
    }
    const std::string &name = json.at("entry").string("entry");
    const Archive::Entry *entry = archive.find(name);
    if (!entry)
      fail(STATOR_BAD_ARTIFACT, "manifest: module '%.100s' has no entry '%.255s'", module.name.c_str(), name.c_str());
    module.image = entry->data;
    allModules.push_back(std::move(module));
  }
}

void Model::openWeights(const Archive &archive, const Json &description, const std::string &directory) {
  std::string_view bytes;
  if (const Json *name = description.find("entry")) {
    const Archive::Entry *entry = archive.find(name->string("entry"));
    if (!entry) fail(STATOR_BAD_ARTIFACT, "manifest: there is no entry for the weights");
    bytes = entry->data;
  } else {
    const std::string &fileName = description.at("file").string("file");
    weightsFile = File::openBeside(directory, fileName);
    bytes = weightsFile.data();
    checkDigest(bytes, description, fileName.c_str());
  }
  weights = readSafetensors(bytes);
  for (auto &[name, tensor] : weights) {
    totalWeightBytes += tensor.data.size();
    if (reinterpret_cast<uintptr_t>(tensor.data.data()) % STATOR_ALIGNMENT == 0) continue;
    AlignedMemory copy = allocateAligned(tensor.data.size());
    std::memcpy(copy.get(), tensor.data.data(), tensor.data.size());
    tensor.data = {copy.get(), tensor.data.size()};
    realigned.push_back(std::move(copy));
  }
}

const StoredTensor &Model::weight(const std::string &name) const {
  auto found = weights.find(name);
  if (found == weights.end()) fail(STATOR_BAD_ARTIFACT, "manifest: there is no weight '%.200s'", name.c_str());
  return found->second;
}

} // namespace stator::runtime
