// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/execute/Frame.h"

#include "runtime/src/Failure.h"

#include <algorithm>

namespace stator::runtime {

Frame::Frame(const Function &function, const Plan &plan, Device &device)
    : function(function), thePlan(plan), theDevice(device), symbols(function.symbols.size()),
      symbolKnown(function.symbols.size()), values(plan.expressions.size()), valueReady(plan.expressions.size()),
      places(plan.buffers.size()), dependentValues(function.symbols.size()), dependentPlaces(function.symbols.size()),
      inputs(plan.inputs.size()), states(plan.states.size()), outputs(plan.outputs.size()),
      ownOutputs(plan.outputs.size()), arenas(plan.arenas.size()), dynamic(plan.buffers.size()) {
  for (ExprId id = 0; id < plan.expressions.size(); ++id)
    for (SymbolId symbol : plan.expressions[id].uses())
      if (function.symbols[symbol].dataDependent()) dependentValues[symbol].push_back(id);

  using Space = Buffer::Space;
  auto isOfCall = [](Space space) {
    return space == Space::Input || space == Space::Output || space == Space::Dynamic;
  };
  for (BufferId id = 0; id < plan.buffers.size(); ++id) {
    const Buffer &buffer = plan.buffers[id];
    const Buffer &base = buffer.space == Space::View ? plan.buffers[buffer.index] : buffer;
    std::vector<ExprId> uses;
    for (const Buffer *part : {&buffer, &base}) {
      if (part->space == Space::Arena || part->space == Space::View) uses.push_back(part->offset);
      if (part->space == Space::Arena || part->space == Space::View || part->space == Space::Dynamic)
        uses.push_back(part->bytes);
      if (part->space == Space::Output)
        uses.insert(uses.end(), plan.outputs[part->index].shape.begin(), plan.outputs[part->index].shape.end());
    }
    bool ofCall = isOfCall(base.space);
    for (SymbolId symbol = 0; symbol < function.symbols.size(); ++symbol) {
      const std::vector<ExprId> &dependent = dependentValues[symbol];
      bool depends = std::any_of(uses.begin(), uses.end(),
                                 [&](ExprId e) { return std::binary_search(dependent.begin(), dependent.end(), e); });
      if (depends) dependentPlaces[symbol].push_back(id);
      ofCall |= depends;
    }
    if (ofCall) placesOfCall.push_back(id);
  }
}

void Frame::begin(const std::vector<int64_t> &symbolValues) {
  bool same = begun;
  for (SymbolId id = 0; id < symbols.size(); ++id) {
    const Symbol &symbol = function.symbols[id];
    if (symbol.dataDependent()) {
      symbolKnown[id] = false;
      continue;
    }
    same &= symbols[id] == symbolValues[id];
    symbols[id] = symbolValues[id];
    symbolKnown[id] = true;
  }
  begun = true;
  if (same) {
    for (const std::vector<ExprId> &dependent : dependentValues)
      for (ExprId id : dependent) valueReady[id] = false;
    for (BufferId id : placesOfCall) places[id].ready = false;
    return;
  }
  std::fill(valueReady.begin(), valueReady.end(), false);
  for (Place &place : places) place.ready = false;
}

bool Frame::dependsOnData(BufferId id) const {
  for (const std::vector<BufferId> &dependent : dependentPlaces)
    if (std::binary_search(dependent.begin(), dependent.end(), id)) return true;
  return false;
}

void Frame::define(SymbolId id, int64_t value) {
  const Symbol &symbol = function.symbols[id];
  if (value < symbol.min || value > symbol.max)
    fail(STATOR_ASSERTION, "%s is %lld, outside its bounds %lld..%lld", symbol.name.c_str(), (long long)value,
         (long long)symbol.min, (long long)symbol.max);
  if (symbolKnown[id] && symbols[id] == value) return;
  symbols[id] = value;
  symbolKnown[id] = true;
  for (ExprId dependent : dependentValues[id]) valueReady[dependent] = false;
  for (BufferId dependent : dependentPlaces[id]) places[dependent].ready = false;
}

void Frame::evaluate(ExprId id) {
  const Expression &expression = thePlan.expressions[id];
  for (SymbolId symbol : expression.uses())
    if (!symbolKnown[symbol])
      fail(STATOR_BAD_ARTIFACT, "the size '%.200s' is used before %s is known", thePlan.expressions.text(id).c_str(),
           function.symbols[symbol].name.c_str());
  const char *problem = nullptr;
  if (!expression.evaluate(symbols.data(), values[id], problem))
    fail(STATOR_MISMATCH, "the size '%.200s' %s", thePlan.expressions.text(id).c_str(), problem);
  valueReady[id] = true;
}

int64_t Frame::tensorBytes(const TensorSpec &spec) {
  int64_t bytes = int64_t(stator_dtype_bytes(spec.dtype));
  bool empty = false;
  for (ExprId dim : spec.shape) {
    int64_t size = value(dim);
    if (size < 0) fail(STATOR_MISMATCH, "'%.200s' has a size of %lld", spec.name.c_str(), (long long)size);
    empty |= size == 0;
    if (size != 0 && !multiplyInto(bytes, size)) fail(STATOR_MISMATCH, "'%.200s' is too large", spec.name.c_str());
  }
  return empty ? 0 : bytes;
}

char *Frame::outputAddress(size_t index) {
  const TensorSpec &spec = thePlan.outputs[index];
  int64_t bytes = tensorBytes(spec);
  Output &output = outputs[index];
  if (!output.address) {
    if (ownOutputs[index].reserve(theDevice, bytes)) theDevice.nameMemory(ownOutputs[index].get(), spec.name);
    return ownOutputs[index].get();
  }
  if (bytes > output.capacity)
    fail(STATOR_MISMATCH, "output '%.200s' needs %lld bytes, %lld are given", spec.name.c_str(), (long long)bytes,
         (long long)output.capacity);
  return output.address;
}

char *Frame::arena(uint32_t index, int64_t &bytes) {
  const ArenaSpec &spec = thePlan.arenas[index];
  bytes = value(spec.bytes);
  if (bytes < 0) fail(STATOR_BAD_ARTIFACT, "an arena has a size of %lld", (long long)bytes);
  // Growing happens at the first use after the sizes changed, when no place in it is ready.
  if (arenas[index].reserve(theDevice, bytes, spec.memory))
    theDevice.nameMemory(arenas[index].get(), "arena " + std::to_string(index));
  return arenas[index].get();
}

uint64_t Frame::arenaBytes() {
  uint64_t sum = 0;
  for (const ArenaSpec &spec : thePlan.arenas) sum += uint64_t(value(spec.bytes));
  return sum;
}

uint64_t Frame::liveLoad() {
  uint64_t sum = 0;
  for (const ArenaSpec &spec : thePlan.arenas)
    if (spec.liveLoad) sum += uint64_t(value(*spec.liveLoad));
  return sum;
}

void Frame::resolve(BufferId id) {
  using Space = Buffer::Space;
  const Buffer &buffer = thePlan.buffers[id];
  Place &place = places[id];
  int64_t within = INT64_MAX, offset = 0;
  char *base = nullptr;
  switch (buffer.space) {
  case Space::Input: place = {inputs[buffer.index], tensorBytes(thePlan.inputs[buffer.index]), true}; return;
  case Space::State: place = {states[buffer.index], tensorBytes(thePlan.states[buffer.index]), true}; return;
  case Space::Output: {
    char *address = outputAddress(buffer.index);
    place = {address, tensorBytes(thePlan.outputs[buffer.index]), true};
    return;
  }
  case Space::Weight: {
    int64_t bytes = 0;
    char *address = theDevice.weight(buffer.weight, bytes);
    place = {address, bytes, true};
    return;
  }
  case Space::Dynamic:
    within = value(buffer.bytes);
    if (within < 0) break;
    dynamic[id].reserve(theDevice, within);
    base = dynamic[id].get();
    break;
  case Space::Arena:
    base = arena(buffer.index, within);
    offset = value(buffer.offset);
    break;
  case Space::View:
    base = address(buffer.index);
    within = bytes(buffer.index);
    offset = value(buffer.offset);
    break;
  }
  int64_t size = value(buffer.bytes);
  if (size < 0 || offset < 0 || offset > within || size > within - offset)
    fail(STATOR_BAD_ARTIFACT, "buffer %u (%lld bytes at %lld) is outside of the %lld bytes it lies in", id,
         (long long)size, (long long)offset, (long long)within);
  place = {base + offset, size, true};
}

} // namespace stator::runtime
