// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/Unpickler.h"
#include <cstring>
#include <unordered_map>

namespace stator::torch_export {
namespace {

constexpr size_t maxValues = 1u << 22;

struct Value;
using Ref = std::shared_ptr<Value>;

struct Value {
  enum class Kind { None, Mark, Bool, Int, Float, Text, Tuple, List, Dict, Global, Storage, Tensor };
  Kind kind = Kind::None;
  int64_t integer = 0;
  std::string text;
  /// Tuple and List: items. Dict: keys and values in turn.
  std::vector<Ref> items;
  Payload tensor;
  ScalarType type = ScalarType::Unknown;
};

struct StorageName {
  std::string_view name;
  ScalarType type;
};
constexpr StorageName storageNames[] = {
    {"torch FloatStorage", ScalarType::Float32},
    {"torch DoubleStorage", ScalarType::Float64},
    {"torch HalfStorage", ScalarType::Float16},
    {"torch BFloat16Storage", ScalarType::BFloat16},
    {"torch LongStorage", ScalarType::Int64},
    {"torch IntStorage", ScalarType::Int32},
    {"torch ShortStorage", ScalarType::Int16},
    {"torch CharStorage", ScalarType::Int8},
    {"torch ByteStorage", ScalarType::UInt8},
    {"torch BoolStorage", ScalarType::Bool},
    {"torch ComplexFloatStorage", ScalarType::Complex64},
};
constexpr std::string_view functions[] = {"collections OrderedDict", "torch._utils _rebuild_tensor_v2",
                                          "torch._utils _rebuild_parameter"};

class Machine {
public:
  explicit Machine(std::string_view bytes) : bytes(bytes) {}
  std::string error;

  Ref run() {
    while (error.empty()) {
      if (at >= bytes.size()) return fail("ends without STOP");
      unsigned char opcode = bytes[at++];
      if (opcode == '.')
        return stack.size() == 1 ? stack[0] : fail("STOP with " + std::to_string(stack.size()) + " values");
      step(opcode);
    }
    return nullptr;
  }

private:
  using Kind = Value::Kind;
  Ref fail(const std::string &why) {
    if (error.empty()) error = why;
    return nullptr;
  }
  Ref push(Kind kind, int64_t integer = 0, std::string text = {}) {
    if (++made > maxValues) return fail("holds too many values");
    auto value = std::make_shared<Value>();
    value->kind = kind;
    value->integer = integer;
    value->text = std::move(text);
    stack.push_back(value);
    return value;
  }
  Ref pop() {
    if (stack.empty()) return fail("takes a value from an empty stack");
    Ref value = stack.back();
    stack.pop_back();
    return value;
  }
  std::string_view take(size_t n) {
    if (n > bytes.size() - at) {
      fail("is cut off");
      return {};
    }
    at += n;
    return bytes.substr(at - n, n);
  }
  /// Little-endian, zero-extended.
  uint64_t number(size_t n) {
    uint64_t value = 0;
    std::string_view part = take(n);
    for (size_t i = part.size(); i-- > 0;) value = value << 8 | uint8_t(part[i]);
    return value;
  }
  std::string line() {
    size_t end = bytes.find('\n', at);
    if (end == std::string_view::npos || end - at > 200) {
      fail("has an overlong name");
      return {};
    }
    std::string text(bytes.substr(at, end - at));
    at = end + 1;
    return text;
  }
  void tuple(size_t n) {
    if (stack.size() < n) return void(fail("takes a value from an empty stack"));
    std::vector<Ref> items(stack.end() - long(n), stack.end());
    stack.resize(stack.size() - n);
    if (Ref value = push(Kind::Tuple)) value->items = std::move(items);
  }
  std::vector<Ref> toMark() {
    std::vector<Ref> items;
    while (!stack.empty() && stack.back()->kind != Kind::Mark) {
      items.insert(items.begin(), stack.back());
      stack.pop_back();
    }
    if (stack.empty())
      fail("has no MARK");
    else
      stack.pop_back();
    return items;
  }
  void extend(Kind kind, std::vector<Ref> items) {
    if (stack.empty() || stack.back()->kind != kind) return void(fail("extends what is not a container"));
    if (kind == Kind::Dict && items.size() % 2) return void(fail("has a key without a value"));
    for (Ref &item : items)
      if (item->kind == Kind::List || item->kind == Kind::Dict || item->kind == Kind::Tuple)
        if (++nested > maxValues || item == stack.back()) return void(fail("holds itself"));
    auto &into = stack.back()->items;
    into.insert(into.end(), items.begin(), items.end());
  }
  void remember(uint64_t slot) {
    if (stack.empty() || slot > maxValues) return void(fail("remembers nothing"));
    memo[slot] = stack.back();
  }
  void recall(uint64_t slot) {
    auto found = memo.find(slot);
    if (found == memo.end()) return void(fail("recalls what it has not remembered"));
    stack.push_back(found->second);
  }
  void global(const std::string &module, const std::string &name) {
    std::string full = module + " " + name;
    for (std::string_view known : functions)
      if (full == known) return void(push(Kind::Global, 0, full));
    for (const StorageName &row : storageNames)
      if (full == row.name) {
        if (Ref value = push(Kind::Global, 0, full)) value->type = row.type;
        return;
      }
    fail("mentions " + module + "." + name + ", which a file of plain tensors has no need of");
  }
  void persistent() {
    // ('storage', torch.FloatStorage, key, device, elements)
    Ref id = pop();
    if (!id || id->kind != Kind::Tuple || id->items.size() != 5 || id->items[0]->text != "storage" ||
        id->items[1]->type == ScalarType::Unknown || id->items[2]->kind != Kind::Text)
      return void(fail("has an unknown persistent id"));
    if (Ref value = push(Kind::Storage, 0, id->items[2]->text)) value->type = id->items[1]->type;
  }
  std::optional<std::vector<int64_t>> sizes(const Ref &value) {
    if (value->kind != Kind::Tuple || value->items.size() > 16) return std::nullopt;
    std::vector<int64_t> result;
    for (const Ref &item : value->items) {
      if (item->kind != Kind::Int || item->integer < 0) return std::nullopt;
      result.push_back(item->integer);
    }
    return result;
  }
  void reduce() {
    Ref arguments = pop(), function = pop();
    if (!arguments || !function) return;
    if (arguments->kind != Kind::Tuple || function->kind != Kind::Global)
      return void(fail("calls what is not a function"));
    auto &a = arguments->items;
    if (function->text == functions[0] && a.empty()) return void(push(Kind::Dict));
    if (function->text == functions[2] && !a.empty() && a[0]->kind == Kind::Tensor) return void(stack.push_back(a[0]));
    if (function->text != functions[1] || a.size() < 4 || a[0]->kind != Kind::Storage || a[1]->kind != Kind::Int ||
        a[1]->integer < 0)
      return void(fail("calls " + function->text + " in an unknown way"));
    auto shape = sizes(a[2]), strides = sizes(a[3]);
    if (!shape || !strides || shape->size() != strides->size()) return void(fail("has a tensor with bad sizes"));
    Ref tensor = push(Kind::Tensor);
    if (tensor) tensor->tensor = {a[0]->text, a[0]->type, *shape, *strides, a[1]->integer};
  }
  void step(unsigned char opcode) {
    switch (opcode) {
    case 0x80: take(1); return;
    case 0x95: take(8); return;
    case '(': push(Kind::Mark); return;
    case '}': push(Kind::Dict); return;
    case ']': push(Kind::List); return;
    case ')': push(Kind::Tuple); return;
    case 'N': push(Kind::None); return;
    case 0x88: push(Kind::Bool, 1); return;
    case 0x89: push(Kind::Bool, 0); return;
    case 'K': push(Kind::Int, int64_t(number(1))); return;
    case 'M': push(Kind::Int, int64_t(number(2))); return;
    case 'J': push(Kind::Int, int32_t(number(4))); return;
    case 0x8a: {
      size_t n = size_t(number(1));
      if (n > 8) return void(fail("has an integer beyond 64 bits"));
      uint64_t value = number(n);
      if (n > 0 && n < 8 && (value >> (8 * n - 1)) != 0) value |= ~uint64_t(0) << (8 * n);
      push(Kind::Int, int64_t(value));
      return;
    }
    case 'G':
      take(8);
      push(Kind::Float);
      return;
    case 'X': text(4); return;
    case 0x8c: text(1); return;
    case 'q': remember(number(1)); return;
    case 'r': remember(number(4)); return;
    case 0x94: remember(memo.size()); return;
    case 'h': recall(number(1)); return;
    case 'j': recall(number(4)); return;
    case 'c': {
      std::string module = line(), name = line();
      if (error.empty()) global(module, name);
      return;
    }
    case 0x93: {
      Ref name = pop(), module = pop();
      if (name && module) global(module->text, name->text);
      return;
    }
    case 't': {
      auto items = toMark();
      if (Ref value = push(Kind::Tuple)) value->items = std::move(items);
      return;
    }
    case 0x85: tuple(1); return;
    case 0x86: tuple(2); return;
    case 0x87: tuple(3); return;
    case 'Q': persistent(); return;
    case 'R': reduce(); return;
    case 'b': pop(); return; // The attributes of an OrderedDict (_metadata) mean nothing here.
    case 's': {
      Ref value = pop(), key = pop();
      if (value && key) extend(Kind::Dict, {key, value});
      return;
    }
    case 'u': extend(Kind::Dict, toMark()); return;
    case 'a':
      if (Ref value = pop()) extend(Kind::List, {value});
      return;
    case 'e': extend(Kind::List, toMark()); return;
    default: fail("has the opcode " + std::to_string(opcode) + ", which a file of plain tensors has no need of");
    }
  }
  void text(size_t lengthBytes) {
    uint64_t length = number(lengthBytes);
    std::string_view part = take(length);
    if (error.empty()) push(Kind::Text, 0, std::string(part));
  }

  std::string_view bytes;
  size_t at = 0, made = 0, nested = 0;
  std::vector<Ref> stack;
  std::unordered_map<uint64_t, Ref> memo;
};

} // namespace

io::Result<std::map<std::string, Payload>> unpickleTensors(std::string_view bytes) {
  Machine machine(bytes);
  Ref root = machine.run();
  if (!root) return io::Error{"the pickled table of tensors " + machine.error};
  if (root->kind != Value::Kind::Dict) return io::Error{"the pickled table of tensors is not a dictionary"};
  std::map<std::string, Payload> tensors;
  for (size_t i = 0; i + 1 < root->items.size(); i += 2) {
    const Ref &key = root->items[i], &value = root->items[i + 1];
    if (key->kind != Value::Kind::Text) return io::Error{"the pickled table of tensors has a key that is not text"};
    if (value->kind == Value::Kind::Tensor) tensors[key->text] = value->tensor;
  }
  return tensors;
}

} // namespace stator::torch_export
