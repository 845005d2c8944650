// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matmul and convolution fusions as oneDNN calls. Operands are found by emitting their elements at opaque coordinates: what
// turns out to be one load, linear in the coordinates, is a strided view of an input, whatever transposes, reshapes, slices
// and broadcasts made it.
#include "codegen/target/host/Contraction.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

namespace {
/// The iteration space of a call's result, and views of values in it.
class CallBuilder {
public:
  CallBuilder(HostRequest request, Operation *op) : request(request), op(op), context(request.fusion.getContext()) {}

  using Index = std::function<SmallVector<Value>(BodyEmitter &, ArrayRef<Value> at)>;
  /// The value at coordinates of sizes `dims` as a strided view of an input. Coordinates that the view does not move along
  /// have size 1 in it where `broadcast`.
  std::optional<LibraryOperand> view(Value value, ArrayRef<DimExpr> dims, Index index, bool broadcast);
  /// Where result 0 of the fusion stores the element that the chain computes at the coordinates.
  std::optional<LibraryOperand> resultView(ArrayRef<DimExpr> dims, Index index);
  /// The fused epilogue: bias, post-ops. False where the library cannot say it.
  bool epilogue(LibraryCall &call, ArrayRef<DimExpr> dims, Index index, size_t channel, bool biasIsVector);

private:
  std::optional<LibraryOperand> strided(HostKernel &probe, const IndexForm &form, ArrayRef<Value> at, ArrayRef<DimExpr> dims,
                                        bool broadcast);
  SmallVector<Value> coordinates(HostKernel &probe, ArrayRef<DimExpr> dims) {
    SmallVector<Value> at;
    for (DimExpr dim : dims)
      at.push_back(dim.isConstant(1) ? probe.body.indices.constant(0) : probe.probeIndex(probe.body.size(dim)));
    return at;
  }
  HostRequest request;
  Operation *op;
  MLIRContext *context;
};
} // namespace

std::optional<LibraryOperand> CallBuilder::strided(HostKernel &probe, const IndexForm &form, ArrayRef<Value> at,
                                                   ArrayRef<DimExpr> dims, bool broadcast) {
  IndexForms &forms = probe.body.indices;
  LibraryOperand operand;
  Value rest = forms.materialize(form);
  for (auto [coordinate, dim] : llvm::zip_equal(at, dims)) {
    auto stride = forms.strideOf(form, coordinate);
    DimExpr expr = stride ? probe.body.exprOf(*stride) : DimExpr();
    if (!expr) return std::nullopt;
    bool still = expr.isConstant(0);
    if (still && !dim.isConstant(1) && !broadcast) return std::nullopt;
    operand.dims.push_back(still && broadcast ? DimExpr::constant(context, 1) : dim);
    operand.strides.push_back(still ? DimExpr::constant(context, 1) : expr);
    rest = forms.sub(rest, forms.mul(forms.materialize(*stride), coordinate));
  }
  operand.offset = probe.body.exprOf(forms.formOf(rest));
  if (!operand.offset) return std::nullopt;
  if (operand.offset.isConstant(0)) operand.offset = {};
  return operand;
}

std::optional<LibraryOperand> CallBuilder::view(Value value, ArrayRef<DimExpr> dims, Index index, bool broadcast) {
  HostKernel probe(request.module, request.name + "_probe", request.fusion);
  SmallVector<Value> at = coordinates(probe, dims);
  Scalar element = probe.body.valueAt(value, index(probe.body, at));
  std::optional<LibraryOperand> operand;
  auto load = element.value.getDefiningOp<LLVM::LoadOp>();
  if (!probe.body.failed() && load && element.type.isF32() && probe.body.accesses().size() == 1 &&
      isa<func::FuncOp>(load->getParentOp())) {
    auto access = probe.body.accesses()[0];
    operand = strided(probe, access.linear, at, dims, broadcast);
    if (operand) {
      operand->buffer = {KernelBuffer::Input, access.input};
      operand->element = element.type;
    }
  }
  probe.discard();
  return operand;
}

std::optional<LibraryOperand> CallBuilder::resultView(ArrayRef<DimExpr> dims, Index index) {
  HostKernel probe(request.module, request.name + "_probe", request.fusion);
  BodyEmitter &body = probe.body;
  SmallVector<Value> at = coordinates(probe, dims);
  Value root = domainRoot(body.result(0));
  // The chain's own reshapes have moved the index; its row-major number stays what it was.
  Value linear = body.indices.linearize(index(body, at), body.sizes(op->getResult(0)));
  SmallVector<Value> moved = forwardIndex(body, root, body.result(0), body.indices.delinearize(linear, body.sizes(root)));
  IndexForm form = body.indices.formOf(body.indices.linearize(moved, body.sizes(body.result(0))));
  auto operand = strided(probe, form, at, dims, false);
  if (operand) {
    operand->buffer = {KernelBuffer::Result, 0};
    operand->element = Float32Type::get(context);
  }
  probe.discard();
  return operand;
}

bool CallBuilder::epilogue(LibraryCall &call, ArrayRef<DimExpr> dims, Index index, size_t channel, bool biasIsVector) {
  Operation *terminator = request.fusion.getBody().front().getTerminator();
  if (terminator->getNumOperands() != 1) return false;
  Value value = op->getResult(0);
  while (value != domainRoot(terminator->getOperand(0))) {
    if (!value.hasOneUse()) return false;
    Operation *user = *value.user_begin();
    if (isa<graph::ReshapeOp>(user)) {
      value = user->getResult(0);
      continue;
    }
    LibraryCall::Post post;
    post.op = llvm::TypeSwitch<Operation *, const char *>(user)
                  .Case<graph::ReluOp>([](auto) { return "relu"; })
                  .Case<graph::SigmoidOp>([](auto) { return "sigmoid"; })
                  .Case<graph::TanhOp>([](auto) { return "tanh"; })
                  .Case<graph::GeluOp>([](auto) { return "gelu_erf"; })
                  .Case<graph::GeluTanhOp>([](auto) { return "gelu_tanh"; })
                  .Case<graph::SiluOp>([](auto) { return "swish"; })
                  .Case<graph::HardSwishOp>([](auto) { return "hardswish"; })
                  .Case<graph::AddOp>([](auto) { return "add"; })
                  .Case<graph::SubOp>([](auto) { return "sub"; })
                  .Case<graph::MulOp>([](auto) { return "mul"; })
                  .Case<graph::DivOp>([](auto) { return "div"; })
                  .Default([](Operation *) { return ""; });
    if (post.op.empty()) return false;
    if (user->getNumOperands() == 2) {
      bool first = user->getOperand(0) == value;
      if (user->getOperand(0) == user->getOperand(1)) return false;
      if (!first && (post.op == "sub" || post.op == "div")) return false;
      Value other = user->getOperand(first ? 1 : 0);
      Value root = op->getResult(0);
      auto at = [&](BodyEmitter &body, ArrayRef<Value> coordinates) {
        Value linear = body.indices.linearize(index(body, coordinates), body.sizes(root));
        return body.indices.delinearize(linear, body.sizes(other));
      };
      // A number for all: alpha * x + beta.
      Value scalar = other;
      while (auto broadcast = scalar.getDefiningOp<graph::BroadcastOp>()) scalar = broadcast.getX();
      if (auto number = graph::ConstantOp::splatDouble(scalar)) {
        double c = *number;
        bool adds = post.op == "add" || post.op == "sub";
        post.alpha = adds ? 1.0 : post.op == "mul" ? c : 1.0 / c;
        post.beta = post.op == "add" ? c : post.op == "sub" ? -c : 0.0;
        post.op = "linear";
      } else {
        post.operand = view(other, dims, at, true);
        if (!post.operand) return false;
        bool alongChannel = true;
        for (auto [d, dim] : llvm::enumerate(post.operand->dims)) alongChannel &= d == channel || dim.isConstant(1);
        bool hasBias = llvm::any_of(call.operands, [](auto &o) { return o.first == "bias"; });
        if (post.op == "add" && alongChannel && !hasBias && call.post.empty() && !post.operand->dims[channel].isConstant(1)) {
          LibraryOperand bias = *post.operand;
          if (biasIsVector) {
            bias.dims = {bias.dims[channel]};
            bias.strides = {bias.strides[channel]};
          }
          call.operands.push_back({"bias", bias});
          value = user->getResult(0);
          continue;
        }
      }
    }
    call.post.push_back(post);
    value = user->getResult(0);
  }
  auto out = resultView(dims, index);
  if (!out) return false;
  call.operands.push_back({"out", *out});
  return true;
}

std::optional<LibraryCall> libraryMatmul(HostRequest request, graph::MatmulOp op) {
  auto contraction = contractionOf(request.fusion);
  if (!contraction || !cast<RankedTensorType>(op.getType()).getElementType().isF32()) return std::nullopt;
  const Contraction &c = *contraction;
  // Sums of no products are zeros, which the library refuses to compute.
  auto bounds = [&](StringRef name) { return graph::symbolRange(op, name); };
  for (DimExpr size : {c.batch, c.m, c.n, c.k})
    if (graph::rangeOf(size, bounds).max < 1) return std::nullopt;
  if (graph::rangeOf(c.k, bounds).min < 1) return std::nullopt;
  SmallVector<DimExpr> lhs = graph::dimsOf(op.getLhs().getType());
  bool rowsOnly = c.batch.isConstant(1);
  SmallVector<DimExpr> batch;
  if (!rowsOnly) batch.append(lhs.begin(), lhs.end() - 2);
  if (batch.size() > 4) return std::nullopt;
  LibraryCall call;
  call.library = "onednn";
  call.operation = "matmul";
  CallBuilder builder(request, op);
  // Coordinates are (batch..., x, y); the contraction wants its batch as one number.
  auto flat = [=](BodyEmitter &body, ArrayRef<Value> at) -> Value {
    SmallVector<Value> sizes;
    for (DimExpr dim : batch) sizes.push_back(body.size(dim));
    return body.indices.linearize(ValueRange(at.drop_back(2)), sizes);
  };
  auto dims = [&](DimExpr x, DimExpr y) {
    SmallVector<DimExpr> all(batch);
    all.append({x, y});
    return all;
  };
  auto tensorIndex = [=](Value tensor, bool isLhs) {
    return [=](BodyEmitter &body, ArrayRef<Value> at) mutable {
      SmallVector<Value> index;
      size_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
      bool turned = isLhs ? op.getTransposeLhs() : op.getTransposeRhs();
      if (rowsOnly && isLhs && !turned) {
        SmallVector<Value> sizes = body.sizes(tensor);
        sizes.pop_back();
        index = body.indices.delinearize(at[0], sizes);
        index.push_back(at[1]);
        return index;
      }
      for (size_t d = 0; d + 2 < rank; ++d) index.push_back(rowsOnly ? body.indices.constant(0) : at[d]);
      index.append({at[at.size() - 2], at[at.size() - 1]});
      if (turned) std::swap(index[rank - 1], index[rank - 2]);
      return index;
    };
  };
  auto a = builder.view(op.getLhs(), dims(c.m, c.k), tensorIndex(op.getLhs(), true), false);
  auto b = a ? builder.view(op.getRhs(), dims(c.k, c.n), tensorIndex(op.getRhs(), false), true) : std::nullopt;
  if (!a || !b) return std::nullopt;
  // Only batch dimensions broadcast.
  b->dims[b->dims.size() - 2] = c.k;
  b->dims[b->dims.size() - 1] = c.n;
  call.operands.push_back({"a", *a});
  call.operands.push_back({"b", *b});
  auto result = [=](BodyEmitter &body, ArrayRef<Value> at) {
    Value batchIndex = rowsOnly ? body.indices.constant(0) : flat(body, at);
    return c.resultIndex(body, batchIndex, at[at.size() - 2], at[at.size() - 1]);
  };
  SmallVector<DimExpr> outDims = dims(c.m, c.n);
  if (!builder.epilogue(call, outDims, result, outDims.size() - 1, false)) return std::nullopt;
  return call;
}

std::optional<LibraryCall> libraryConvolution(HostRequest request, graph::ConvolutionOp op) {
  if (!cast<RankedTensorType>(op.getType()).getElementType().isF32()) return std::nullopt;
  LibraryCall call;
  call.library = "onednn";
  call.operation = "convolution";
  CallBuilder builder(request, op);
  auto same = [](BodyEmitter &, ArrayRef<Value> at) { return SmallVector<Value>(at); };
  auto input = builder.view(op.getX(), graph::dimsOf(op.getX().getType()), same, false);
  auto weight = input ? builder.view(op.getWeight(), graph::dimsOf(op.getWeight().getType()), same, false) : std::nullopt;
  if (!input || !weight) return std::nullopt;
  call.operands.push_back({"input", *input});
  call.operands.push_back({"weight", *weight});
  if (!builder.epilogue(call, graph::dimsOf(op.getType()), same, 1, true)) return std::nullopt;
  auto list = [&](const char *name, ArrayRef<int64_t> values) { call.lists.push_back({name, SmallVector<int64_t>(values)}); };
  list("stride", op.getStrides());
  list("dilation", op.getDilations());
  list("padding_low", op.getLow());
  list("padding_high", op.getHigh());
  call.integers.push_back({"groups", op.getGroups()});
  call.integers.push_back({"transposed", op.getTransposed() ? 1 : 0});
  return call;
}

} // namespace stator::codegen
