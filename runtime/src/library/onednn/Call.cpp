// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/library/onednn/Call.h"

#include "runtime/src/Failure.h"
#include "runtime/src/library/onednn/Prepared.h"

#include <algorithm>

namespace stator::runtime::dnnl {
namespace {

/// Sets of sizes for which primitives are kept, a step.
constexpr size_t keptShapes = 16;
constexpr int64_t maxAttribute = 1 << 20;

/// Fewer multiplications than this (some tens of microseconds of one core) are done by the calling thread alone: teams
/// wait for their slowest thread, which on a busy machine may not be running at all.
constexpr double worthThreads = 1 << 20;

/// Multiplications of a matrix product or a convolution: each element of the result sums over what of the weights
/// belongs to one output channel.
double multiplications(const Problem &problem) {
  double result = 1, weights = 1;
  for (int d = 0; d < problem.out.ndims; ++d) result *= double(problem.out.dims[d]);
  if (problem.kind == Problem::Kind::Matmul) return result * double(problem.source.dims[problem.source.ndims - 1]);
  for (int d = 0; d < problem.weights.ndims; ++d) weights *= double(problem.weights.dims[d]);
  return result * weights / std::max(1.0, double(problem.out.dims[1]));
}

int typeOf(stator_dtype dtype) {
  switch (dtype) {
  case STATOR_DTYPE_F16: return f16;
  case STATOR_DTYPE_BF16: return bf16;
  case STATOR_DTYPE_F32: return f32;
  case STATOR_DTYPE_I32: return s32;
  case STATOR_DTYPE_I8: return s8;
  case STATOR_DTYPE_U8: return u8;
  default: return 0;
  }
}

struct PostKind {
  const char *name;
  int algorithm; // 0: sum
  bool binary;
  float alpha, beta; // defaults
};
constexpr PostKind postKinds[] = {
    {"relu", relu, false, 0, 0},        {"sigmoid", logistic, false, 0, 0},    {"tanh", tanh, false, 0, 0},
    {"gelu_erf", geluErf, false, 0, 0}, {"gelu_tanh", geluTanh, false, 0, 0},  {"swish", swish, false, 1, 0},
    {"abs", abs, false, 0, 0},          {"sqrt", sqrt, false, 0, 0},           {"square", square, false, 0, 0},
    {"exp", exp, false, 0, 0},          {"hardswish", hardswish, false, 0, 0}, {"elu", elu, false, 1, 0},
    {"clip", clip, false, 0, 0},        {"linear", linear, false, 1, 0},       {"sum", 0, false, 1, 0},
    {"add", binaryAdd, true, 0, 0},     {"mul", binaryMul, true, 0, 0},        {"sub", binarySub, true, 0, 0},
    {"div", binaryDiv, true, 0, 0},     {"min", binaryMin, true, 0, 0},        {"max", binaryMax, true, 0, 0}};

const PostKind *postKind(const std::string &name) {
  auto kind = std::find_if(std::begin(postKinds), std::end(postKinds), [&](auto &k) { return k.name == name; });
  return kind == std::end(postKinds) ? nullptr : kind;
}

class OneDnnCall : public LibraryCall {
public:
  OneDnnCall(Session &session, const LibraryStep &step, const Plan &plan) : session(session), step(step), plan(plan) {
    convolution = step.operation == "convolution";
    source = require(convolution ? "input" : "a");
    weights = require(convolution ? "weight" : "b");
    out = require("out");
    bias = step.operand("bias");
    operands = {source, weights, out};
    if (bias) operands.push_back(bias);
    for (const PostOp &post : step.post) {
      const PostKind *kind = postKind(post.op);
      if (!kind) fail(STATOR_BAD_ARTIFACT, "unknown post-op '%.40s'", post.op.c_str());
      if (kind->binary != post.operand.has_value())
        fail(STATOR_BAD_ARTIFACT, "post-op '%.40s' %s operand", post.op.c_str(),
             kind->binary ? "needs an" : "takes no");
      if (kind->algorithm == clip && !(post.alpha && post.beta)) fail(STATOR_BAD_ARTIFACT, "clip needs both bounds");
      if (post.operand) operands.push_back(&*post.operand);
    }
    checkRanks();
  }

  bool run(Frame &frame) override {
    readKey(frame);
    auto known = std::find_if(kept.begin(), kept.end(), [&](const Kept &k) { return k.key == key; });
    if (known == kept.end()) {
      Problem problem;
      bool possible = makeProblem(frame, problem);
      if (possible && problem.out.empty()) return true;
      if (kept.size() == keptShapes) kept.pop_back();
      Kept fresh{key, possible && multiplications(problem) >= worthThreads ? session.threads() : 1, nullptr};
      Session::ThreadScope scope(session, fresh.threads);
      if (possible) fresh.prepared = Prepared::make(session, problem);
      kept.insert(kept.begin(), std::move(fresh));
      known = kept.begin();
    }
    if (!known->prepared) return false;
    Session::ThreadScope scope(session, known->threads);
    known->prepared->execute(session, frame);
    if (known != kept.begin()) std::rotate(kept.begin(), known, known + 1);
    return true;
  }

private:
  struct Kept {
    std::vector<int64_t> key;
    int threads;
    std::unique_ptr<Prepared> prepared; // nullptr: declined
  };

  const Operand *require(const char *name) const {
    if (const Operand *operand = step.operand(name)) return operand;
    fail(STATOR_BAD_ARTIFACT, "operand '%s' is missing", name);
  }

  void checkRanks() {
    size_t rank = out->dims.size();
    spatial = int(rank) - 2;
    bool good = source->dims.size() == rank && weights->dims.size() == rank && rank >= (convolution ? 3 : 2) &&
                rank <= (convolution ? 5 : 6) && (!bias || bias->dims.size() == (convolution ? 1 : rank));
    for (const PostOp &post : step.post) good &= !post.operand || post.operand->dims.size() == rank;
    if (!good) fail(STATOR_BAD_ARTIFACT, "the operands' ranks do not fit");
    if (!convolution) return;
    groups = attribute("groups", 1, 1);
    transposed = attribute("transposed", 0, 0) != 0;
    for (const char *name : {"stride", "dilation"}) list(name, 1, 1);
    for (const char *name : {"padding_low", "padding_high"}) list(name, -maxAttribute, 0);
  }

  int64_t attribute(const char *name, int64_t low, int64_t missing) const {
    const std::vector<int64_t> *values = step.attribute(name);
    if (!values) return missing;
    if (values->size() != 1 || values->front() < low || values->front() > maxAttribute)
      fail(STATOR_BAD_ARTIFACT, "bad '%s'", name);
    return values->front();
  }

  std::vector<int64_t> list(const char *name, int64_t low, int64_t missing) const {
    const std::vector<int64_t> *values = step.attribute(name);
    if (!values) return std::vector<int64_t>(size_t(spatial), missing);
    bool good = values->size() == size_t(spatial) &&
                std::all_of(values->begin(), values->end(), [&](int64_t v) { return v >= low && v <= maxAttribute; });
    if (!good) fail(STATOR_BAD_ARTIFACT, "bad '%s'", name);
    return *values;
  }

  void readKey(Frame &frame) {
    key.clear();
    for (const Operand *operand : operands) {
      for (ExprId dim : operand->dims) key.push_back(frame.value(dim));
      for (ExprId stride : operand->strides) key.push_back(frame.value(stride));
      key.push_back(frame.value(operand->offset));
    }
  }

  View makeView(Frame &frame, const Operand &operand) const {
    View view;
    view.buffer = operand.buffer;
    view.type = typeOf(operand.dtype);
    view.ndims = int(operand.dims.size());
    int64_t element = int64_t(stator_dtype_bytes(operand.dtype)), last = 0, dense = 1;
    view.offset = frame.value(operand.offset);
    if (view.offset < 0 || !multiplyInto(view.offset, element)) fail(STATOR_BAD_ARTIFACT, "bad offset of an operand");
    for (int d = view.ndims - 1; d >= 0; --d) {
      int64_t dim = view.dims[d] = frame.value(operand.dims[size_t(d)]);
      int64_t stride = view.strides[d] = operand.strides.empty() ? dense : frame.value(operand.strides[size_t(d)]);
      int64_t step = stride;
      if (dim < 0 || stride < 0 || !multiplyInto(dense, std::max<int64_t>(dim, 1)) ||
          (dim > 1 && (!multiplyInto(step, dim - 1) || !addInto(last, step))))
        fail(STATOR_BAD_ARTIFACT, "bad sizes or strides of an operand");
      // The stride of a single element cannot matter, but oneDNN's matrix product takes it for the length of a row and
      // refuses one shorter than a row: give it the dense one.
      if (dim == 1) {
        int64_t row = d + 1 < view.ndims ? view.strides[d + 1] : 1;
        if (d + 1 < view.ndims && !multiplyInto(row, std::max<int64_t>(1, view.dims[d + 1])))
          fail(STATOR_BAD_ARTIFACT, "bad sizes or strides of an operand");
        view.strides[d] = row;
      }
    }
    if (!addInto(last, 1) || !multiplyInto(last, element)) fail(STATOR_BAD_ARTIFACT, "an operand is too large");
    view.extent = view.empty() ? 0 : last;
    const Buffer &buffer = plan.buffers[operand.buffer];
    if (buffer.space == Buffer::Space::Weight) view.weight = &buffer.weight;
    return view;
  }

  /// False if oneDNN has no type for an operand or the sizes have something that it does not do.
  bool makeProblem(Frame &frame, Problem &problem) const {
    problem.source = makeView(frame, *source);
    problem.weights = makeView(frame, *weights);
    problem.out = makeView(frame, *out);
    problem.kind = Problem::Kind::Matmul;
    if (bias) problem.bias = makeView(frame, *bias);
    bool typed = problem.source.type && problem.weights.type && problem.out.type && (!bias || problem.bias->type);
    bool strange = false; // repeated elements, or sizes that 32-bit arithmetic inside the library may not bear
    for (const View *view : {&problem.source, &problem.weights, &problem.out})
      for (int d = 0; d < view->ndims; ++d)
        strange |= (view->strides[d] == 0 && view->dims[d] > 1) || view->dims[d] > INT32_MAX;
    for (const PostOp &post : step.post) {
      const PostKind &kind = *postKind(post.op);
      Problem::Post entry{kind.algorithm, post.alpha.value_or(kind.alpha), post.beta.value_or(kind.beta), std::nullopt};
      if (post.operand) {
        entry.operand = makeView(frame, *post.operand);
        typed &= entry.operand->type != 0;
      }
      problem.post.push_back(std::move(entry));
    }
    if (!typed || strange) return false;
    if (problem.out.empty()) return true;
    if (problem.source.empty() || problem.weights.empty()) return false; // sums of nothing
    return !convolution || makeConvolution(problem);
  }

  bool makeConvolution(Problem &problem) const {
    problem.kind = transposed ? Problem::Kind::Deconvolution : Problem::Kind::Convolution;
    std::vector<int64_t> stride = list("stride", 1, 1), dilation = list("dilation", 1, 1),
                         low = list("padding_low", -maxAttribute, 0), high = list("padding_high", -maxAttribute, 0);
    View &w = problem.weights;
    for (int d = 0; d < spatial; ++d) {
      int64_t reach = dilation[size_t(d)] * (w.dims[2 + d] - 1) + 1;
      problem.stride[d] = stride[size_t(d)];
      problem.dilation[d] = dilation[size_t(d)] - 1;
      problem.low[d] = low[size_t(d)];
      problem.high[d] = high[size_t(d)];
      // The size of a transposed result says how much of its end is cut.
      if (transposed)
        problem.high[d] =
            (problem.source.dims[2 + d] - 1) * stride[size_t(d)] + reach - low[size_t(d)] - problem.out.dims[2 + d];
    }
    int64_t inputs = problem.source.dims[1], outputs = problem.out.dims[1];
    int64_t rows = transposed ? inputs : outputs, columns = transposed ? outputs : inputs;
    if (inputs % groups != 0 || outputs % groups != 0 || w.dims[0] != rows || w.dims[1] != columns / groups)
      fail(STATOR_BAD_ARTIFACT, "the sizes of a convolution do not fit each other");
    // oneDNN's weights are [groups,] outputs, inputs, spatial.
    int64_t row = w.strides[0], column = w.strides[1];
    int shift = groups > 1;
    for (int d = spatial - 1; d >= 0; --d)
      w.dims[2 + shift + d] = w.dims[2 + d], w.strides[2 + shift + d] = w.strides[2 + d];
    w.ndims = 2 + shift + spatial;
    w.dims[shift] = outputs / groups, w.strides[shift] = transposed ? column : row;
    w.dims[shift + 1] = inputs / groups, w.strides[shift + 1] = transposed ? row : column;
    if (shift) w.dims[0] = groups, w.strides[0] = row * (rows / groups);
    return true;
  }

  Session &session;
  const LibraryStep &step;
  const Plan &plan;
  bool convolution = false, transposed = false;
  int spatial = 0;
  int64_t groups = 1;
  const Operand *source, *weights, *out, *bias;
  std::vector<const Operand *> operands;
  std::vector<int64_t> key;
  std::vector<Kept> kept; // last used first
};

} // namespace

std::unique_ptr<LibraryCall> prepareCall(Session &session, const LibraryStep &step, const Plan &plan) {
  if (step.operation != "matmul" && step.operation != "convolution") return nullptr;
  return std::make_unique<OneDnnCall>(session, step, plan);
}

} // namespace stator::runtime::dnnl
