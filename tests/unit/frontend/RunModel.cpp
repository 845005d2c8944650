// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/frontend/RunModel.h"
#include "compiler/io/Safetensors.h"
#include "dialects/graph/Evaluator.h"
#include "dialects/graph/Graph.h"
#include "mlir/Pass/PassManager.h"
#include "passes/normalize/Passes.h"
#include <cmath>

using namespace mlir;

namespace stator::tests {
namespace {

Type elementOf(MLIRContext *context, stator_dtype type) {
  auto integer = [&](unsigned width, IntegerType::SignednessSemantics sign) {
    return IntegerType::get(context, width, sign);
  };
  switch (type) {
  case STATOR_DTYPE_BOOL: return integer(1, IntegerType::Signless);
  case STATOR_DTYPE_U8: return integer(8, IntegerType::Unsigned);
  case STATOR_DTYPE_U16: return integer(16, IntegerType::Unsigned);
  case STATOR_DTYPE_U32: return integer(32, IntegerType::Unsigned);
  case STATOR_DTYPE_U64: return integer(64, IntegerType::Unsigned);
  case STATOR_DTYPE_I8: return integer(8, IntegerType::Signless);
  case STATOR_DTYPE_I16: return integer(16, IntegerType::Signless);
  case STATOR_DTYPE_I32: return integer(32, IntegerType::Signless);
  case STATOR_DTYPE_I64: return integer(64, IntegerType::Signless);
  case STATOR_DTYPE_F16: return Float16Type::get(context);
  case STATOR_DTYPE_BF16: return BFloat16Type::get(context);
  case STATOR_DTYPE_F32: return Float32Type::get(context);
  case STATOR_DTYPE_F64: return Float64Type::get(context);
  case STATOR_DTYPE_F8E4M3FN: return Float8E4M3FNType::get(context);
  case STATOR_DTYPE_F8E5M2: return Float8E5M2Type::get(context);
  case STATOR_DTYPE_INVALID: break;
  }
  return {};
}

HostTensor view(MLIRContext *context, const io::Tensor &tensor) {
  return HostTensor::view(elementOf(context, tensor.type), tensor.shape, tensor.bytes.data());
}

std::string compare(const HostTensor &got, const HostTensor &want, Tolerance tolerance) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (got.elementType != want.elementType) {
    os << "has type " << got.elementType << " where " << want.elementType << " is expected";
    return text;
  }
  if (got.shape != want.shape) {
    os << "has shape " << io::shapeText({got.shape.begin(), got.shape.end()}) << " where "
       << io::shapeText({want.shape.begin(), want.shape.end()}) << " is expected";
    return text;
  }
  if (got.elementType.isF16()) tolerance = {std::max(tolerance.relative, 1e-3), std::max(tolerance.absolute, 1e-5)};
  if (got.elementType.isBF16()) tolerance = {std::max(tolerance.relative, 1.6e-2), std::max(tolerance.absolute, 1e-5)};
  for (int64_t i = 0; i < got.size(); ++i) {
    if (!got.isFloat()) {
      if (got.getInt(i) == want.getInt(i)) continue;
      os << "element " << i << " is " << got.getInt(i) << " where " << want.getInt(i) << " is expected";
      return text;
    }
    double a = got.getDouble(i), b = want.getDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (std::isfinite(a) && std::isfinite(b) &&
        std::fabs(a - b) <= tolerance.absolute + tolerance.relative * std::fabs(b))
      continue;
    os << "element " << i << " is " << a << " where " << b << " is expected";
    return text;
  }
  return text;
}

} // namespace

std::string runAndCompare(ModuleOp module, const std::string &inputs, const std::string &expected,
                          const std::string &states, Tolerance tolerance) {
  auto in = io::readSafetensors(inputs), out = io::readSafetensors(expected);
  if (!in) return in.error();
  if (!out) return out.error();
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function) return "the module has no function main";
  MLIRContext *context = module.getContext();
  PassManager passes(context);
  passes.addNestedPass<func::FuncOp>(normalize::createFunctionalizeWrites());
  if (failed(passes.run(module))) return "writes cannot be resolved";
  SmallVector<HostTensor> arguments;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto name = function.getArgAttrOfType<StringAttr>(i, graph::nameAttrName);
    if (!name) continue;
    auto found = in->tensors.find(name.str());
    if (found == in->tensors.end()) found = in->tensors.find(std::to_string(arguments.size()));
    if (found == in->tensors.end()) return "no input '" + name.str() + "'";
    arguments.push_back(view(context, found->second));
  }
  graph::Evaluator evaluator(function);
  auto results = evaluator.run(arguments);
  if (failed(results)) return "evaluation fails: " + evaluator.error().str();
  size_t user = 0;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    if (function.getResultAttr(i, graph::updatesAttrName) || function.getResultAttr(i, graph::updatesInputAttrName))
      continue;
    std::string key = std::to_string(user++);
    auto found = out->tensors.find(key);
    if (found == out->tensors.end()) continue; // A number among the outputs: the files hold tensors only.
    std::string difference = compare((*results)[i], view(context, found->second), tolerance);
    if (!difference.empty()) return "result " + key + " " + difference;
  }
  if (!states.empty()) {
    auto want = io::readSafetensors(states);
    if (!want) return want.error();
    for (const auto &[name, tensor] : want->tensors) {
      auto found = evaluator.state.find(name);
      if (found == evaluator.state.end()) return "no state '" + name + "' was updated";
      std::string difference = compare(found->second, view(context, tensor), tolerance);
      if (!difference.empty()) return "state '" + name + "' " + difference;
    }
  }
  if (user < out->tensors.size())
    return "the program has " + std::to_string(user) + " results where " + std::to_string(out->tensors.size()) +
           " are expected";
  return "";
}

} // namespace stator::tests
