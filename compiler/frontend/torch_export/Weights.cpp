// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/Weights.h"
#include "compiler/frontend/Resource.h"
#include "compiler/frontend/torch_export/Unpickler.h"
#include "compiler/io/CheckedI64.h"
#include "compiler/io/DType.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cstring>

using namespace mlir;

namespace stator::torch_export {

Type elementType(MLIRContext *context, ScalarType type) {
  auto integer = [&](unsigned width, IntegerType::SignednessSemantics sign = IntegerType::Signless) {
    return IntegerType::get(context, width, sign);
  };
  switch (type) {
  case ScalarType::Bool: return integer(1);
  case ScalarType::UInt8: return integer(8, IntegerType::Unsigned);
  case ScalarType::UInt16: return integer(16, IntegerType::Unsigned);
  case ScalarType::UInt32: return integer(32, IntegerType::Unsigned);
  case ScalarType::UInt64: return integer(64, IntegerType::Unsigned);
  case ScalarType::Int8: return integer(8);
  case ScalarType::Int16: return integer(16);
  case ScalarType::Int32: return integer(32);
  case ScalarType::Int64: return integer(64);
  case ScalarType::Float16: return Float16Type::get(context);
  case ScalarType::BFloat16: return BFloat16Type::get(context);
  case ScalarType::Float32: return Float32Type::get(context);
  case ScalarType::Float64: return Float64Type::get(context);
  case ScalarType::Float8E4M3FN: return Float8E4M3FNType::get(context);
  case ScalarType::Float8E5M2: return Float8E5M2Type::get(context);
  case ScalarType::Complex32:
  case ScalarType::Complex64:
  case ScalarType::Complex128:
  case ScalarType::Unknown: break;
  }
  return {};
}

Type requireElementType(MLIRContext *context, ScalarType type) {
  if (Type element = elementType(context, type)) return element;
  throw FormatError("element type " + scalarTypeName(type) + " is not supported");
}

io::Status Weights::addConfig(std::shared_ptr<io::Archive> archive, const std::string &config,
                              const std::string &folder) {
  if (!archive->has(config)) return {};
  auto text = archive->read(config);
  if (!text) return text.takeError();
  auto json = io::parseJson(text->view(), config);
  if (!json) return json.takeError();
  try {
    for (auto &[name, payload] : readPayloadConfig(*json, folder)) {
      if (!archive->has(payload.record))
        return io::Error{"tensor '" + name + "': the archive has no record '" + payload.record + "'"};
      sources[payload.record] = {archive, payload.record};
      payloads.emplace(name, std::move(payload));
    }
  } catch (const FormatError &error) {
    return io::Error{error.what()};
  }
  for (const auto &name : archive->names()) archiveBytes += archive->size(name);
  return {};
}

io::Status Weights::addPickled(const io::Archive &archive, const std::string &record) {
  if (!archive.has(record)) return {};
  auto bytes = archive.read(record);
  if (!bytes) return bytes.takeError();
  if (bytes->size() == 0) return {};
  auto inner = io::Archive::openBuffer(*bytes, record);
  if (!inner) return inner.takeError();
  auto shared = std::make_shared<io::Archive>(std::move(*inner));
  std::string table;
  for (const std::string &name : shared->names())
    if (name == "data.pkl" || (name.size() > 9 && name.compare(name.size() - 9, 9, "/data.pkl") == 0)) table = name;
  if (table.empty()) return io::Error{"'" + record + "' holds no data.pkl"};
  std::string root = table.substr(0, table.size() - 8);
  if (shared->has(root + "byteorder")) {
    auto order = shared->read(root + "byteorder");
    if (!order || order->view() != "little") return io::Error{"'" + record + "' is not little-endian"};
  }
  auto pickled = shared->read(table);
  if (!pickled) return pickled.takeError();
  auto tensors = unpickleTensors(pickled->view());
  if (!tensors) return tensors.takeError();
  for (auto &[name, payload] : *tensors) {
    std::string member = root + "data/" + payload.record;
    if (!shared->has(member))
      return io::Error{"tensor '" + name + "': '" + record + "' has no storage '" + payload.record + "'"};
    payload.record = record + "!" + member;
    sources[payload.record] = {shared, member};
    payloads.emplace(name, std::move(payload));
  }
  archiveBytes += bytes->size();
  return {};
}

const Payload *Weights::find(const std::string &name) const {
  auto found = payloads.find(name);
  return found == payloads.end() ? nullptr : &found->second;
}

std::string Weights::recordOf(const std::string &name) const {
  const Payload *payload = find(name);
  return payload ? payload->record : "";
}

const io::Buffer &Weights::load(const std::string &record) {
  auto [slot, fresh] = buffers.try_emplace(record);
  if (fresh) {
    const Source &source = sources.at(record);
    auto bytes = source.archive->read(source.member);
    if (!bytes) throw FormatError(bytes.error());
    slot->second = std::move(*bytes);
  }
  return slot->second;
}

io::Buffer Weights::gather(const io::Buffer &bytes, const Payload &payload, int64_t count, size_t width) {
  // A stride of zero makes few bytes look like many; what is copied is bounded by what the archive holds.
  copied += uint64_t(count) * width;
  if (copied > 64 * archiveBytes + (uint64_t(1) << 28))
    throw FormatError("the stored views are far larger than the archive");
  io::Buffer dense = io::Buffer::allocate(size_t(count) * width);
  if (!dense.ok()) throw FormatError("not enough memory");
  std::vector<int64_t> index(payload.sizes.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = payload.offset;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * payload.strides[d];
    std::memcpy(dense.mutableData() + size_t(i) * width, bytes.data() + size_t(at) * width, width);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < payload.sizes[d]) break;
      index[d] = 0;
    }
  }
  return dense;
}

/// A name for the resource: letters, digits and underscores of the tensor's own.
static std::string resourceName(StringRef name) {
  std::string result;
  for (char c : name.take_front(200)) result += llvm::isAlnum(c) ? c : '_';
  return result.empty() || llvm::isDigit(result[0]) ? "w_" + result : result;
}

ElementsAttr Weights::attribute(MLIRContext *context, const std::string &name) {
  const Payload *payload = find(name);
  if (!payload) throw FormatError("the archive stores no tensor '" + name.substr(0, 200) + "'");
  auto bad = [&](const Twine &why) -> FormatError {
    return FormatError(("tensor '" + name.substr(0, 200) + "': " + why).str());
  };
  Type element = elementType(context, payload->type);
  if (!element) throw bad("element type " + scalarTypeName(payload->type) + " is not supported");
  auto type = RankedTensorType::get(payload->sizes, element);
  size_t width = std::max(1u, element.getIntOrFloatBitWidth() / 8);

  io::CheckedI64 product = 1, last = payload->offset, total = int64_t(width);
  for (size_t d = 0; d < payload->sizes.size(); ++d) {
    product *= payload->sizes[d];
    total *= payload->sizes[d];
    last += (io::CheckedI64(payload->sizes[d]) - 1) * payload->strides[d];
  }
  if (!product.value() || !total.value() || !last.value()) throw bad("its size overflows");
  int64_t count = *product.value();
  if (count == 0) return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  const io::Buffer *bytes = &load(payload->record);
  io::Buffer zeros;
  if (bytes->size() == 0) {
    // Written for tensors without memory (fake or meta tensors).
    copied += uint64_t(*total.value());
    if (copied > 64 * archiveBytes + (uint64_t(1) << 28))
      throw bad("it has no bytes and is far larger than the archive");
    zeros = io::Buffer::allocate(size_t(*total.value()));
    if (!zeros.ok()) throw bad("not enough memory");
    std::memset(zeros.mutableData(), 0, zeros.size());
  } else if (bytes->size() % width != 0 || *last.value() >= int64_t(bytes->size() / width)) {
    throw bad("its view leaves the " + Twine(bytes->size()) + " bytes of '" + payload->record + "'");
  }

  bool dense = true;
  int64_t expected = 1;
  for (size_t d = payload->sizes.size(); d-- > 0;) {
    if (payload->sizes[d] != 1) dense &= payload->strides[d] == expected;
    expected *= payload->sizes[d];
  }
  dense |= zeros.size() != 0;
  std::string key =
      payload->record + "|" + std::to_string(payload->offset * int64_t(width)) + "|" + std::to_string(*total.value());
  if (!dense) key += "|" + std::to_string(width) + io::shapeText(payload->sizes) + io::shapeText(payload->strides);
  auto known = handles.find(key);
  if (known == handles.end()) {
    io::Buffer data = zeros.size() ? zeros
                      : dense      ? bytes->slice(size_t(payload->offset) * width, size_t(*total.value()))
                                   : gather(*bytes, *payload, count, width);
    auto handle = makeResource(context, resourceName(name), std::move(data), width);
    if (!handle) throw bad("not enough memory");
    known = handles.emplace(key, *handle).first;
  }
  return cast<ElementsAttr>(DenseResourceElementsAttr::get(type, known->second));
}

} // namespace stator::torch_export
