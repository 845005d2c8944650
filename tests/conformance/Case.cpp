// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/conformance/Case.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace stator::conformance {

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

[[noreturn]] static void malformed(const std::string &signature, const llvm::Twine &why) {
  llvm::report_fatal_error(llvm::Twine("conformance table: '") + signature + "': " + why);
}

/// `name[dims]:element{low..high}` from the front of `text`.
static Slot takeSlot(StringRef &text, const std::string &element, const std::string &signature) {
  Slot slot;
  text = text.ltrim();
  slot.name = text.take_until([](char c) { return c == '['; }).str();
  text = text.drop_front(slot.name.size());
  if (!text.consume_front("[")) malformed(signature, "expected '['");
  size_t end = text.find(']');
  if (end == StringRef::npos) malformed(signature, "expected ']'");
  // Commas inside parentheses belong to an expression: min(n, 3).
  std::string dim;
  int depth = 0;
  for (char c : text.take_front(end)) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && !depth) {
      slot.dims.push_back(StringRef(dim).trim().str());
      dim.clear();
    } else {
      dim += c;
    }
  }
  if (!StringRef(dim).trim().empty()) slot.dims.push_back(StringRef(dim).trim().str());
  text = text.drop_front(end + 1);
  slot.element = element;
  if (text.consume_front(":")) {
    slot.element = text.take_while(llvm::isAlnum).str();
    text = text.drop_front(slot.element.size());
  }
  if (text.consume_front("{")) {
    auto [range, rest] = text.split('}');
    auto [low, high] = range.split("..");
    slot.range.emplace();
    if (low.getAsDouble(slot.range->first) || high.getAsDouble(slot.range->second))
      malformed(signature, "expected {low..high}");
    text = rest;
  }
  text = text.ltrim();
  text.consume_front(",");
  text = text.ltrim();
  return slot;
}

static Type elementType(MLIRContext &context, const std::string &name) {
  Type type = parseType(name, &context);
  if (!type) llvm::report_fatal_error(llvm::Twine("conformance table: no element type '") + name + "'");
  return type;
}

static SmallVector<graph::DimExpr> dimsOf(MLIRContext &context, const Slot &slot) {
  SmallVector<graph::DimExpr> dims;
  for (const std::string &dim : slot.dims) {
    std::string error;
    graph::DimExpr expr = graph::DimExpr::parse(&context, dim, error);
    if (!expr) llvm::report_fatal_error(llvm::Twine("conformance table: dimension '") + dim + "': " + error);
    dims.push_back(expr);
  }
  return dims;
}

static std::string typeText(MLIRContext &context, const Slot &slot) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << graph::tensorOf(dimsOf(context, slot), elementType(context, slot.element));
  return text;
}

Case makeCase(MLIRContext &context, const Row &row, const Form &form, const std::string &element,
              const std::string &name) {
  Case c;
  c.name = name;
  c.op = row.op;
  c.element = element;
  c.tolerance = row.tolerance;
  c.fill = row.fill;
  StringRef rest = form.signature;
  while (!rest.consume_front("->")) {
    if (rest.empty()) malformed(form.signature, "expected '->'");
    c.inputs.push_back(takeSlot(rest, element, form.signature));
  }
  rest = rest.ltrim();
  while (!rest.empty() && !rest.starts_with("where")) c.results.push_back(takeSlot(rest, element, form.signature));
  std::map<std::string, std::string, std::greater<>> names; // Longer names first where one begins another.
  names["E"] = element;
  if (rest.consume_front("where"))
    for (rest = rest.ltrim(); !rest.empty();) {
      Slot slot = takeSlot(rest, element, form.signature);
      names[slot.name] = typeText(context, slot);
    }
  std::string arguments, results, values, returned;
  for (auto [i, slot] : llvm::enumerate(c.inputs)) {
    names[slot.name] = typeText(context, slot);
    arguments += (i ? ", %" : "%") + slot.name + ": " + names[slot.name];
    for (graph::DimExpr dim : dimsOf(context, slot))
      dim.forEachSymbol([&](StringRef symbol) {
        if (!llvm::is_contained(c.symbols, symbol)) c.symbols.push_back(symbol.str());
      });
  }
  for (auto [i, slot] : llvm::enumerate(c.results)) {
    std::string type = names[std::to_string(i)] = typeText(context, slot);
    results += (i ? ", " : "") + type;
    values += (i ? ", %" : "%") + (!slot.name.empty()     ? slot.name
                                   : c.results.size() > 1 ? "r#" + std::to_string(i)
                                                          : "r");
  }
  std::string body;
  for (StringRef at = form.body; !at.empty();) {
    auto [plain, tail] = at.split('$');
    body += plain;
    at = tail;
    if (plain.size() == form.body.size() || tail.empty()) continue;
    bool found = false;
    for (auto &[key, type] : names)
      if ((found = at.consume_front(key))) {
        body += type;
        break;
      }
    if (!found) malformed(form.signature, "no type for '$" + at.take_front(8) + "' in the body");
  }
  c.sizes = form.sizes;
  if (c.symbols.empty())
    c.sizes = {{}};
  else if (c.sizes.empty()) {
    const int64_t pool[] = {0, 1, 5, 33, 130};
    for (size_t k = 0; k < std::size(pool); ++k) {
      c.sizes.emplace_back();
      for (size_t j = 0; j < c.symbols.size(); ++j) c.sizes.back().push_back(pool[(k + j) % std::size(pool)]);
    }
  }
  std::string symbols;
  // Symbols of results only are data-dependent: the body binds them.
  for (const Slot &slot : c.results)
    for (graph::DimExpr dim : dimsOf(context, slot))
      dim.forEachSymbol([&](StringRef symbol) {
        std::string declaration = ("#graph.symbol<\"" + symbol + "\", 0, 100000>").str();
        if (!llvm::is_contained(c.symbols, symbol) && symbols.find(declaration) == std::string::npos)
          symbols += (symbols.empty() ? "" : ", ") + declaration;
      });
  for (auto [j, symbol] : llvm::enumerate(c.symbols)) {
    int64_t low = INT64_MAX;
    for (auto &sizes : c.sizes) low = std::min(low, sizes.at(j));
    symbols +=
        (symbols.empty() ? "" : ", ") + ("#graph.symbol<\"" + symbol + "\", " + std::to_string(low) + ", 100000>");
  }
  c.text = "func.func @" + name + "(" + arguments + ") -> (" + results + ")" +
           (symbols.empty() ? "" : " attributes {graph.symbols = [" + symbols + "]}") + " {\n" + body + "\nreturn " +
           values + " : " + results + "\n}\n";
  return c;
}

std::vector<Case> expand(MLIRContext &context, const Row &row) {
  std::vector<Case> cases;
  for (const std::string &element : row.elements)
    for (auto [i, form] : llvm::enumerate(row.forms))
      cases.push_back(makeCase(context, row, form, element, row.op + "_" + element + "_" + std::to_string(i)));
  return cases;
}

static std::vector<double> floatPool(const std::string &element) {
  std::vector<double> pool = {0.0,  -0.0, 1,        -1,        0.1, 0.5, 1.5, 2.5,
                              -0.5, -2.5, INFINITY, -INFINITY, NAN, 3,   -7,  0.3333333432674408};
  auto add = [&](std::initializer_list<double> values) { pool.insert(pool.end(), values); };
  if (element == "f16")
    add({65504, -65504, 6e-8, 0x1p-14, 2049, 11.5, -10});
  else if (element == "bf16")
    add({3.3895e38, 256, 257, 3.14, 0x1p-133, 88, 89, -104});
  else if (element == "f64")
    add({0x1p-1074, 0x1p-1022, 1.7976931348623157e308, -1e300, 709.5, 710, -746, 0x1p52 + 1, 0x1p53, 1e20});
  else if (element == "f8E4M3FN")
    add({448, 0x1p-9, 0x1p-6, 17});
  else if (element == "f8E5M2")
    add({57344, 0x1p-16, 0x1p-14, 17});
  else
    add({0x1p-149, 1.17e-38, 3.4e38, -3.4e38, 88, 89, -88, -89, -104, 8388607, 8388609, 16777216, 1e20, 80, -20.25});
  return pool;
}

static int64_t integerOf(size_t i) {
  static const int64_t pool[] = {0,
                                 1,
                                 -1,
                                 INT64_MIN,
                                 INT64_MAX,
                                 INT64_MAX - 1,
                                 127,
                                 128,
                                 255,
                                 INT32_MAX,
                                 int64_t(INT32_MAX) + 1,
                                 -7,
                                 7,
                                 3,
                                 -3,
                                 (int64_t(1) << 53) + 1,
                                 2,
                                 -128,
                                 -32768,
                                 5,
                                 INT32_MIN};
  return pool[i % std::size(pool)];
}

static void fill(HostTensor &tensor, const Case &c, const Slot &slot, size_t number, unsigned seed) {
  uint32_t state = seed * 2654435761u + uint32_t(number) * 40503u + 12345u;
  auto unit = [&] {
    state = state * 1664525u + 1013904223u;
    return double(state >> 8) / double(1 << 24);
  };
  bool isBool = tensor.elementType.isInteger(1), isUnsigned = tensor.elementType.isUnsignedInteger();
  std::vector<double> pool = floatPool(slot.element);
  size_t period = tensor.isFloat() ? pool.size() : 21;
  for (int64_t i = 0, n = tensor.size(); i < n; ++i) {
    if (slot.range) {
      auto [low, high] = *slot.range;
      if (tensor.isFloat())
        tensor.setDouble(i, low + unit() * (high - low));
      else
        tensor.setInt(i, int64_t(low) + int64_t(unit() * (high - low + 1)));
      continue;
    }
    if (isBool) {
      tensor.setInt(i, unit() < 0.5);
      continue;
    }
    switch (c.fill) {
    case Fill::Special: {
      // Operand j steps through its pool once for each round of the one before it: a long tensor meets every pair.
      size_t step = number == 0 ? i : number == 1 ? i / period : i * 7 + i / period;
      size_t at = (step + seed + number * 3) % period;
      if (tensor.isFloat())
        tensor.setDouble(i, pool[at]);
      else
        tensor.setInt(i, integerOf(at));
      // The extremes of narrow types, which the wide ones wrap to 0 or -1 in.
      if (!tensor.isFloat() && elementBytes(tensor.elementType) < 8 && (at == 3 || at == 4 || at == 5)) {
        int64_t bits = 8 * elementBytes(tensor.elementType);
        int64_t top = isUnsigned ? (int64_t(1) << bits) - 1 : (int64_t(1) << (bits - 1)) - 1;
        tensor.setInt(i, at == 3 ? top + 1 : at == 4 ? top : top - 1);
      }
      break;
    }
    case Fill::Integers: {
      double value = std::floor(unit() * 9) - 4;
      if (isUnsigned) value = std::fabs(value);
      tensor.isFloat() ? tensor.setDouble(i, value) : tensor.setInt(i, int64_t(value));
      break;
    }
    case Fill::Powers: {
      static const double powers[] = {1, -1, 2, 0.5, 1, 1};
      double value = powers[size_t(unit() * 6)];
      tensor.isFloat() ? tensor.setDouble(i, value) : tensor.setInt(i, value == 0.5 ? 1 : int64_t(value));
      break;
    }
    case Fill::Random: {
      double value = unit() * 4 - 2;
      tensor.isFloat() ? tensor.setDouble(i, value) : tensor.setInt(i, int64_t(value * 50));
      break;
    }
    }
  }
}

std::vector<HostTensor> inputsOf(MLIRContext &context, const Case &c, const std::map<std::string, int64_t> &sizes,
                                 unsigned seed) {
  if (!c.knownResults.empty()) return c.knownInputs;
  std::vector<HostTensor> inputs;
  for (auto [number, slot] : llvm::enumerate(c.inputs)) {
    SmallVector<int64_t> shape;
    for (graph::DimExpr dim : dimsOf(context, slot))
      shape.push_back(*dim.evaluate([&](StringRef name) { return std::optional<int64_t>(sizes.at(name.str())); }));
    inputs.emplace_back(elementType(context, slot.element), shape);
    fill(inputs.back(), c, slot, number, seed);
  }
  return inputs;
}

} // namespace stator::conformance
