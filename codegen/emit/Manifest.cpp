// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/emit/Artifact.h"
#include "dialects/plan/Plan.h"
#include "stator/abi.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

std::string dtypeName(Type element) {
  if (element.isInteger(1)) return "bool";
  if (auto integer = dyn_cast<IntegerType>(element)) return (integer.isUnsigned() ? "u" : "i") + std::to_string(integer.getWidth());
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

void collectSources(Location loc, std::vector<std::string> &sources) {
  loc->walk([&](Location inner) {
    if (auto file = dyn_cast<FileLineColLoc>(inner)) {
      std::string text = (file.getFilename().getValue() + ":" + llvm::Twine(file.getLine())).str();
      if (!llvm::is_contained(sources, text)) sources.push_back(text);
    }
    return WalkResult::advance();
  });
}

namespace {
class ManifestWriter {
public:
  ManifestWriter(llvm::json::OStream &json) : json(json) {}
  void function(StringRef name, ArrayRef<plan::ProgramOp> programs);

private:
  void expr(DimExpr value) {
    if (value.isConstant()) json.value(value.getConstant());
    else json.value(value.str());
  }
  void exprList(StringRef key, ArrayRef<DimExpr> list) {
    json.attributeArray(key, [&] {
      for (DimExpr value : list) expr(value);
    });
  }
  void exprAttribute(StringRef key, DimExpr value) {
    json.attributeBegin(key);
    expr(value);
    json.attributeEnd();
  }
  void tensors(StringRef key, ArrayAttr list);
  void program(plan::ProgramOp op);
  void buffer(plan::BufferOp op);
  void steps(StringRef key, Region &region) {
    json.attributeArray(key, [&] {
      for (Operation &op : region.front())
        if (!isa<plan::BufferOp>(op)) step(op);
    });
  }
  void step(Operation &op);
  void launch(plan::LaunchOp op);
  void library(plan::LibraryOp op);
  void operand(DictionaryAttr dict, ValueRange buffers);
  void comment(std::optional<StringRef> label, std::optional<StringRef> source, std::optional<graph::ShapeAttr> cost) {
    if (cost)
      json.attributeObject("cost", [&] {
        ArrayRef<DimExpr> numbers = cost->getDims();
        exprAttribute("read", numbers[0]);
        exprAttribute("written", numbers[1]);
        exprAttribute("operations", numbers[2]);
      });
    if (label) json.attribute("label", *label);
    if (source) json.attribute("source", *source);
  }
  int64_t number(Value buffer) { return numbers.lookup(buffer); }

  llvm::json::OStream &json;
  DenseMap<Value, int64_t> numbers;
};
} // namespace

static bool isHost(Operation *op) {
  auto program = isa<plan::ProgramOp>(op) ? cast<plan::ProgramOp>(op) : op->getParentOfType<plan::ProgramOp>();
  return program.getDevice() == "host";
}

void ManifestWriter::tensors(StringRef key, ArrayAttr list) {
  json.attributeArray(key, [&] {
    for (auto dict : list.getAsRange<DictionaryAttr>())
      json.object([&] {
        Type type = dict.getAs<TypeAttr>("type").getValue();
        json.attribute("name", dict.getAs<StringAttr>("name").getValue());
        json.attribute("dtype", dtypeName(cast<RankedTensorType>(type).getElementType()));
        exprList("shape", graph::dimsOf(type));
        if (dict.get("mutated")) json.attribute("mutated", true);
        if (auto initial = dict.getAs<StringAttr>("initial")) json.attribute("initial", initial.getValue());
      });
  });
}

void ManifestWriter::function(StringRef name, ArrayRef<plan::ProgramOp> programs) {
  // Programs of one function differ in what they bind for themselves only.
  json.object([&] {
    json.attribute("name", name);
    json.attributeArray("symbols", [&] {
      SmallVector<Attribute> written;
      for (plan::ProgramOp op : programs)
        for (auto dict : op.getSymbols().getAsRange<DictionaryAttr>()) {
          if (llvm::is_contained(written, dict)) continue;
          written.push_back(dict);
          json.object([&] {
            json.attribute("name", dict.getAs<StringAttr>("name").getValue());
            for (StringRef key : {"min", "max", "input", "dim", "scale", "offset"})
              if (auto value = dict.getAs<IntegerAttr>(key)) json.attribute(key, value.getInt());
          });
        }
    });
    plan::ProgramOp first = programs.front();
    tensors("inputs", first.getInputs());
    tensors("outputs", first.getOutputs());
    tensors("states", first.getStates());
    json.attributeArray("plans", [&] {
      for (plan::ProgramOp op : programs) program(op);
    });
  });
}

void ManifestWriter::program(plan::ProgramOp op) {
  numbers.clear();
  json.object([&] {
    json.attribute("device", op.getDevice());
    // CUDA kernels make 16-byte accesses from the start of every buffer.
    if (!isHost(op)) json.attribute("io_alignment", 16);
    json.attributeArray("arenas", [&] {
      for (auto dict : op.getArenas().getAsRange<DictionaryAttr>())
        json.object([&] {
          json.attribute("memory", dict.getAs<StringAttr>("memory").getValue());
          for (StringRef key : {"bytes", "live_load"})
            if (auto value = dict.getAs<graph::ShapeAttr>(key)) exprAttribute(key, value.getDims()[0]);
        });
    });
    json.attributeArray("buffers", [&] {
      for (auto declared : op.getBody().front().getOps<plan::BufferOp>()) {
        numbers[declared.getResult()] = numbers.size();
        buffer(declared);
      }
    });
    steps("steps", op.getBody());
  });
}

void ManifestWriter::buffer(plan::BufferOp op) {
  json.object([&] {
    json.attribute("space", op.getSpace());
    if (auto index = op.getIndex()) json.attribute("index", int64_t(*index));
    if (auto weight = op.getWeight()) json.attribute("name", *weight);
    if (op.getOf()) json.attribute("of", number(op.getOf()));
    if (auto offset = op.getOffset()) exprAttribute("offset", offset->getDims()[0]);
    if (auto bytes = op.getBytes()) exprAttribute("bytes", bytes->getDims()[0]);
  });
}

void ManifestWriter::launch(plan::LaunchOp op) {
  json.attribute("op", "launch");
  json.attribute("kernel", op.getKernel());
  json.attributeArray("buffers", [&] {
    for (Value buffer : op.getBuffers()) json.value(number(buffer));
  });
  ArrayRef<DimExpr> sizes = op.getSizes().getDims();
  if (isHost(op)) {
    exprList("sizes", sizes);
    exprAttribute("count", op.getCount()->getDims()[0]);
    json.attribute("grain", int64_t(op.getGrain().value_or(1)));
  } else {
    json.attributeArray("scalars", [&] {
      for (auto [i, size] : llvm::enumerate(sizes))
        json.object([&] { exprAttribute(op.getNarrow() && (*op.getNarrow())[i] ? "i32" : "i64", size); });
    });
    exprList("grid", op.getGrid()->getDims());
    json.attributeArray("block", [&] {
      ArrayRef<int64_t> extents = *op.getBlock();
      for (int64_t extent : extents) json.value(extent);
    });
    json.attribute("shared", int64_t(op.getShared().value_or(0)));
  }
  comment(op.getLabel(), op.getSource(), op.getCost());
}

void ManifestWriter::operand(DictionaryAttr dict, ValueRange buffers) {
  json.object([&] {
    json.attribute("buffer", number(buffers[dict.getAs<IntegerAttr>("buffer").getInt()]));
    json.attribute("dtype", dtypeName(dict.getAs<TypeAttr>("type").getValue()));
    exprList("dims", dict.getAs<graph::ShapeAttr>("dims").getDims());
    if (auto strides = dict.getAs<graph::ShapeAttr>("strides")) exprList("strides", strides.getDims());
    if (auto offset = dict.getAs<graph::ShapeAttr>("offset")) exprAttribute("offset", offset.getDims()[0]);
  });
}

/// The shortest text that reads back as the same double.
static std::string numberText(double value) {
  llvm::SmallString<32> text;
  APFloat(value).toString(text, 17, 0);
  return text.str().str();
}

void ManifestWriter::library(plan::LibraryOp op) {
  json.attribute("op", "library");
  json.attribute("library", op.getLibrary());
  json.attribute("operation", op.getFunction());
  json.attributeObject("parameters", [&] {
    for (NamedAttribute parameter : op.getParameters()) {
      StringRef key = parameter.getName().strref();
      if (auto dict = dyn_cast<DictionaryAttr>(parameter.getValue())) {
        json.attributeBegin(key);
        operand(dict, op.getBuffers());
        json.attributeEnd();
      } else if (auto list = dyn_cast<DenseI64ArrayAttr>(parameter.getValue())) {
        json.attributeArray(key, [&] {
          for (int64_t value : list.asArrayRef()) json.value(value);
        });
      } else if (auto integer = dyn_cast<IntegerAttr>(parameter.getValue())) {
        json.attribute(key, integer.getInt());
      } else if (auto post = dyn_cast<ArrayAttr>(parameter.getValue())) {
        json.attributeArray(key, [&] {
          for (auto row : post.getAsRange<DictionaryAttr>())
            json.object([&] {
              json.attribute("op", row.getAs<StringAttr>("op").getValue());
              if (auto x = row.getAs<DictionaryAttr>("operand")) {
                json.attributeBegin("operand");
                operand(x, op.getBuffers());
                json.attributeEnd();
              }
              for (StringRef name : {"alpha", "beta"})
                if (auto value = row.getAs<FloatAttr>(name)) json.attribute(name, numberText(value.getValueAsDouble()));
            });
        });
      }
    }
  });
  comment(op.getLabel(), op.getSource(), op.getCost());
  steps("fallback", op.getFallback());
}

void ManifestWriter::step(Operation &op) {
  json.object([&] {
    if (auto launchOp = dyn_cast<plan::LaunchOp>(op)) return launch(launchOp);
    if (auto libraryOp = dyn_cast<plan::LibraryOp>(op)) return library(libraryOp);
    if (auto copy = dyn_cast<plan::CopyOp>(op)) {
      json.attribute("op", "copy");
      json.attribute("from", number(copy.getFrom()));
      json.attribute("to", number(copy.getTo()));
    } else if (auto read = dyn_cast<plan::ReadSymbolOp>(op)) {
      json.attribute("op", "read_symbol");
      json.attribute("symbol", read.getSymbol());
      json.attribute("from", number(read.getFrom()));
      json.attribute("dtype", dtypeName(read.getElement()));
    } else if (auto check = dyn_cast<plan::AssertOp>(op)) {
      json.attribute("op", "assert");
      exprAttribute("left", check.getSides().getDims()[0]);
      json.attribute("relation", check.getRelation());
      exprAttribute("right", check.getSides().getDims()[1]);
      json.attribute("message", check.getMessage());
    } else if (auto branch = dyn_cast<plan::IfOp>(op)) {
      json.attribute("op", "if");
      json.attribute("predicate", number(branch.getPredicate()));
      steps("then", branch.getThenSteps());
      steps("else", branch.getElseSteps());
    } else if (auto loop = dyn_cast<plan::WhileOp>(op)) {
      json.attribute("op", "while");
      json.attribute("predicate", number(loop.getPredicate()));
      steps("condition", loop.getCondition());
      steps("body", loop.getBody());
    }
  });
}

std::string manifestJson(const ArtifactParts &parts, StringRef producer, StringRef model, StringRef entries, StringRef weights) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  json.object([&] {
    json.attribute("format", STATOR_ARTIFACT_VERSION);
    json.attribute("abi", STATOR_ABI_VERSION);
    json.attribute("producer", producer);
    json.attribute("model", model);
    json.attributeBegin("entries");
    json.rawValue(entries);
    json.attributeEnd();
    json.attributeArray("modules", [&] {
      for (const ModuleImage &module : parts.modules)
        json.object([&] {
          json.attribute("name", module.name);
          json.attribute("kind", module.kind);
          json.attribute("entry", module.entry);
          if (!module.cpu.empty()) json.attribute("cpu", module.cpu);
          if (!module.arch.empty()) json.attribute("arch", module.arch);
        });
    });
    if (!weights.empty()) json.attributeObject("weights", [&] { json.attribute("entry", weights); });
    json.attributeArray("functions", [&] {
      // Programs in order of their functions' first appearance.
      SmallVector<std::pair<StringRef, SmallVector<plan::ProgramOp>>> functions;
      ModuleOp plans = *const_cast<OwningOpRef<ModuleOp> &>(parts.plans);
      for (auto program : plans.getOps<plan::ProgramOp>()) {
        auto *known = llvm::find_if(functions, [&](auto &f) { return f.first == program.getName(); });
        if (known == functions.end()) functions.push_back({program.getName(), {program}});
        else known->second.push_back(program);
      }
      for (auto &[name, programs] : functions) ManifestWriter(json).function(name, programs);
    });
  });
  return text;
}

} // namespace stator::codegen
