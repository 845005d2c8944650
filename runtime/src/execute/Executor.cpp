// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/execute/Executor.h"

#include "runtime/src/Failure.h"

#include <algorithm>
#include <cstring>

namespace stator::runtime {
namespace {

/// Text that tells the user which step failed.
std::string describe(const Step &step) {
  std::string text = step.kind();
  if (*step.name()) text += std::string(" '") + step.name() + "'";
  if (!step.label.empty()) text += " (" + step.label + ")";
  if (!step.source.empty()) text += " from " + step.source;
  return text;
}

/// The innermost step is the one to name.
void locate(Failure &failure, const Step &step) {
  if (!failure.located) failure.message += ", in " + describe(step);
  failure.located = true;
}

bool holds(int64_t left, Relation relation, int64_t right) {
  switch (relation) {
  case Relation::Eq: return left == right;
  case Relation::Ne: return left != right;
  case Relation::Lt: return left < right;
  case Relation::Le: return left <= right;
  case Relation::Gt: return left > right;
  case Relation::Ge: return left >= right;
  }
  return false;
}

const char *relationText(Relation relation) {
  static constexpr const char *texts[] = {"==", "!=", "<", "<=", ">", ">="};
  return texts[int(relation)];
}

} // namespace

int64_t readInteger(const char *bytes, stator_dtype dtype) {
  auto as = [&](auto value) {
    std::memcpy(&value, bytes, sizeof value);
    return int64_t(value);
  };
  switch (dtype) {
  case STATOR_DTYPE_BOOL:
  case STATOR_DTYPE_U8: return as(uint8_t());
  case STATOR_DTYPE_U16: return as(uint16_t());
  case STATOR_DTYPE_U32: return as(uint32_t());
  case STATOR_DTYPE_I8: return as(int8_t());
  case STATOR_DTYPE_I16: return as(int16_t());
  case STATOR_DTYPE_I32: return as(int32_t());
  default: return as(int64_t());
  }
}

Executor::Executor(Frame &frame, Profile &profile, bool useLibraries)
    : frame(frame), profile(profile), kernels(frame.plan().allSteps.size()), calls(frame.plan().librarySteps) {
  if (frame.device().watchesTensors()) watch = std::make_unique<TensorWatch>(frame.plan());
  for (const Step *step : frame.plan().allSteps) {
    try {
      if (auto *launch = std::get_if<LaunchStep>(&step->what))
        kernels[step->index] = frame.device().findKernel(*launch);
      auto *library = std::get_if<LibraryStep>(&step->what);
      if (!library) continue;
      if (useLibraries)
        if (Library *opened = frame.device().library(library->library))
          calls[library->index] = opened->prepare(*library, frame.plan());
      if (!calls[library->index] && !library->fallback)
        fail(STATOR_UNAVAILABLE, "%.40s is not available and the step has no fallback", library->library.c_str());
    } catch (Failure &failure) {
      locate(failure, *step);
      throw;
    }
  }
}

void Executor::run() {
  const Block &steps = frame.plan().steps;
  if (!watch) return runBlock(steps);
  watch->begin(frame);
  for (size_t i = 0; i < steps.size(); ++i) {
    watch->before(i, frame.device());
    runStep(steps[i]);
    watch->after(i, frame.device());
  }
}

void Executor::runBlock(const Block &block) {
  for (const Step &step : block) runStep(step);
}

void Executor::runStep(const Step &step) {
  try {
    if (step.cost && profile.isEnabled())
      profile.add(step, frame.value(step.cost->read), frame.value(step.cost->written),
                  frame.value(step.cost->operations));
    Profile::Timer timer(profile, step, frame.device());
    std::visit([&](const auto &what) { perform(step, what); }, step.what);
  } catch (Failure &failure) {
    locate(failure, step);
    throw;
  }
}

void Executor::perform(const Step &step, const LaunchStep &launch) {
  frame.device().launch(launch, kernels[step.index], frame);
}

void Executor::perform(const Step &step, const LibraryStep &library) {
  LibraryCall *call = calls[library.index].get();
  if (call && call->run(frame)) return;
  if (!library.fallback)
    fail(STATOR_UNAVAILABLE, "%.40s declines these sizes and there is no fallback", library.library.c_str());
  runBlock(*library.fallback);
}

char *Executor::range(BufferId buffer, int64_t offset, int64_t bytes) {
  int64_t size = frame.bytes(buffer);
  if (offset < 0 || bytes < 0 || offset > size || bytes > size - offset)
    fail(STATOR_BAD_ARTIFACT, "%lld bytes at %lld lie outside of buffer %u (%lld bytes)", (long long)bytes,
         (long long)offset, buffer, (long long)size);
  return frame.address(buffer) + offset;
}

void Executor::perform(const Step &, const CopyStep &copy) {
  int64_t fromOffset = frame.value(copy.fromOffset), toOffset = frame.value(copy.toOffset);
  int64_t bytes = copy.bytes ? frame.value(*copy.bytes) : std::min(frame.bytes(copy.from), frame.bytes(copy.to));
  char *from = range(copy.from, fromOffset, bytes), *to = range(copy.to, toOffset, bytes);
  if (bytes != 0) frame.device().copy(to, from, bytes);
}

void Executor::perform(const Step &, const FillStep &fill) {
  int64_t offset = frame.value(fill.offset);
  int64_t bytes = fill.bytes ? frame.value(*fill.bytes) : frame.bytes(fill.to) - offset;
  char *to = range(fill.to, offset, bytes);
  if (bytes % fill.width != 0)
    stator::runtime::fail(STATOR_BAD_ARTIFACT, "%lld bytes are no whole number of %u-byte elements", (long long)bytes,
                          fill.width);
  if (bytes != 0) frame.device().fill(to, fill.bits, fill.width, bytes);
}

void Executor::perform(const Step &, const ReadSymbolStep &read) {
  char bytes[8];
  int64_t size = int64_t(stator_dtype_bytes(read.dtype));
  frame.device().download(bytes, range(read.from, frame.value(read.offset), size), size);
  int64_t value = readInteger(bytes, read.dtype);
  if (read.dtype == STATOR_DTYPE_U64 && value < 0) fail(STATOR_ASSERTION, "a size beyond 63 bits");
  frame.define(read.symbol, value);
}

void Executor::perform(const Step &, const AssertStep &assertion) {
  int64_t left = frame.value(assertion.left), right = frame.value(assertion.right);
  if (holds(left, assertion.relation, right)) return;
  const ExpressionTable &texts = frame.plan().expressions;
  fail(STATOR_ASSERTION, "%.400s%s%.100s %s %.100s does not hold (%lld and %lld)", assertion.message.c_str(),
       assertion.message.empty() ? "" : ": ", texts.text(assertion.left).c_str(), relationText(assertion.relation),
       texts.text(assertion.right).c_str(), (long long)left, (long long)right);
}

bool Executor::predicate(BufferId buffer) {
  char value = 0;
  frame.device().download(&value, range(buffer, 0, 1), 1);
  return value != 0;
}

void Executor::perform(const Step &, const IfStep &branch) {
  runBlock(predicate(branch.predicate) ? branch.thenSteps : branch.elseSteps);
}

void Executor::perform(const Step &, const WhileStep &loop) {
  int64_t limit = loop.limit ? frame.value(*loop.limit) : INT64_MAX;
  for (int64_t trips = 0;; ++trips) {
    runBlock(loop.condition);
    if (!predicate(loop.predicate)) return;
    if (trips == limit) fail(STATOR_ASSERTION, "a loop makes more than %lld trips", (long long)limit);
    runBlock(loop.body);
  }
}

} // namespace stator::runtime
