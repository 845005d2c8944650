// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/json/Elements.h"
#include "compiler/frontend/Resource.h"
#include "compiler/io/File.h"
#include "dialects/graph/HostElements.h"

using namespace mlir;

namespace stator::graph_json {
namespace {

/// Literals up to so many elements, and weights up to so many, stand in the document.
constexpr int64_t maxInlineLiteral = 64, maxInlineWeight = 16;

const llvm::fltSemantics *semanticsOf(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type ? &type.getFloatSemantics() : nullptr;
}

/// One element's bits. Integers exactly; floats rounded to nearest, never to infinity.
uint64_t readElement(const Node &node, Type element) {
  const Json &value = node.json();
  unsigned width = element.getIntOrFloatBitWidth();
  if (const llvm::fltSemantics *semantics = semanticsOf(element)) {
    APFloat number(*semantics);
    bool lost = false;
    if (value.is_string()) {
      StringRef text = node.text(16);
      bool negative = text == "-Infinity";
      bool hasInfinity = semantics != &APFloat::Float8E4M3FN();
      if (text == "NaN")
        number = APFloat::getNaN(*semantics);
      else if ((text == "Infinity" || negative) && hasInfinity)
        number = APFloat::getInf(*semantics, negative);
      else
        node.refuse("'" + text + "' is no number of " + Twine(std::string(io::dtypeName(dtypeOf(element)))));
    } else if (value.is_number_float()) {
      number = APFloat(value.get<double>());
      number.convert(*semantics, APFloat::rmNearestTiesToEven, &lost);
    } else if (value.is_number_integer()) {
      APInt integer(65, value.is_number_unsigned() ? value.get<uint64_t>() : uint64_t(value.get<int64_t>()), false);
      if (!value.is_number_unsigned()) integer = APInt(65, value.get<int64_t>(), true);
      number.convertFromAPInt(integer, true, APFloat::rmNearestTiesToEven);
    } else {
      node.refuse("must be a number, \"NaN\", \"Infinity\" or \"-Infinity\", not " + Twine(value.type_name()));
    }
    if (value.is_number() && !number.isFinite())
      node.refuse("is too large for " + Twine(std::string(io::dtypeName(dtypeOf(element)))));
    return number.bitcastToAPInt().getZExtValue();
  }
  if (width == 1) {
    if (value.is_boolean()) return value.get<bool>();
    int64_t number = node.integer();
    if (number != 0 && number != 1) node.refuse("must be true or false");
    return uint64_t(number);
  }
  bool isUnsigned = element.isUnsignedInteger();
  auto outside = [&]() { node.refuse("does not fit " + Twine(std::string(io::dtypeName(dtypeOf(element))))); };
  if (isUnsigned && value.is_number_unsigned()) {
    uint64_t number = value.get<uint64_t>();
    if (width < 64 && number >> width) outside();
    return number;
  }
  int64_t number = node.integer();
  if (isUnsigned ? number < 0 : !llvm::isIntN(width, number)) outside();
  return uint64_t(number);
}

/// Row-major elements of a list that is flat or nested as the shape is.
void readNested(const Node &node, ArrayRef<int64_t> shape, RankedTensorType type, char *&to) {
  size_t width = elementBytes(type.getElementType());
  if (shape.empty()) {
    uint64_t bits = readElement(node, type.getElementType());
    std::memcpy(to, &bits, width); // both are little-endian
    to += width;
    return;
  }
  if (node.size() != uint64_t(shape[0]))
    node.refuse("has " + Twine(node.size()) + " entries, the shape says " + Twine(shape[0]));
  node.forEach([&](const Node &entry) { readNested(entry, shape.drop_front(), type, to); });
}

io::Tensor readData(const Node &data, RankedTensorType type) {
  if (!type.hasStaticShape()) data.refuse("a constant's sizes are numbers");
  int64_t count = type.getNumElements();
  bool isNested = type.getRank() > 1 && (data.size() == 0 || data[0].isArray());
  bool isBare = type.getRank() == 0 && !data.isArray();
  // A document cannot hold more elements than it has values, so this bounds what is allocated.
  if (!isNested && !isBare && data.size() != uint64_t(count))
    data.refuse("has " + Twine(data.size()) + " elements, the shape says " + Twine(count));
  if (count > (int64_t(1) << 26)) data.refuse("is too large to stand in a document");
  io::Tensor tensor;
  tensor.type = dtypeOf(type.getElementType());
  tensor.shape = type.getShape().vec();
  tensor.bytes = io::Buffer::allocate(size_t(count) * elementBytes(type.getElementType()));
  if (!tensor.bytes.ok()) data.refuse("not enough memory");
  char *to = tensor.bytes.mutableData();
  readNested(data, isNested || isBare ? type.getShape() : ArrayRef<int64_t>(count), type, to);
  return tensor;
}

DenseElementsAttr literalOf(const io::Tensor &tensor, RankedTensorType type) {
  if (type.getNumElements() == 0) return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  return graph::elementsOf(HostTensor::view(type.getElementType(), type.getShape(), tensor.bytes.data()), type);
}

} // namespace

void Weights::read(MLIRContext *context, const Node &weights, const std::string &folder) {
  weights.onlyKeys({"file", "tensors"});
  if (auto file = weights.find("file")) {
    std::string name = file->text().str();
    auto bytes = io::readFileBeneath(folder, name);
    if (!bytes) file->refuse(bytes.error());
    auto parsed = io::parseSafetensors(*bytes, name);
    if (!parsed) file->refuse(parsed.error());
    for (auto &[key, tensor] : parsed->tensors) entries[key].tensor = std::move(tensor);
  }
  auto tensors = weights.find("tensors");
  if (!tensors) return;
  tensors->forEachMember([&](StringRef name, const Node &tensor) {
    tensor.onlyKeys({"dtype", "shape", "data"});
    if (name.empty() || name.size() > maxName) tensor.refuse("a weight's name has 1 to " + Twine(maxName) + " bytes");
    if (entries.count(name.str())) tensor.refuse("the weights file has a tensor of this name too");
    entries[name.str()].tensor = readData(tensor.get("data"), readTensorType(context, tensor));
  });
}

Weights::Entry &Weights::find(const Node &node, StringRef name) {
  auto found = entries.find(name.str());
  if (found != entries.end()) return found->second;
  std::vector<std::string> known;
  for (auto &[key, entry] : entries) known.push_back(key);
  node.refuse("there is no weight '" + name.take_front(80) + "'" + didYouMean(name, known));
}

ElementsAttr readElements(MLIRContext *context, const Node &node, RankedTensorType type, Weights &weights) {
  node.onlyKeys({"dtype", "shape", "data", "splat", "weight", "literal", "reinterpret"});
  if (node.has("dtype") || node.has("shape")) type = readTensorType(context, node);
  if (!type) node.refuse("needs the keys 'dtype' and 'shape'");
  if (!type.hasStaticShape()) node.refuse("a constant's sizes are numbers");
  if (node.has("data") + node.has("splat") + node.has("weight") != 1)
    node.refuse("needs one of 'data', 'splat' and 'weight'");
  if (!node.has("weight") && (node.has("literal") || node.has("reinterpret")))
    node.refuse("'literal' and 'reinterpret' go with 'weight'");
  if (auto data = node.find("data")) return literalOf(readData(*data, type), type);
  if (auto splat = node.find("splat")) {
    Type element = type.getElementType();
    APInt bits(element.getIntOrFloatBitWidth(), readElement(*splat, element), false, true);
    if (auto *semantics = semanticsOf(element)) return DenseElementsAttr::get(type, APFloat(*semantics, bits));
    return DenseElementsAttr::get(type, bits);
  }
  Node weight = node.get("weight");
  StringRef name = weight.name();
  Weights::Entry &entry = weights.find(weight, name);
  auto flag = [&](const char *key) {
    auto found = node.find(key);
    return found && found->boolean();
  };
  int64_t count = 1;
  for (int64_t size : entry.tensor.shape) count *= size; // Checked when it was read.
  io::DType dtype = dtypeOf(type.getElementType());
  bool fits = flag("reinterpret")
                  ? entry.tensor.bytes.size() == type.getNumElements() * elementBytes(type.getElementType())
                  : dtype == entry.tensor.type && count == type.getNumElements();
  if (!fits)
    weight.refuse("'" + name + "' is " + std::string(io::dtypeName(entry.tensor.type)) + " " +
                  io::shapeText(entry.tensor.shape) + ", not " + std::string(io::dtypeName(dtype)) + " " +
                  io::shapeText(type.getShape().vec()));
  if (dtype == STATOR_DTYPE_BOOL)
    for (char byte : entry.tensor.bytes.view())
      if (byte != 0 && byte != 1) weight.refuse("'" + name + "' has a bool that is neither 0 nor 1");
  if (flag("literal") || type.getNumElements() == 0) return literalOf(entry.tensor, type);
  if (!entry.handle) {
    entry.handle = makeResource(context, name, entry.tensor.bytes, elementBytes(type.getElementType()));
    if (!entry.handle) weight.refuse("not enough memory");
  }
  return cast<ElementsAttr>(DenseResourceElementsAttr::get(type, *entry.handle));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// One element, or null where its value does not say its bits (NaNs with a payload).
static Written elementText(const HostTensor &tensor, int64_t i) {
  Type element = tensor.elementType;
  size_t width = elementBytes(element);
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.data() + i * width, width);
  if (auto *semantics = semanticsOf(element)) {
    APFloat number(*semantics, APInt(width * 8, bits));
    if (number.isNaN()) return number.bitwiseIsEqual(APFloat::getNaN(*semantics)) ? Written("NaN") : Written();
    if (number.isInfinity()) return number.isNegative() ? "-Infinity" : "Infinity";
    return tensor.getDouble(i);
  }
  if (element.isInteger(1)) return bits != 0;
  if (element.isUnsignedInteger()) return bits;
  return tensor.getInt(i);
}

static Written listOf(const HostTensor &tensor) {
  Written list = Written::array();
  for (int64_t i = 0; i < tensor.size(); ++i) {
    list.push_back(elementText(tensor, i));
    if (list.back().is_null()) return {};
  }
  return list;
}

Written WeightsWriter::write(ElementsAttr value, RankedTensorType assumed) {
  auto type = dyn_cast<RankedTensorType>(value.getShapedType());
  if (!type) return {};
  Written object = Written::object();
  if (type != assumed && !writeTensorType(object, type)) return {};
  auto literal = dyn_cast<DenseElementsAttr>(value);
  std::string error;
  if (literal && literal.isSplat() && type.getNumElements() > 1) {
    auto one = graph::hostTensorOf(literal.resizeSplat(RankedTensorType::get({1}, type.getElementType())), error);
    if (Written element = failed(one) ? Written() : elementText(*one, 0); !element.is_null()) {
      object["splat"] = std::move(element);
      return object;
    }
  }
  FailureOr<HostTensor> tensor = graph::hostTensorOf(value, error);
  if (failed(tensor)) return {};
  io::DType dtype = dtypeOf(type.getElementType());
  auto toFile = [&](const std::string &name) {
    std::string_view bytes(tensor->data(), tensor->bytes());
    // Attributes own their bytes; what was expanded here is copied.
    bool isView =
        isa<DenseResourceElementsAttr>(value) || (literal && !literal.isSplat() && !type.getElementType().isInteger(1));
    file.tensors[name] = {dtype, type.getShape().vec(), isView ? io::Buffer::borrow(bytes) : io::Buffer::copyOf(bytes)};
  };
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    std::string name = resource.getRawHandle().getKey().str();
    auto [known, isNew] = types.try_emplace(name, type);
    object["weight"] = name;
    if (known->second.getElementType() != type.getElementType()) object["reinterpret"] = true;
    if (!isNew) return object;
    Written list = tensor->size() <= maxInlineWeight ? listOf(*tensor) : Written();
    if (list.is_null()) {
      toFile(name);
    } else {
      Written entry = Written::object();
      if (!writeTensorType(entry, type)) return {};
      entry["data"] = std::move(list);
      small[name] = std::move(entry);
    }
    return object;
  }
  if (!literal) return {};
  Written list = tensor->size() <= maxInlineLiteral ? listOf(*tensor) : Written();
  if (!list.is_null()) {
    object["data"] = type.getRank() == 0 ? list[0] : std::move(list);
    return object;
  }
  std::string name = "literal." + std::to_string(file.tensors.size());
  while (taken.count(name)) name += "_";
  taken.insert(name);
  toFile(name);
  object["weight"] = name;
  object["literal"] = true;
  return object;
}

Written WeightsWriter::table(const std::string &fileName) const {
  Written result;
  if (needsFile()) result["file"] = fileName;
  if (!small.empty()) {
    Written tensors = Written::object();
    for (auto &[name, entry] : small) tensors[name] = entry;
    result["tensors"] = std::move(tensors);
  }
  return result;
}

} // namespace stator::graph_json
