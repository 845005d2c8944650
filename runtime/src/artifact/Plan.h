// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A manifest's functions and plans as plain structs. docs/artifact-format.md says what each field means.
#ifndef STATOR_RUNTIME_ARTIFACT_PLAN_H
#define STATOR_RUNTIME_ARTIFACT_PLAN_H

#include "runtime/src/artifact/Expression.h"
#include "runtime/src/artifact/Json.h"
#include "stator/abi.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace stator::runtime {

using BufferId = uint32_t;

enum class DeviceKind { Host, Cuda };
enum class MemoryKind { Device, Host };

struct Symbol {
  std::string name;
  int64_t min = 0, max = INT64_MAX;
  int input = -1; // -1: data-dependent
  int dim = -1;   // -1 with an input: that input's value
  int64_t scale = 1, offset = 0;
  bool dataDependent() const { return input < 0; }
};

struct TensorSpec {
  std::string name;
  stator_dtype dtype;
  std::vector<ExprId> shape;
  bool mutated = false;       // inputs
  bool dataDependent = false; // outputs: the shape is
  std::string initial;        // states: name among the weights, "" for zeros
};

struct ArenaSpec {
  MemoryKind memory;
  ExprId bytes;
  std::optional<ExprId> liveLoad;
};

struct Buffer {
  enum class Space { Input, Output, State, Weight, Arena, View, Dynamic } space;
  uint32_t index = 0; // input, output, state: which; arena: which arena; view: of which buffer
  std::string weight;
  std::string label; // for people and judging devices
  ExprId offset = 0, bytes = 0; // arena, view, dynamic
};

struct Step;
using Block = std::vector<Step>;

struct LaunchStep {
  std::string module, kernel; // module "": the only one
  std::vector<BufferId> buffers;
  // Host.
  std::vector<ExprId> sizes;
  ExprId count = 0;
  ExprId grain = 0;
  // CUDA.
  struct Scalar {
    bool wide;
    ExprId value;
  };
  std::vector<Scalar> scalars;
  ExprId grid[3] = {}, block[3] = {}, shared = 0;
};

/// A tensor inside a buffer, as library steps describe operands.
struct Operand {
  BufferId buffer;
  stator_dtype dtype;
  std::vector<ExprId> dims, strides; // no strides: dense row-major
  ExprId offset;                     // elements
};

struct PostOp {
  std::string op;
  std::optional<float> alpha, beta;
  std::optional<Operand> operand;
};

struct LibraryStep {
  std::string library, operation;
  std::vector<std::pair<std::string, Operand>> operands;
  std::vector<std::pair<std::string, std::vector<int64_t>>> attributes; // integers and lists of integers
  std::vector<PostOp> post;
  std::optional<Block> fallback;
  uint32_t index = 0; // among the library steps of its plan

  const Operand *operand(std::string_view name) const;
  const std::vector<int64_t> *attribute(std::string_view name) const;
};

struct CopyStep {
  BufferId from, to;
  ExprId fromOffset, toOffset;
  std::optional<ExprId> bytes;
};

struct FillStep {
  BufferId to;
  uint64_t bits;
  uint32_t width;
  ExprId offset;
  std::optional<ExprId> bytes;
};

struct ReadSymbolStep {
  SymbolId symbol;
  BufferId from;
  ExprId offset;
  stator_dtype dtype;
};

enum class Relation { Eq, Ne, Lt, Le, Gt, Ge };

struct AssertStep {
  ExprId left, right;
  Relation relation;
  std::string message;
};

struct IfStep {
  BufferId predicate;
  Block thenSteps, elseSteps;
};

struct WhileStep {
  Block condition, body;
  BufferId predicate;
  std::optional<ExprId> limit;
};

/// What a step needs at least, by the compiler's count.
struct StepCost {
  ExprId read, written, operations; // bytes, bytes, arithmetic operations
};

struct Step {
  std::variant<LaunchStep, LibraryStep, CopyStep, FillStep, ReadSymbolStep, AssertStep, IfStep, WhileStep> what;
  std::string label, source;
  std::optional<StepCost> cost;
  uint32_t index = 0; // preorder number within the plan, for the profile
  uint32_t depth = 0;

  const char *kind() const;
  const char *name() const;
};

struct Plan {
  explicit Plan(ExpressionTable table) : expressions(std::move(table)) {}

  DeviceKind device = DeviceKind::Host;
  ExpressionTable expressions;
  std::vector<TensorSpec> inputs, outputs, states;
  size_t ioAlignment = 1;
  std::vector<ArenaSpec> arenas;
  std::vector<Buffer> buffers;
  Block steps;
  std::vector<const Step *> allSteps; // by index
  uint32_t librarySteps = 0;
};

/// One callable function with a plan for each device.
struct Function {
  std::string name;
  std::vector<Symbol> symbols;
  std::vector<Plan> plans;

  const Plan *plan(DeviceKind device) const;
};

/// Reads `functions` of a manifest. Every index is checked; expressions are parsed. Throws a Failure.
std::vector<Function> readFunctions(const Json &functions);

} // namespace stator::runtime
#endif
