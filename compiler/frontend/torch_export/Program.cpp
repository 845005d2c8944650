// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/Program.h"
#include <array>
#include <limits>

namespace stator::torch_export {

using io::Json;

std::string scalarTypeName(ScalarType type) {
  switch (type) {
  case ScalarType::UInt8: return "uint8";
  case ScalarType::Int8: return "int8";
  case ScalarType::Int16: return "int16";
  case ScalarType::Int32: return "int32";
  case ScalarType::Int64: return "int64";
  case ScalarType::Float16: return "float16";
  case ScalarType::Float32: return "float32";
  case ScalarType::Float64: return "float64";
  case ScalarType::Complex32: return "complex32";
  case ScalarType::Complex64: return "complex64";
  case ScalarType::Complex128: return "complex128";
  case ScalarType::Bool: return "bool";
  case ScalarType::BFloat16: return "bfloat16";
  case ScalarType::UInt16: return "uint16";
  case ScalarType::UInt32: return "uint32";
  case ScalarType::UInt64: return "uint64";
  case ScalarType::Float8E4M3FN: return "float8_e4m3fn";
  case ScalarType::Float8E5M2: return "float8_e5m2";
  case ScalarType::Unknown: break;
  }
  return "scalar type " + std::to_string(int64_t(type));
}

namespace {

constexpr size_t maxNodes = 1'000'000;
constexpr size_t maxRank = 16;
constexpr size_t maxName = 4096;

/// A JSON value and the way to it, for errors.
class At {
public:
  At(const Json &json, std::string path) : json(json), path(std::move(path)) {}

  [[noreturn]] void fail(const std::string &what) const { throw FormatError(path + ": " + what); }

  bool isNull() const { return json.is_null(); }
  bool isNumber() const { return json.is_number(); }
  bool isString() const { return json.is_string(); }
  bool isObject() const { return json.is_object(); }
  std::optional<At> find(const char *key) const {
    if (!json.is_object()) fail("expected an object");
    auto it = json.find(key);
    if (it == json.end() || it->is_null()) return std::nullopt;
    return At(*it, path + "." + key);
  }
  At get(const char *key) const {
    auto found = find(key);
    if (!found) fail(std::string("'") + key + "' is missing");
    return *found;
  }
  /// The one member of a union.
  std::pair<std::string, At> onlyMember() const {
    if (!json.is_object() || json.size() != 1) fail("expected an object with one member");
    auto it = json.begin();
    return {it.key(), At(it.value(), path + "." + it.key())};
  }
  size_t size() const {
    if (!json.is_array()) fail("expected a list");
    return json.size();
  }
  At operator[](size_t i) const { return At(json[i], path + "[" + std::to_string(i) + "]"); }
  template <typename F> void members(F visit) const {
    if (!json.is_object()) fail("expected an object");
    for (auto it = json.begin(); it != json.end(); ++it)
      visit(it.key(), At(it.value(), path + "." + it.key().substr(0, 80)));
  }

  int64_t integer() const {
    if (!json.is_number_integer()) fail("expected an integer");
    if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t(INT64_MAX))
      fail("the integer does not fit 64 bits");
    return json.get<int64_t>();
  }
  bool boolean() const {
    if (!json.is_boolean()) fail("expected true or false");
    return json.get<bool>();
  }
  std::string string(size_t limit = maxName) const {
    if (!json.is_string()) fail("expected a string");
    const std::string &text = json.get_ref<const std::string &>();
    if (text.size() > limit)
      fail("a string of " + std::to_string(text.size()) + " bytes; the limit is " + std::to_string(limit));
    return text;
  }
  std::string name() const {
    std::string text = string();
    if (text.empty()) fail("an empty name");
    return text;
  }
  double real() const {
    if (json.is_number()) return json.get<double>();
    if (json.is_string()) {
      std::string text = string();
      if (text == "Infinity") return std::numeric_limits<double>::infinity();
      if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
      if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    }
    fail("expected a number");
  }

private:
  const Json &json;
  std::string path;
};

/// An integer, `as_int` or `as_expr`.
SizeExpr readSize(const At &at) {
  if (at.isNumber()) return {"", at.integer()};
  auto [key, value] = at.onlyMember();
  if (key == "as_int") return {"", value.integer()};
  if (key == "as_bool") return {"", value.boolean()};
  if (key == "as_float") return {}; // A constant symbolic float: its value stands in the node.
  if (key != "as_expr") at.fail("unknown kind of size '" + key.substr(0, 40) + "'");
  SizeExpr size{value.get("expr_str").string(1u << 16), 0};
  if (size.text.empty()) value.fail("an empty expression");
  return size;
}

std::vector<SizeExpr> readSizes(const At &at) {
  if (at.size() > maxRank) at.fail("more than 16 dimensions");
  std::vector<SizeExpr> sizes;
  for (size_t i = 0; i < at.size(); ++i) sizes.push_back(readSize(at[i]));
  return sizes;
}

TensorMeta readMeta(const At &at) {
  TensorMeta meta;
  meta.type = ScalarType(at.get("dtype").integer());
  meta.sizes = readSizes(at.get("sizes"));
  if (auto strides = at.find("strides")) meta.strides = readSizes(*strides);
  if (auto offset = at.find("storage_offset")) meta.offset = readSize(*offset);
  if (auto layout = at.find("layout"))
    if (layout->integer() != 7) layout->fail("only dense strided tensors are supported");
  return meta;
}

Graph readGraph(const At &at);

/// `{as_name}`, `{as_int}`, or a bare number.
ScalarArg readScalar(const At &at) {
  ScalarArg scalar;
  if (at.isObject()) {
    auto [key, value] = at.onlyMember();
    if (key == "as_name") {
      scalar.name = value.name();
    } else if (key == "as_int") {
      scalar.integer = value.integer();
    } else if (key == "as_bool") {
      scalar.integer = value.boolean();
    } else if (key == "as_float") {
      scalar.real = value.real();
    } else {
      at.fail("unknown kind of scalar '" + key.substr(0, 40) + "'");
    }
    return scalar;
  }
  at.fail("expected an object");
}

struct Row {
  const char *key;
  Argument::Kind kind;
};
constexpr Row argumentRows[] = {
    {"as_none", Argument::Kind::None},
    {"as_tensor", Argument::Kind::Tensor},
    {"as_tensors", Argument::Kind::Tensors},
    {"as_optional_tensors", Argument::Kind::Tensors},
    {"as_int", Argument::Kind::Int},
    {"as_sym_int", Argument::Kind::Int},
    {"as_ints", Argument::Kind::Ints},
    {"as_sym_ints", Argument::Kind::Ints},
    {"as_float", Argument::Kind::Float},
    {"as_sym_float", Argument::Kind::Float},
    {"as_floats", Argument::Kind::Floats},
    {"as_sym_floats", Argument::Kind::Floats},
    {"as_bool", Argument::Kind::Bool},
    {"as_sym_bool", Argument::Kind::Bool},
    {"as_bools", Argument::Kind::Bools},
    {"as_sym_bools", Argument::Kind::Bools},
    {"as_string", Argument::Kind::String},
    {"as_strings", Argument::Kind::Strings},
    {"as_scalar_type", Argument::Kind::ScalarType},
    {"as_memory_format", Argument::Kind::MemoryFormat},
    {"as_layout", Argument::Kind::Layout},
    {"as_device", Argument::Kind::Device},
    {"as_graph", Argument::Kind::Graph},
    {"as_operator", Argument::Kind::Operator},
};

Argument readArgument(const At &at) {
  auto [key, value] = at.onlyMember();
  if (key == "as_optional_tensor") return readArgument(value);
  Argument argument;
  argument.kind = Argument::Kind::Other;
  argument.text = key.substr(0, 80);
  for (const Row &row : argumentRows)
    if (key == row.key) argument.kind = row.kind;
  bool symbolic = key.compare(0, 7, "as_sym_") == 0;
  auto scalars = [&, value = value](auto read) {
    for (size_t i = 0; i < value.size(); ++i) {
      ScalarArg scalar = symbolic ? readScalar(value[i]) : ScalarArg();
      if (!symbolic) read(value[i], scalar);
      argument.scalars.push_back(scalar);
    }
  };
  auto scalar = [&, value = value](auto read) {
    ScalarArg one = symbolic ? readScalar(value) : ScalarArg();
    if (!symbolic) read(value, one);
    argument.scalars.push_back(one);
  };
  auto integer = [](const At &v, ScalarArg &s) { s.integer = v.integer(), s.real = double(s.integer); };
  auto real = [](const At &v, ScalarArg &s) { s.real = v.real(); };
  auto boolean = [](const At &v, ScalarArg &s) { s.integer = v.boolean(); };
  switch (argument.kind) {
  case Argument::Kind::None:
  case Argument::Kind::Other: break;
  case Argument::Kind::Tensor: argument.names.push_back(value.get("name").name()); break;
  case Argument::Kind::Tensors:
    for (size_t i = 0; i < value.size(); ++i) {
      if (key == "as_tensors") {
        argument.names.push_back(value[i].get("name").name());
        continue;
      }
      auto [inner, tensor] = value[i].onlyMember();
      argument.names.push_back(inner == "as_tensor" ? tensor.get("name").name() : "");
    }
    break;
  case Argument::Kind::Int: scalar(integer); break;
  case Argument::Kind::Ints: scalars(integer); break;
  case Argument::Kind::Float: scalar(real); break;
  case Argument::Kind::Floats: scalars(real); break;
  case Argument::Kind::Bool: scalar(boolean); break;
  case Argument::Kind::Bools: scalars(boolean); break;
  case Argument::Kind::Operator:
  case Argument::Kind::String: argument.text = value.string(1u << 20); break;
  case Argument::Kind::Strings:
    for (size_t i = 0; i < value.size(); ++i) argument.texts.push_back(value[i].string(1u << 20));
    break;
  case Argument::Kind::ScalarType:
  case Argument::Kind::MemoryFormat:
  case Argument::Kind::Layout: argument.enumerator = value.integer(); break;
  case Argument::Kind::Device: argument.text = value.get("type").string(); break;
  case Argument::Kind::Graph:
    argument.text = value.get("name").string();
    argument.graph = std::make_shared<Graph>(readGraph(value.get("graph")));
    break;
  }
  return argument;
}

std::string metadataText(const At &metadata, const char *key) {
  auto found = metadata.find(key);
  return found && found->isString() ? found->string(1u << 20) : "";
}

Node readNode(const At &at) {
  Node node;
  node.target = at.get("target").name();
  constexpr std::string_view prefix = "torch.ops.";
  if (node.target.compare(0, prefix.size(), prefix) == 0) node.target.erase(0, prefix.size());
  if (auto name = at.find("name")) node.name = name->string();
  At inputs = at.get("inputs"), outputs = at.get("outputs");
  for (size_t i = 0; i < inputs.size(); ++i)
    node.inputs.push_back({inputs[i].get("name").string(), readArgument(inputs[i].get("arg"))});
  for (size_t i = 0; i < outputs.size(); ++i) node.outputs.push_back(readArgument(outputs[i]));
  if (node.name.empty() && !node.outputs.empty() && !node.outputs[0].names.empty())
    node.name = node.outputs[0].names[0];
  if (auto metadata = at.find("metadata")) {
    node.stackTrace = metadataText(*metadata, "stack_trace");
    node.moduleStack = metadataText(*metadata, "nn_module_stack");
  }
  return node;
}

Graph readGraph(const At &at) {
  Graph graph;
  At inputs = at.get("inputs"), outputs = at.get("outputs"), nodes = at.get("nodes");
  if (nodes.size() > maxNodes) nodes.fail("more than a million nodes");
  for (size_t i = 0; i < inputs.size(); ++i) graph.inputs.push_back(readArgument(inputs[i]));
  for (size_t i = 0; i < outputs.size(); ++i) graph.outputs.push_back(readArgument(outputs[i]));
  at.get("tensor_values").members([&](const std::string &name, const At &meta) {
    graph.tensors[name] = readMeta(meta);
  });
  auto symbols = [&](const char *key, std::map<std::string, SizeExpr> &into) {
    if (auto found = at.find(key))
      found->members([&](const std::string &name, const At &value) { into[name] = readSize(value); });
  };
  symbols("sym_int_values", graph.symInts);
  symbols("sym_bool_values", graph.symBools);
  symbols("sym_float_values", graph.symFloats);
  for (size_t i = 0; i < nodes.size(); ++i) graph.nodes.push_back(readNode(nodes[i]));
  return graph;
}

InputSpec readInputSpec(const At &at) {
  auto [key, value] = at.onlyMember();
  InputSpec spec;
  auto named = [&, value = value](InputSpec::Kind kind, const char *target) {
    spec.kind = kind;
    spec.value.kind = Argument::Kind::Tensor;
    spec.value.names.push_back(value.get("arg").get("name").name());
    spec.target = value.get(target).name();
  };
  if (key == "user_input") {
    spec.value = readArgument(value.get("arg"));
  } else if (key == "parameter") {
    named(InputSpec::Kind::Parameter, "parameter_name");
  } else if (key == "buffer") {
    named(InputSpec::Kind::Buffer, "buffer_name");
  } else if (key == "tensor_constant") {
    named(InputSpec::Kind::TensorConstant, "tensor_constant_name");
  } else if (key == "constant_input") {
    spec.kind = InputSpec::Kind::ConstantInput;
    spec.target = value.get("name").string();
  } else if (key == "token") {
    spec.kind = InputSpec::Kind::Token;
  } else if (key == "custom_obj") {
    spec.kind = InputSpec::Kind::CustomObject;
  } else {
    at.fail("unknown kind of input '" + key.substr(0, 40) + "'");
  }
  return spec;
}

OutputSpec readOutputSpec(const At &at) {
  auto [key, value] = at.onlyMember();
  struct Kind {
    const char *key;
    OutputSpec::Kind kind;
    const char *target;
  };
  constexpr std::array kinds = {
      Kind{"user_output", OutputSpec::Kind::UserOutput, nullptr},
      Kind{"loss_output", OutputSpec::Kind::LossOutput, nullptr},
      Kind{"buffer_mutation", OutputSpec::Kind::BufferMutation, "buffer_name"},
      Kind{"parameter_mutation", OutputSpec::Kind::ParameterMutation, "parameter_name"},
      Kind{"user_input_mutation", OutputSpec::Kind::UserInputMutation, "user_input_name"},
      Kind{"gradient_to_parameter", OutputSpec::Kind::GradientToParameter, "parameter_name"},
      Kind{"gradient_to_user_input", OutputSpec::Kind::GradientToUserInput, "user_input_name"},
      Kind{"token", OutputSpec::Kind::Token, nullptr},
  };
  for (const Kind &row : kinds) {
    if (key != row.key) continue;
    OutputSpec spec;
    spec.kind = row.kind;
    At arg = value.get("arg");
    if (row.kind == OutputSpec::Kind::UserOutput) {
      spec.value = readArgument(arg);
    } else {
      spec.value.kind = Argument::Kind::Tensor;
      spec.value.names.push_back(arg.get("name").name());
    }
    if (row.target) spec.target = value.get(row.target).name();
    return spec;
  }
  at.fail("unknown kind of output '" + key.substr(0, 40) + "'");
}

} // namespace

Program readProgram(const Json &json) {
  At root(json, "program");
  Program program;
  if (auto version = root.find("schema_version")) {
    program.schemaMajor = version->get("major").integer();
    program.schemaMinor = version->get("minor").integer();
  }
  // 2 to 7 were written by torch 2.2 to 2.4 and say the same things in the same words.
  if (program.schemaMajor < 0 || program.schemaMajor == 1 || program.schemaMajor > 8)
    root.fail("schema version " + std::to_string(program.schemaMajor) + "." + std::to_string(program.schemaMinor) +
              " is not supported (2 to 8 are): export again with a current PyTorch");
  At module = root.get("graph_module");
  program.graph = readGraph(module.get("graph"));
  At signature = module.get("signature"), inputs = signature.get("input_specs"),
     outputs = signature.get("output_specs");
  for (size_t i = 0; i < inputs.size(); ++i) program.inputs.push_back(readInputSpec(inputs[i]));
  for (size_t i = 0; i < outputs.size(); ++i) program.outputs.push_back(readOutputSpec(outputs[i]));
  if (auto ranges = root.find("range_constraints"))
    ranges->members([&](const std::string &name, const At &value) {
      Range range;
      if (auto min = value.find("min_val")) range.min = min->integer();
      if (auto max = value.find("max_val")) range.max = max->integer();
      program.ranges[name] = range;
    });
  return program;
}

std::map<std::string, Payload> readPayloadConfig(const Json &json, const std::string &folder) {
  At root(json, folder + " configuration");
  std::map<std::string, Payload> payloads;
  root.get("config").members([&](const std::string &name, const At &at) {
    Payload payload;
    std::string record = at.get("path_name").name();
    if (record.find_first_of("/\\") != std::string::npos || record == "." || record == "..")
      at.fail("an unsafe record name");
    payload.record = folder + record;
    if (auto pickled = at.find("use_pickle"))
      if (pickled->boolean())
        at.fail("the tensor is pickled (a tensor subclass, such as a quantized weight): unwrap it before exporting");
    auto meta = at.find("tensor_meta");
    if (!meta) return; // A custom object; its use is what gets reported.
    TensorMeta tensor = readMeta(*meta);
    auto plain = [&](const std::vector<SizeExpr> &sizes) {
      std::vector<int64_t> result;
      for (const SizeExpr &size : sizes) {
        if (size.isText() || size.value < 0) at.fail("a stored tensor needs plain sizes");
        result.push_back(size.value);
      }
      return result;
    };
    payload.type = tensor.type;
    payload.sizes = plain(tensor.sizes);
    payload.strides = plain(tensor.strides);
    if (payload.strides.size() != payload.sizes.size()) at.fail("sizes and strides differ in number");
    payload.offset = plain({tensor.offset})[0];
    payloads[name] = payload;
  });
  return payloads;
}

} // namespace stator::torch_export
