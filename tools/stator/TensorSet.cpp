// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator/TensorSet.h"
#include "compiler/frontend/DidYouMean.h"
#include "compiler/io/Npy.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cmath>
#include <cstring>
#include <random>

namespace stator::cli {

using io::Tensor;

io::Result<std::map<std::string, Tensor>> readTensors(const std::vector<std::string> &arguments) {
  std::map<std::string, Tensor> tensors;
  for (const std::string &argument : arguments) {
    size_t equals = argument.find('=');
    if (equals != std::string::npos && llvm::StringRef(argument).ends_with(".npy")) {
      auto tensor = io::readNpy(argument.substr(equals + 1));
      if (!tensor) return tensor.takeError();
      tensors[argument.substr(0, equals)] = std::move(*tensor);
      continue;
    }
    if (!llvm::StringRef(argument).ends_with(".safetensors"))
      return io::Error{"'" + argument + "' is neither FILE.safetensors nor NAME=FILE.npy"};
    auto file = io::readSafetensors(argument);
    if (!file) return file.takeError();
    for (auto &[name, tensor] : file->tensors) tensors[name] = std::move(tensor);
  }
  return tensors;
}

io::Result<std::vector<Tensor>> pickInputs(const std::vector<InputSpec> &specs, const std::map<std::string, Tensor> &tensors,
                                           const std::vector<std::string> &arguments) {
  std::vector<Tensor> inputs;
  std::vector<std::string> names, keys;
  for (const InputSpec &spec : specs) names.push_back(spec.name);
  for (auto &[name, tensor] : tensors) keys.push_back(name);
  // A key that was typed and fits nothing is a mistake; a file may hold more than the program wants.
  for (const std::string &argument : arguments) {
    size_t equals = argument.find('=');
    if (equals == std::string::npos) continue;
    std::string key = argument.substr(0, equals);
    size_t position;
    bool isPosition = !llvm::StringRef(key).getAsInteger(10, position) && position < specs.size();
    if (!isPosition && !llvm::is_contained(names, key))
      return io::Error{"the program has no input '" + key + "'; inputs are " + (names.empty() ? "none" : llvm::join(names, ", ")) +
                       didYouMean(key, names)};
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    auto found = tensors.find(specs[i].name);
    if (found == tensors.end()) found = tensors.find(std::to_string(i));
    if (found == tensors.end())
      return io::Error{"no tensor for input " + std::to_string(i) + " ('" + specs[i].name + "'): the files have " +
                       (keys.empty() ? "none" : llvm::join(keys, ", ")) + didYouMean(specs[i].name, keys)};
    inputs.push_back(found->second);
  }
  return inputs;
}

static const llvm::fltSemantics *semanticsOf(io::DType type) {
  switch (type) {
  case STATOR_DTYPE_F16: return &llvm::APFloat::IEEEhalf();
  case STATOR_DTYPE_BF16: return &llvm::APFloat::BFloat();
  case STATOR_DTYPE_F32: return &llvm::APFloat::IEEEsingle();
  case STATOR_DTYPE_F64: return &llvm::APFloat::IEEEdouble();
  case STATOR_DTYPE_F8E4M3FN: return &llvm::APFloat::Float8E4M3FN();
  case STATOR_DTYPE_F8E5M2: return &llvm::APFloat::Float8E5M2();
  default: return nullptr;
  }
}

static uint64_t rawBits(const Tensor &tensor, int64_t i) {
  unsigned n = io::dtypeBytes(tensor.type);
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes.data() + i * n, n);
  return bits;
}

static double floatAt(const Tensor &tensor, int64_t i) {
  unsigned width = io::dtypeBytes(tensor.type) * 8;
  llvm::APFloat value(*semanticsOf(tensor.type), llvm::APInt(width, rawBits(tensor, i)));
  bool lost;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

static std::string valueText(const Tensor &tensor, int64_t i) {
  char text[40];
  if (semanticsOf(tensor.type)) {
    std::snprintf(text, sizeof text, "%.9g", floatAt(tensor, i));
    return text;
  }
  uint64_t bits = rawBits(tensor, i);
  unsigned shift = 64 - io::dtypeBytes(tensor.type) * 8;
  bool isUnsigned = tensor.type == STATOR_DTYPE_BOOL || tensor.type == STATOR_DTYPE_U8 || tensor.type == STATOR_DTYPE_U16 ||
                    tensor.type == STATOR_DTYPE_U32 || tensor.type == STATOR_DTYPE_U64;
  return isUnsigned ? std::to_string(bits) : std::to_string(int64_t(bits << shift) >> shift);
}

static int64_t elements(const Tensor &tensor) {
  int64_t count = 1;
  for (int64_t size : tensor.shape) count *= size;
  return count;
}

static std::string indexText(int64_t linear, const std::vector<int64_t> &shape) {
  std::string text;
  for (size_t d = shape.size(); d-- > 0; linear /= shape[d])
    text = std::to_string(linear % shape[d]) + (text.empty() ? "" : ", ") + text;
  return "[" + text + "]";
}

std::vector<Tensor> randomInputs(const std::vector<InputSpec> &specs, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::map<std::string, int64_t> symbols;
  std::vector<Tensor> inputs;
  for (const InputSpec &spec : specs) {
    Tensor tensor;
    tensor.type = spec.type;
    for (size_t d = 0; d < spec.shape.size(); ++d) {
      int64_t size = spec.shape[d];
      if (size < 0) size = symbols.try_emplace(spec.symbols[d], std::min(std::max<int64_t>(spec.least[d], 2), spec.most[d])).first->second;
      tensor.shape.push_back(size);
    }
    int64_t count = elements(tensor);
    unsigned n = io::dtypeBytes(tensor.type);
    tensor.bytes = io::Buffer::allocate(size_t(count) * n);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < count; ++i) {
      uint64_t bits = tensor.type == STATOR_DTYPE_BOOL ? random() & 1 : random() % 2;
      if (auto *semantics = semanticsOf(tensor.type)) {
        llvm::APFloat value(normal(random));
        bool lost;
        value.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
        bits = value.bitcastToAPInt().getZExtValue();
      }
      std::memcpy(tensor.bytes.mutableData() + i * n, &bits, n);
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

std::string compareTensor(const Tensor &got, const Tensor &expected, Tolerance tolerance) {
  if (got.type != expected.type)
    return "element type " + std::string(io::dtypeName(got.type)) + ", expected " + std::string(io::dtypeName(expected.type));
  if (got.shape != expected.shape)
    return "shape " + io::shapeText(got.shape) + ", expected " + io::shapeText(expected.shape);
  // PyTorch's defaults for one operation, times ten for a network of them in f32.
  double rtol = 0, atol = 0;
  switch (got.type) {
  case STATOR_DTYPE_F32: rtol = 1.3e-5, atol = 1e-4; break;
  case STATOR_DTYPE_F64: rtol = 1e-7, atol = 1e-7; break;
  case STATOR_DTYPE_F16: rtol = 1e-3, atol = 1e-5; break;
  case STATOR_DTYPE_BF16: rtol = 1.6e-2, atol = 1e-5; break;
  case STATOR_DTYPE_F8E4M3FN:
  case STATOR_DTYPE_F8E5M2: rtol = 0.13, atol = 1e-3; break;
  default: break;
  }
  bool isFloat = semanticsOf(got.type) != nullptr;
  if (isFloat && tolerance.rtol >= 0) rtol = tolerance.rtol;
  if (isFloat && tolerance.atol >= 0) atol = tolerance.atol;
  int64_t worst = -1, wrong = 0, count = elements(got);
  double worstExcess = 0;
  for (int64_t i = 0; i < count; ++i) {
    double excess;
    if (isFloat) {
      double a = floatAt(got, i), b = floatAt(expected, i);
      if (std::isnan(a) && std::isnan(b)) continue;
      if (a == b) continue;
      excess = std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) / (atol + rtol * std::fabs(b)) : INFINITY;
      if (!(excess > 1)) continue;
    } else {
      if (rawBits(got, i) == rawBits(expected, i)) continue;
      excess = INFINITY;
    }
    ++wrong;
    if (worst < 0 || excess > worstExcess) worst = i, worstExcess = excess;
  }
  if (!wrong) return "";
  return "mismatch in " + std::to_string(wrong) + " of " + std::to_string(count) + " elements; worst at " +
         indexText(worst, got.shape) + ": got " + valueText(got, worst) + ", expected " + valueText(expected, worst);
}

} // namespace stator::cli
