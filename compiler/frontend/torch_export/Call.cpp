// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/Call.h"
#include "compiler/frontend/torch_export/Importer.h"

using namespace mlir;

namespace stator::torch_export {

const Argument &Call::argument(StringRef name) const {
  const SchemaArgument *known = schema.find(std::string_view(name));
  if (!known) fail("the operator has no argument '" + name + "'");
  for (const NamedArgument &given : node.inputs)
    if (given.name == name) return given.value;
  // Files may leave names out where arguments stand in schema order.
  size_t position = size_t(known - schema.arguments.data());
  if (position < node.inputs.size() && node.inputs[position].name.empty()) return node.inputs[position].value;
  if (known->defaultValue) return *known->defaultValue;
  if (StringRef(known->type).ends_with("?")) {
    static const Argument none;
    return none;
  }
  fail("argument '" + name + "' is missing");
}

static StringRef kindName(Argument::Kind kind) {
  switch (kind) {
  case Argument::Kind::None: return "None";
  case Argument::Kind::Tensor: return "a tensor";
  case Argument::Kind::Tensors: return "a list of tensors";
  case Argument::Kind::Int: return "an integer";
  case Argument::Kind::Ints: return "a list of integers";
  case Argument::Kind::Float: return "a float";
  case Argument::Kind::Floats: return "a list of floats";
  case Argument::Kind::Bool: return "a bool";
  case Argument::Kind::Bools: return "a list of bools";
  case Argument::Kind::String: return "a string";
  case Argument::Kind::Strings: return "a list of strings";
  case Argument::Kind::ScalarType: return "an element type";
  case Argument::Kind::MemoryFormat: return "a memory format";
  case Argument::Kind::Layout: return "a layout";
  case Argument::Kind::Device: return "a device";
  case Argument::Kind::Graph: return "a graph";
  case Argument::Kind::Operator: return "an operator";
  case Argument::Kind::Other: break;
  }
  return "something else";
}

[[noreturn]] static void wrongKind(StringRef name, StringRef wanted, const Argument &argument) {
  GraphBuilder::fail("argument '" + name + "' is " + kindName(argument.kind) + " where " + wanted + " is expected");
}

Value Call::tensor(StringRef name) {
  const Argument &value = argument(name);
  if (value.kind == Argument::Kind::Tensor) return adjust(importer.tensor(scope, value.names[0]));
  // Functions of the `torch.*` namespace accept numbers where the schema says Tensor.
  if (value.kind == Argument::Kind::Int || value.kind == Argument::Kind::Float || value.kind == Argument::Kind::Bool) {
    if (value.scalars[0].isName()) return importer.scalarTensor(scope, b, value.scalars[0], value.kind);
    return b.scalar(number(name), b.resultType({Operand(number(name))}));
  }
  wrongKind(name, "a tensor", value);
}

SmallVector<Value> Call::tensors(StringRef name) {
  const Argument &value = argument(name);
  if (value.kind == Argument::Kind::None) return {};
  bool empty = value.kind == Argument::Kind::Ints && value.scalars.empty();
  if (value.kind != Argument::Kind::Tensors && !empty) wrongKind(name, "a list of tensors", value);
  SmallVector<Value> values;
  for (const std::string &each : value.names) values.push_back(each.empty() ? Value() : importer.tensor(scope, each));
  for (Value &each : values)
    if (each) each = adjust(each, values);
  return values;
}

Operand Call::operand(StringRef name) {
  const Argument &value = argument(name);
  switch (value.kind) {
  case Argument::Kind::Tensor: return tensor(name);
  case Argument::Kind::Int:
  case Argument::Kind::Float:
  case Argument::Kind::Bool:
    if (value.scalars[0].isName())
      return Operand::weakTensor(importer.scalarTensor(scope, b, value.scalars[0], value.kind));
    return number(name);
  default: wrongKind(name, "a tensor or a number", value);
  }
}

Number Call::number(StringRef name) const {
  const Argument &value = argument(name);
  bool single =
      value.kind == Argument::Kind::Int || value.kind == Argument::Kind::Float || value.kind == Argument::Kind::Bool;
  if (!single) wrongKind(name, "a number", value);
  const ScalarArg &scalar = value.scalars[0];
  if (scalar.isName()) {
    if (value.kind == Argument::Kind::Int)
      if (DimExpr expr = importer.sizeOf(scope, b, scalar); expr && expr.isConstant())
        return Number::of(expr.getConstant());
    fail("argument '" + name + "' must be known when compiling");
  }
  if (value.kind == Argument::Kind::Int) return Number::of(scalar.integer);
  if (value.kind == Argument::Kind::Bool) return Number::of(scalar.integer != 0);
  return Number::of(scalar.real);
}

SmallVector<double> Call::reals(StringRef name) const {
  const Argument &value = argument(name);
  if (value.kind == Argument::Kind::None) return {};
  if (value.kind != Argument::Kind::Floats && value.kind != Argument::Kind::Ints)
    wrongKind(name, "a list of floats", value);
  SmallVector<double> result;
  for (const ScalarArg &scalar : value.scalars) {
    if (scalar.isName()) fail("argument '" + name + "' must be known when compiling");
    result.push_back(scalar.real);
  }
  return result;
}

int64_t Call::integer(StringRef name) const {
  Number value = number(name);
  if (value.kind == Number::Kind::Float) fail("argument '" + name + "' is a float where an integer is expected");
  return value.integer;
}

bool Call::flag(StringRef name) const { return !isNone(name) && !number(name).isZero(); }

StringRef Call::string(StringRef name) const {
  const Argument &value = argument(name);
  if (value.kind != Argument::Kind::String) wrongKind(name, "a string", value);
  return value.text;
}

Ints Call::integers(StringRef name) const {
  const Argument &value = argument(name);
  if (value.kind == Argument::Kind::None) return {};
  if (value.kind == Argument::Kind::Int) return {integer(name)};
  if (value.kind != Argument::Kind::Ints) wrongKind(name, "a list of integers", value);
  Ints result;
  for (const ScalarArg &scalar : value.scalars) {
    DimExpr expr = importer.sizeOf(scope, b, scalar);
    if (!expr.isConstant()) fail("argument '" + name + "' must be known when compiling");
    result.push_back(expr.getConstant());
  }
  return result;
}

Ints Call::integers(StringRef name, size_t count, std::optional<Ints> otherwise) const {
  Ints result = integers(name);
  if (result.empty() && otherwise) return *otherwise;
  if (result.size() == 1 && count > 1) result.assign(count, result[0]);
  if (result.size() != count)
    fail("argument '" + name + "' has " + Twine(result.size()) + " numbers where " + Twine(count) + " are expected");
  return result;
}

DimExpr Call::size(StringRef name) {
  const Argument &value = argument(name);
  if (value.kind != Argument::Kind::Int) wrongKind(name, "a size", value);
  return importer.sizeOf(scope, b, value.scalars[0]);
}

Dims Call::sizes(StringRef name) {
  const Argument &value = argument(name);
  if (value.kind == Argument::Kind::Int) return {size(name)};
  if (value.kind == Argument::Kind::None) return {};
  if (value.kind != Argument::Kind::Ints) wrongKind(name, "a list of sizes", value);
  Dims result;
  for (const ScalarArg &scalar : value.scalars) result.push_back(importer.sizeOf(scope, b, scalar));
  return result;
}

Type Call::dtype(StringRef name, Type fallback) {
  const Argument &value = argument(name);
  if (value.kind == Argument::Kind::None) return fallback;
  // Schema defaults and TorchScript operators give ATen's own number of the type.
  if (value.kind == Argument::Kind::Int && !value.scalars[0].isName()) {
    using T = ScalarType;
    static constexpr T aten[] = {T::UInt8,   T::Int8,    T::Int16,     T::Int32,     T::Int64,      T::Float16,
                                 T::Float32, T::Float64, T::Complex32, T::Complex64, T::Complex128, T::Bool,
                                 T::Unknown, T::Unknown, T::Unknown,   T::BFloat16};
    int64_t number = value.scalars[0].integer;
    return requireElementType(b.context(), number >= 0 && number < 16 ? aten[number] : T::Unknown);
  }
  if (value.kind != Argument::Kind::ScalarType) wrongKind(name, "an element type", value);
  return requireElementType(b.context(), ScalarType(value.enumerator));
}

// --- what the program says about results ---

static const std::string *outputName(const Node &node, size_t i) {
  for (const Argument &output : node.outputs) {
    size_t n = output.kind == Argument::Kind::Tensors ? output.names.size() : 1;
    if (i < n)
      return output.kind == Argument::Kind::Tensor || output.kind == Argument::Kind::Tensors ? &output.names[i]
                                                                                             : nullptr;
    i -= n;
  }
  return nullptr;
}

size_t Call::resultCount() const {
  size_t count = 0;
  for (const Argument &output : node.outputs) count += output.kind == Argument::Kind::Tensors ? output.names.size() : 1;
  return count;
}

const TensorMeta *Call::declared(size_t i) const {
  const std::string *name = outputName(node, i);
  return name ? importer.metaOf(scope, *name) : nullptr;
}

std::optional<Dims> Call::declaredDims(size_t i) {
  const TensorMeta *meta = declared(i);
  return meta ? std::optional<Dims>(importer.dimsOf(*meta)) : std::nullopt;
}

Type Call::declaredType(size_t i) {
  const TensorMeta *meta = declared(i);
  return meta ? requireElementType(b.context(), meta->type) : Type();
}

// --- effects and aliasing ---

void Call::write(Value target, Value value) {
  value = b.broadcastTo(b.cast(value, GraphBuilder::element(target)), GraphBuilder::dims(target));
  importer.write(b, target, value);
}

void Call::notAView(Value result, Value source) { importer.addUncertainAlias(result, source); }
bool Call::programWrites() const { return importer.programWrites(); }
void Call::bindSize(DimExpr size, Value count) { importer.bindSize(b, size, count); }
graph::DimRange Call::range(DimExpr expr) const { return importer.rangeOf(expr); }

bool Call::isContiguous(StringRef name) {
  const Argument &value = argument(name);
  const TensorMeta *meta = value.kind == Argument::Kind::Tensor ? importer.metaOf(scope, value.names[0]) : nullptr;
  if (!meta || meta->strides.size() != meta->sizes.size()) return false;
  DimExpr expected = b.dim(1);
  for (size_t d = meta->sizes.size(); d-- > 0;) {
    DimExpr size = importer.expression(meta->sizes[d]);
    if (!size.isConstant(1) && importer.expression(meta->strides[d]) != expected) return size.isConstant(0);
    expected = DimExpr::mul(expected, size);
  }
  return true;
}

std::optional<bool> Call::reshapesInPlace(StringRef name, ArrayRef<DimExpr> to) {
  if (isContiguous(name)) return true;
  const TensorMeta *meta = importer.metaOf(scope, argument(name).names[0]);
  if (!meta || meta->strides.size() != meta->sizes.size()) return std::nullopt;
  // PyTorch's rule: runs of dimensions that lie together in memory may be split and merged, nothing else.
  SmallVector<int64_t> sizes, strides, wanted;
  for (size_t d = 0; d < meta->sizes.size(); ++d) {
    if (meta->sizes[d].isText() || meta->strides[d].isText()) return std::nullopt;
    sizes.push_back(meta->sizes[d].value);
    strides.push_back(meta->strides[d].value);
  }
  for (DimExpr dim : to) {
    if (!dim.isConstant()) return std::nullopt;
    wanted.push_back(dim.getConstant());
  }
  if (llvm::is_contained(sizes, 0)) return true;
  int64_t view = int64_t(wanted.size()) - 1, chunk = 1, viewed = 1;
  for (int64_t d = int64_t(sizes.size()) - 1; d >= 0; --d) {
    chunk *= sizes[d];
    // A dimension of size 1 continues any run: the stride is carried through it.
    if (d > 0 && sizes[d - 1] == 1) strides[d - 1] = strides[d] * sizes[d];
    if (d > 0 && strides[d - 1] == strides[d] * sizes[d]) continue;
    while (view >= 0 && (viewed < chunk || wanted[view] == 1)) viewed *= wanted[view--];
    if (viewed != chunk) return false;
    chunk = viewed = 1;
  }
  return view < 0;
}

// --- autocast ---

namespace {
constexpr StringLiteral lowPrecision[] = {"conv1d",
                                          "conv2d",
                                          "conv3d",
                                          "bmm",
                                          "mm",
                                          "baddbmm",
                                          "addmm",
                                          "addbmm",
                                          "addmv",
                                          "mv",
                                          "linear",
                                          "_convolution",
                                          "convolution",
                                          "matmul",
                                          "conv_tbc",
                                          "conv_transpose1d",
                                          "conv_transpose2d",
                                          "conv_transpose3d",
                                          "prelu",
                                          "scaled_dot_product_attention",
                                          "einsum",
                                          "chain_matmul",
                                          "linalg_multi_dot",
                                          "lstm_cell",
                                          "gru_cell",
                                          "rnn_tanh_cell",
                                          "rnn_relu_cell"};
constexpr StringLiteral singlePrecision[] = {"avg_pool3d",
                                             "binary_cross_entropy",
                                             "grid_sampler",
                                             "polar",
                                             "prod",
                                             "quantile",
                                             "nanquantile",
                                             "cdist",
                                             "trace",
                                             "mse_loss",
                                             "cosine_embedding_loss",
                                             "nll_loss",
                                             "nll_loss2d",
                                             "hinge_embedding_loss",
                                             "poisson_nll_loss",
                                             "smooth_l1_loss",
                                             "cross_entropy_loss",
                                             "l1_loss",
                                             "huber_loss",
                                             "margin_ranking_loss",
                                             "soft_margin_loss",
                                             "triplet_margin_loss",
                                             "multi_margin_loss",
                                             "kl_div",
                                             "binary_cross_entropy_with_logits"};
constexpr StringLiteral singlePrecisionOnGpu[] = {"__pow__",
                                                  "__rdiv__",
                                                  "__rpow__",
                                                  "__rtruediv__",
                                                  "acos",
                                                  "asin",
                                                  "binary_cross_entropy_with_logits",
                                                  "cosh",
                                                  "cosine_similarity",
                                                  "cumprod",
                                                  "cumsum",
                                                  "dist",
                                                  "erfinv",
                                                  "exp",
                                                  "expm1",
                                                  "group_norm",
                                                  "layer_norm",
                                                  "log",
                                                  "log10",
                                                  "log1p",
                                                  "log2",
                                                  "log_softmax",
                                                  "norm",
                                                  "pdist",
                                                  "pow",
                                                  "reciprocal",
                                                  "renorm",
                                                  "rsqrt",
                                                  "sinh",
                                                  "softmax",
                                                  "softmin",
                                                  "softplus",
                                                  "sum",
                                                  "tan"};
constexpr StringLiteral widest[] = {"stack", "cat", "index_copy"};
} // namespace

Value Call::adjust(Value value, ArrayRef<Value> beside) {
  if (!scope.autocast || !isFloat(GraphBuilder::element(value)) || GraphBuilder::element(value).isF64()) return value;
  StringRef name = StringRef(node.target).split('.').second.split('.').first;
  bool gpu = scope.autocast->device != "cpu";
  if (llvm::is_contained(lowPrecision, name)) return b.cast(value, scope.autocast->type);
  if (llvm::is_contained(singlePrecision, name) || (gpu && llvm::is_contained(singlePrecisionOnGpu, name)))
    return b.cast(value, b.f32());
  if (llvm::is_contained(widest, name)) {
    Type type = GraphBuilder::element(value);
    for (Value other : beside)
      if (other && isFloat(GraphBuilder::element(other)))
        type = graph::promoteTypes(type, GraphBuilder::element(other));
    return b.cast(value, type);
  }
  return value;
}

} // namespace stator::torch_export
