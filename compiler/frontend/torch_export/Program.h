// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An exported program as its JSON states it: checked for form, not yet for sense. Free of MLIR.
#ifndef STATOR_COMPILER_FRONTEND_TORCH_EXPORT_PROGRAM_H
#define STATOR_COMPILER_FRONTEND_TORCH_EXPORT_PROGRAM_H

#include "compiler/io/Json.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stator::torch_export {

/// A number, or the name of a symbolic value of the graph.
struct ScalarArg {
  std::string name;
  int64_t integer = 0;
  double real = 0;
  bool isName() const { return !name.empty(); }
};

/// A size: a number, or a symbolic expression as text.
struct SizeExpr {
  std::string text;
  int64_t value = 0;
  bool isText() const { return !text.empty(); }
};

/// The numbers of PyTorch's serialized ScalarType.
enum class ScalarType {
  Unknown = 0,
  UInt8 = 1,
  Int8 = 2,
  Int16 = 3,
  Int32 = 4,
  Int64 = 5,
  Float16 = 6,
  Float32 = 7,
  Float64 = 8,
  Complex32 = 9,
  Complex64 = 10,
  Complex128 = 11,
  Bool = 12,
  BFloat16 = 13,
  UInt16 = 28,
  Float8E4M3FN = 29,
  Float8E5M2 = 30,
  UInt32 = 34,
  UInt64 = 35,
};
/// "float32", or "scalar type 31" where it has no name here.
std::string scalarTypeName(ScalarType type);

struct TensorMeta {
  ScalarType type = ScalarType::Unknown;
  std::vector<SizeExpr> sizes, strides;
  SizeExpr offset;
};

struct Graph;

/// One value of the argument union; symbolic and plain forms are one kind.
struct Argument {
  enum class Kind {
    None,
    Tensor,
    Tensors,
    Int,
    Ints,
    Float,
    Floats,
    Bool,
    Bools,
    String,
    Strings,
    ScalarType,
    MemoryFormat,
    Layout,
    Device,
    Graph,
    Operator,
    Other,
  };
  Kind kind = Kind::None;
  /// Tensor, Tensors: names, empty for an absent optional tensor.
  std::vector<std::string> names;
  /// Int(s), Float(s), Bool(s).
  std::vector<ScalarArg> scalars;
  /// String, Operator, the device type; for Other the union's key.
  std::string text;
  std::vector<std::string> texts;
  /// ScalarType, MemoryFormat, Layout.
  int64_t enumerator = 0;
  std::shared_ptr<Graph> graph;
};

struct NamedArgument {
  std::string name;
  Argument value;
};

struct Node {
  /// Without the `torch.ops.` prefix: `aten.add.Tensor`, `higher_order.cond`, `_operator.mul`.
  std::string target;
  std::string name;
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  std::string stackTrace, moduleStack;
};

struct Graph {
  std::vector<Argument> inputs, outputs;
  std::vector<Node> nodes;
  std::map<std::string, TensorMeta> tensors;
  /// Symbolic values: expression text, or the number where it is plain.
  std::map<std::string, SizeExpr> symInts, symBools, symFloats;
};

struct InputSpec {
  enum class Kind { UserInput, Parameter, Buffer, TensorConstant, CustomObject, Token, ConstantInput };
  Kind kind = Kind::UserInput;
  Argument value;
  /// The parameter's, buffer's or constant's name; the input's name for a constant input.
  std::string target;
};

struct OutputSpec {
  enum class Kind {
    UserOutput,
    LossOutput,
    BufferMutation,
    ParameterMutation,
    UserInputMutation,
    GradientToParameter,
    GradientToUserInput,
    Token
  };
  Kind kind = Kind::UserOutput;
  Argument value;
  std::string target;
};

struct Range {
  std::optional<int64_t> min, max;
};

struct Program {
  Graph graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  /// Symbol (or expression) text to bounds.
  std::map<std::string, Range> ranges;
  int64_t schemaMajor = 0, schemaMinor = 0;
};

/// Where the bytes of one named tensor lie: a strided view (in elements) of a record.
struct Payload {
  std::string record;
  ScalarType type = ScalarType::Unknown;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
};

/// Reads models/NAME.json. Throws FormatError, which names the place of the first deviation.
Program readProgram(const io::Json &json);
/// Reads a payload configuration: name to payload; `folder` is put before each record name.
std::map<std::string, Payload> readPayloadConfig(const io::Json &json, const std::string &folder);

/// The document is not an exported program.
class FormatError : public std::exception {
public:
  explicit FormatError(std::string message) : message(std::move(message)) {}
  const char *what() const noexcept override { return message.c_str(); }

private:
  std::string message;
};

} // namespace stator::torch_export

#endif // STATOR_COMPILER_FRONTEND_TORCH_EXPORT_PROGRAM_H
