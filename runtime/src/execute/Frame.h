// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes and addresses of one call.
//
// Everything is worked out when it is first asked for and kept: the values of expressions and the addresses of arena,
// weight and state buffers until a call comes with other sizes, the rest until the next call. A plan of fixed sizes
// therefore costs one table look-up per number after its first run.
#ifndef STATOR_RUNTIME_EXECUTE_FRAME_H
#define STATOR_RUNTIME_EXECUTE_FRAME_H

#include "runtime/src/artifact/Plan.h"
#include "runtime/src/device/Device.h"

namespace stator::runtime {

class Frame {
public:
  Frame(const Function &function, const Plan &plan, Device &device);

  const Plan &plan() const { return thePlan; }
  Device &device() { return theDevice; }

  /// Begins a call: one value for every symbol of the function (those of data-dependent ones are not read).
  void begin(const std::vector<int64_t> &symbolValues);

  /// Where an input's elements are (dense, on the device); they must stay until the call is over.
  void setInput(size_t index, char *address) { inputs[index] = address; }
  /// Where an output goes (dense, on the device) and how many bytes fit; nullptr: into memory that the frame keeps
  /// until the next call.
  void setOutput(size_t index, char *address, int64_t capacity) { outputs[index] = {address, capacity}; }
  void setState(size_t index, char *address) { states[index] = address; }

  /// Defines a data-dependent symbol; its bounds are checked.
  void define(SymbolId symbol, int64_t value);

  /// A Failure if the expression overflows, divides by zero or uses an undefined symbol.
  int64_t value(ExprId id) {
    if (!valueReady[id]) evaluate(id);
    return values[id];
  }

  /// The address and bytes of a buffer; a Failure if its place is outside of what it lies in.
  char *address(BufferId id) {
    if (!places[id].ready) resolve(id);
    return places[id].address;
  }
  int64_t bytes(BufferId id) {
    if (!places[id].ready) resolve(id);
    return places[id].bytes;
  }

  /// Whether a buffer's place needs a data-dependent symbol.
  bool dependsOnData(BufferId id) const;

  /// Product of the sizes times the element size.
  int64_t tensorBytes(const TensorSpec &spec);
  char *outputAddress(size_t index);

  /// Bytes of all arenas for the current sizes.
  uint64_t arenaBytes();
  uint64_t liveLoad();

private:
  struct Place {
    char *address = nullptr;
    int64_t bytes = 0;
    bool ready = false;
  };
  struct Output {
    char *address = nullptr;
    int64_t capacity = 0;
  };

  void evaluate(ExprId id);
  void resolve(BufferId id);
  char *arena(uint32_t index, int64_t &bytes);

  const Function &function;
  const Plan &thePlan;
  Device &theDevice;

  std::vector<int64_t> symbols;
  std::vector<char> symbolKnown;
  bool begun = false;

  std::vector<int64_t> values;
  std::vector<char> valueReady;
  std::vector<Place> places;

  /// What a new value of each data-dependent symbol makes void, and what every new call does.
  std::vector<std::vector<ExprId>> dependentValues;
  std::vector<std::vector<BufferId>> dependentPlaces;
  std::vector<BufferId> placesOfCall;

  std::vector<char *> inputs, states;
  std::vector<Output> outputs;
  std::vector<DeviceMemory> ownOutputs, arenas, dynamic; // dynamic: by buffer
};

} // namespace stator::runtime
#endif
