// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/TorchExport.h"
#include "compiler/frontend/DidYouMean.h"
#include "compiler/frontend/torch_export/FunctionBuilder.h"
#include "compiler/io/Archive.h"
#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

constexpr size_t maxModelBytes = size_t(1) << 31;

struct Layout {
  std::string program;
  Weights weights;
};

io::Result<std::string> readText(const io::Archive &archive, const std::string &name, size_t limit) {
  if (archive.size(name) > limit) return io::Error{"'" + archive.path() + "': member '" + name + "' is too large"};
  auto bytes = archive.read(name);
  if (!bytes) return bytes.takeError();
  return std::string(bytes->view());
}

/// `archive_format` under any root folder marks the PT2 layout.
std::string pt2Root(const io::Archive &archive) {
  for (const std::string &name : archive.names()) {
    size_t slash = name.find('/');
    if (slash != std::string::npos && name.compare(slash, std::string::npos, "/archive_format") == 0)
      return name.substr(0, slash + 1);
  }
  return "";
}

io::Status chooseModel(const io::Archive &archive, const std::string &root, const std::string &wanted,
                       std::string &model) {
  std::vector<std::string> models;
  std::string folder = root + "models/";
  for (const std::string &name : archive.names())
    if (name.compare(0, folder.size(), folder) == 0 && name.size() > folder.size() + 5 &&
        name.compare(name.size() - 5, 5, ".json") == 0)
      models.push_back(name.substr(folder.size(), name.size() - folder.size() - 5));
  if (models.empty()) return io::Error{"'" + archive.path() + "' holds no model"};
  std::string list;
  for (const std::string &name : models) list += (list.empty() ? "" : ", ") + name;
  std::string name = wanted.empty() ? "model" : wanted;
  if (wanted.empty() && models.size() == 1) name = models[0];
  for (const std::string &each : models)
    if (each == name) {
      model = name;
      return {};
    }
  if (wanted.empty()) return io::Error{"'" + archive.path() + "' holds several models (" + list + "): name one"};
  return io::Error{"'" + archive.path() + "' holds no model '" + wanted + "', only " + list +
                   didYouMean(wanted, models)};
}

io::Status readPt2(std::shared_ptr<io::Archive> archive, const std::string &root, std::string &model, Layout &layout) {
  auto expect = [&](const std::string &name, std::string_view value) -> io::Status {
    if (!archive->has(root + name)) return {};
    auto text = readText(*archive, root + name, 64);
    if (!text) return text.takeError();
    std::string_view got = *text;
    while (!got.empty() && (got.back() == '\n' || got.back() == ' ')) got.remove_suffix(1);
    if (got != value)
      return io::Error{"'" + archive->path() + "': " + name + " is '" + std::string(got) + "' where '" +
                       std::string(value) + "' is supported"};
    return {};
  };
  constexpr std::pair<const char *, const char *> marks[] = {
      {"archive_format", "pt2"}, {"archive_version", "0"}, {"byteorder", "little"}};
  for (auto [name, value] : marks)
    if (io::Status status = expect(name, value); !status) return status;
  std::string wanted = model;
  if (io::Status status = chooseModel(*archive, root, wanted, model); !status) return status;
  auto text = readText(*archive, root + "models/" + model + ".json", maxModelBytes);
  if (!text) return text.takeError();
  layout.program = std::move(*text);
  std::string weights = root + "data/weights/", constants = root + "data/constants/";
  if (io::Status status = layout.weights.addConfig(archive, weights + model + "_weights_config.json", weights); !status)
    return status;
  if (io::Status status = layout.weights.addConfig(archive, constants + model + "_constants_config.json", constants);
      !status)
    return status;
  // torch 2.8: one torch.save record for each.
  if (io::Status status = layout.weights.addPickled(*archive, weights + model + ".pt"); !status) return status;
  return layout.weights.addPickled(*archive, constants + model + ".pt");
}

io::Status readLegacy(const io::Archive &archive, const std::string &root, Layout &layout) {
  auto text = readText(archive, root + "serialized_exported_program.json", maxModelBytes);
  if (!text) return text.takeError();
  layout.program = std::move(*text);
  if (archive.has(root + "serialized_state_dict.json"))
    return io::Error{"'" + archive.path() + "' was written by torch 2.1: export again with a newer PyTorch"};
  if (io::Status status = layout.weights.addPickled(archive, root + "serialized_state_dict.pt"); !status) return status;
  return layout.weights.addPickled(archive, root + "serialized_constants.pt");
}

io::Status readLayout(const std::string &path, std::string &model, Layout &layout) {
  auto opened = io::Archive::open(path);
  if (!opened) return opened.takeError();
  auto archive = std::make_shared<io::Archive>(std::move(*opened));
  if (std::string root = pt2Root(*archive); !root.empty()) return readPt2(archive, root, model, layout);
  for (const std::string &name : archive->names()) {
    constexpr std::string_view program = "serialized_exported_program.json";
    if (name.size() < program.size() || name.compare(name.size() - program.size(), program.size(), program) != 0)
      continue;
    if (!model.empty() && model != "model")
      return io::Error{"'" + path + "' holds no model '" + model + "', only model"};
    model = "model";
    return readLegacy(*archive, name.substr(0, name.size() - program.size()), layout);
  }
  return io::Error{"'" + path + "' is a zip archive, but not one that torch.export.save wrote"};
}

} // namespace

OwningOpRef<ModuleOp> importTorchExport(MLIRContext &context, const std::string &path, const ImportOptions &options) {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  Location loc = FileLineColLoc::get(&context, path, 0, 0);
  Layout layout;
  std::string model = options.model;
  if (io::Status status = readLayout(path, model, layout); !status) {
    emitError(loc) << status.error();
    return nullptr;
  }
  Program program;
  {
    auto json = io::parseJson(layout.program, "model '" + model + "'");
    layout.program = {};
    if (!json) {
      emitError(loc) << json.error();
      return nullptr;
    }
    try {
      program = readProgram(*json);
    } catch (const FormatError &error) {
      emitError(loc) << "model '" << model << "': " << error.what();
      return nullptr;
    }
  }
  return buildModule(context, loc, model, program, layout.weights);
}

std::vector<std::string> importableTargets(MLIRContext &context) {
  context.loadDialect<graph::GraphDialect>();
  std::vector<std::string> targets;
  CompositeTable composites;
  for (const auto &row : composites.all()) targets.push_back(row.getKey().str());
  for (RegisteredOperationName op : context.getRegisteredOperations())
    if (auto *importable = op.getInterface<ImportableOpInterface>())
      for (StringLiteral target : importable->getTorchTargets()) targets.push_back(target.str());
  llvm::sort(targets);
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

} // namespace stator::torch_export
