// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/library/onednn/Prepared.h"

#include "runtime/src/Failure.h"

#include <algorithm>

namespace stator::runtime::dnnl {
namespace {

MemoryDesc describe(const Api &api, const View &view) {
  MemoryDesc desc;
  check(api.describeStrides(&desc, view.ndims, view.dims, view.type, view.strides), "describing a tensor");
  return desc;
}

MemoryDesc describeAny(const Api &api, const View &view) {
  MemoryDesc desc;
  check(api.describeTag(&desc, view.ndims, view.dims, view.type, tagAny), "describing a tensor");
  return desc;
}

Owned<Memory> makeMemory(Session &session, const MemoryDesc *desc, void *data) {
  Memory memory = nullptr;
  check(session.api().memoryCreate(&memory, desc, session.engine(), data), "creating a memory object");
  return {memory, session.api().memoryDestroy};
}

Owned<Primitive> makePrimitive(Session &session, PrimitiveDesc desc) {
  Primitive primitive = nullptr;
  check(session.api().primitiveCreate(&primitive, desc), "creating a primitive");
  return {primitive, session.api().primitiveDestroy};
}

bool sameShape(const View &a, const View &b) {
  return a.ndims == b.ndims && std::equal(a.dims, a.dims + a.ndims, b.dims);
}

/// An operand that is added as a whole can be laid where the result will be and "summed": every implementation can do
/// that in its own layout. The post-op for which this is done, -1 if none.
int residualOf(const Problem &problem) {
  for (const Problem::Post &post : problem.post)
    if (post.algorithm == 0) return -1; // its place is taken
  for (size_t i = 0; i < problem.post.size(); ++i) {
    const Problem::Post &post = problem.post[i];
    if (post.algorithm == binaryAdd && sameShape(*post.operand, problem.out) && post.operand->type == problem.out.type)
      return int(i);
  }
  return -1;
}

/// Whether there are binary post-ops besides the residual. The column-matrix implementation does them element by
/// element, twenty times slower than the convolution.
bool hasOperands(const Problem &problem, int residual) {
  for (size_t i = 0; i < problem.post.size(); ++i)
    if (problem.post[i].operand && int(i) != residual) return true;
  return false;
}

Owned<Attr> makeAttributes(const Api &api, const Problem &problem, int residual) {
  PostOps rawPostOps = nullptr;
  check(api.postOpsCreate(&rawPostOps), "creating post-ops");
  Owned<PostOps> postOps(rawPostOps, api.postOpsDestroy);
  for (size_t i = 0; i < problem.post.size(); ++i) {
    const Problem::Post &post = problem.post[i];
    if (int(i) == residual) {
      check(api.appendSum(rawPostOps, 1), "adding a sum");
    } else if (post.algorithm == 0) {
      check(api.appendSum(rawPostOps, post.alpha), "adding a sum");
    } else if (post.operand) {
      MemoryDesc operand = describe(api, *post.operand);
      check(api.appendBinary(rawPostOps, post.algorithm, &operand), "adding a binary post-op");
    } else {
      check(api.appendEltwise(rawPostOps, 1, post.algorithm, post.alpha, post.beta), "adding an elementwise post-op");
    }
  }
  Attr rawAttributes = nullptr;
  check(api.attrCreate(&rawAttributes), "creating attributes");
  Owned<Attr> attributes(rawAttributes, api.attrDestroy);
  check(api.attrScratchpad(rawAttributes, scratchpadUser), "choosing the scratchpad");
  check(api.attrPostOps(rawAttributes, rawPostOps), "setting post-ops");
  return attributes;
}

/// False where oneDNN says that the operands make no sense together or that it has no such thing.
bool describeOperation(const Api &api, const Problem &p, const MemoryDesc &source, const MemoryDesc &weights,
                       const MemoryDesc *bias, const MemoryDesc &out, OperationDesc &desc) {
  if (p.kind == Problem::Kind::Matmul) return api.describeMatmul(&desc, &source, &weights, bias, &out) == success;
  bool transposed = p.kind == Problem::Kind::Deconvolution;
  auto function = transposed ? api.describeDeconvolution : api.describeConvolution;
  return function(&desc, forwardInference, transposed ? deconvolutionDirect : convolutionDirect, &source, &weights,
                  bias, &out, p.stride, p.dilation, p.low, p.high) == success;
}

} // namespace

bool View::empty() const {
  return std::any_of(dims, dims + ndims, [](Dim d) { return d == 0; });
}

int64_t Prepared::reserve(int64_t bytes) {
  int64_t offset = scratchBytes;
  scratchBytes += (bytes + STATOR_ALIGNMENT - 1) / STATOR_ALIGNMENT * STATOR_ALIGNMENT;
  return offset;
}

bool Prepared::choose(Session &session, const Problem &problem, bool anyLayout, int residual) {
  const Api &api = session.api();
  MemoryDesc source = anyLayout ? describeAny(api, problem.source) : describe(api, problem.source);
  MemoryDesc out = anyLayout ? describeAny(api, problem.out) : describe(api, problem.out);
  MemoryDesc weights = problem.weights.weight ? describeAny(api, problem.weights) : describe(api, problem.weights);
  MemoryDesc bias;
  if (problem.bias) bias = describe(api, *problem.bias);
  OperationDesc operation;
  if (!describeOperation(api, problem, source, weights, problem.bias ? &bias : nullptr, out, operation)) return false;
  Owned<Attr> attributes = makeAttributes(api, problem, residual);
  PrimitiveDesc raw = nullptr;
  if (api.primitiveDescCreate(&raw, &operation, attributes.get(), session.engine(), nullptr) != success) return false;
  desc = {raw, api.primitiveDescDestroy};
  const char *text = nullptr;
  check(api.query(raw, queryImplementation, 0, &text), "asking for the implementation");
  name = text ? text : "";
  return true;
}

Prepared::Reorder Prepared::makeReorder(Session &session, const MemoryDesc *from, const MemoryDesc *to) {
  PrimitiveDesc raw = nullptr;
  check(session.api().reorderDescCreate(&raw, from, session.engine(), to, session.engine(), nullptr),
        "planning a reorder");
  Owned<PrimitiveDesc> owned(raw, session.api().primitiveDescDestroy);
  return {makePrimitive(session, raw), makeMemory(session, from, nullptr), makeMemory(session, to, nullptr)};
}

void Prepared::addOperand(Session &session, int argument, const View &view, const MemoryDesc *wanted, bool read,
                          bool written) {
  const Api &api = session.api();
  MemoryDesc given = describe(api, view);
  Operand operand;
  operand.argument = argument;
  operand.buffer = view.buffer, operand.offset = view.offset, operand.extent = view.extent;
  operand.memory = makeMemory(session, wanted, nullptr);
  if (!api.descEqual(&given, wanted)) {
    operand.scratch = reserve(int64_t(api.descBytes(wanted)));
    if (read) operand.before = makeReorder(session, &given, wanted);
    if (written) operand.after = makeReorder(session, wanted, &given);
  }
  operands.push_back(std::move(operand));
}

void Prepared::addPacked(Session &session, const View &view, const MemoryDesc *wanted) {
  const Api &api = session.api();
  MemoryDesc given = describe(api, view);
  if (api.descEqual(&given, wanted)) return addOperand(session, argWeights, view, wanted, true, false);
  Operand operand;
  operand.argument = argWeights;
  operand.buffer = view.buffer, operand.offset = view.offset, operand.extent = view.extent;
  operand.memory = makeMemory(session, wanted, nullptr);
  // execute() packs it when it has the weight's address.
  operand.packedKey = *view.weight + ':' + std::to_string(view.offset) + ':' + std::to_string(view.type);
  for (int d = 0; d < view.ndims; ++d)
    operand.packedKey += ',' + std::to_string(view.dims[d]) + '/' + std::to_string(view.strides[d]);
  operand.before = makeReorder(session, &given, wanted);
  operands.push_back(std::move(operand));
}

std::unique_ptr<Prepared> Prepared::make(Session &session, const Problem &problem) {
  const Api &api = session.api();
  auto isFast = [](const std::string &name) {
    return name.compare(0, 3, "ref") != 0 && name.find("gemm:ref") == name.npos;
  };
  // Convolutions that take row-major activations go through an explicit column matrix, which costs more than moving
  // the activations to a blocked layout and back.
  auto isDirect = [&](const std::string &name) { return isFast(name) && name.find("gemm") == name.npos; };
  bool isMatmul = problem.kind == Problem::Kind::Matmul;

  std::unique_ptr<Prepared> result;
  int residual = -1;
  auto attempt = [&](bool anyLayout, int tryResidual, auto accept) {
    std::unique_ptr<Prepared> candidate(new Prepared);
    if (!candidate->choose(session, problem, anyLayout, tryResidual) || !accept(candidate->name)) return false;
    result = std::move(candidate);
    residual = tryResidual;
    return true;
  };
  int asSum = residualOf(problem);
  bool found = isMatmul ? attempt(false, -1, isFast)
                        : attempt(false, -1, isDirect) || attempt(true, asSum, isDirect) ||
                              (!hasOperands(problem, asSum) && attempt(false, asSum, isFast));
  if (!found) return nullptr;

  PrimitiveDesc desc = result->desc.get();
  bool sums = std::any_of(problem.post.begin(), problem.post.end(), [](auto &p) { return p.algorithm == 0; });
  result->addOperand(session, argSource, problem.source, api.queryDesc(desc, querySource, 0), true, false);
  const MemoryDesc *weights = api.queryDesc(desc, queryWeights, 0);
  if (problem.weights.weight)
    result->addPacked(session, problem.weights, weights);
  else
    result->addOperand(session, argWeights, problem.weights, weights, true, false);
  if (problem.bias) {
    MemoryDesc bias = describe(api, *problem.bias);
    result->addOperand(session, argBias, *problem.bias, &bias, true, false);
  }
  const MemoryDesc *out = api.queryDesc(desc, queryDestination, 0);
  result->addOperand(session, argDestination, problem.out, out, sums, true);
  result->outOperand = result->operands.size() - 1;
  for (size_t i = 0; i < problem.post.size(); ++i) {
    const Problem::Post &post = problem.post[i];
    if (!post.operand || int(i) == residual) continue;
    MemoryDesc operand = describe(api, *post.operand);
    result->addOperand(session, argPostOp * int(i + 1) | argSource1, *post.operand, &operand, true, false);
  }
  if (residual >= 0) result->setResidual(session, *problem.post[size_t(residual)].operand, out);

  const MemoryDesc *scratchpad = api.queryDesc(desc, queryScratchpad, 0);
  if (int64_t bytes = scratchpad ? int64_t(api.descBytes(scratchpad)) : 0) {
    result->scratchpad = makeMemory(session, scratchpad, nullptr);
    result->scratchpadOffset = result->reserve(bytes);
  }
  result->primitive = makePrimitive(session, desc);
  for (const Operand &operand : result->operands)
    if (operand.argument != 0) result->arguments.push_back({operand.argument, operand.memory.get()});
  if (result->scratchpad) result->arguments.push_back({argScratchpad, result->scratchpad.get()});
  return result;
}

} // namespace stator::runtime::dnnl
