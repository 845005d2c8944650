// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/ptx/Declarations.h"

#include <cstring>

namespace stator::sim::ptx {

namespace {

// No real variable is larger; refusing here keeps sizes far from overflow.
constexpr uint64_t kLargestVariable = uint64_t{1} << 40;
constexpr uint64_t kLargestInitialiser = uint64_t{1} << 31;

uint64_t parseAlign(Cursor &cursor) {
  int64_t align = cursor.expectInteger("an alignment");
  if (align <= 0 || align > 65536 || (align & (align - 1))) cursor.fail("alignment is not a power of two up to 65536");
  return static_cast<uint64_t>(align);
}

struct Shape {
  Type type = Type::none;
  uint64_t align = 0, vector = 1;
};

Shape parseShape(Cursor &cursor) {
  Shape shape;
  for (;;) {
    if (cursor.acceptDot("align")) {
      shape.align = parseAlign(cursor);
    } else if (cursor.acceptDot("v2")) {
      shape.vector = 2;
    } else if (cursor.acceptDot("v4")) {
      shape.vector = 4;
    } else if (cursor.acceptDot("ptr")) {
      // `.ptr .global .align N` tells what a pointer parameter points to; nothing depends on it here.
      if (cursor.peek().kind == TokenKind::dotWord && spaceNamed(cursor.peek().text) != Space::generic) cursor.take();
      if (cursor.acceptDot("align")) parseAlign(cursor);
    } else if (cursor.acceptDot("attribute")) {
      cursor.expect('(');
      while (!cursor.accept(')')) {
        if (cursor.peek().kind == TokenKind::end) cursor.fail("attribute list is not closed");
        cursor.take();
      }
    } else if (cursor.peek().kind == TokenKind::dotWord) {
      std::string_view word = cursor.peek().text;
      Type type = typeNamed(word);
      if (word == "texref" || word == "samplerref" || word == "surfref") type = Type::b64;
      if (type == Type::none || shape.type != Type::none) cursor.fail("unexpected ." + std::string(word));
      shape.type = type;
      cursor.take();
    } else {
      break;
    }
  }
  if (shape.type == Type::none) cursor.fail("expected a type");
  return shape;
}

uint64_t parseDimensions(Cursor &cursor, bool &unsized) {
  uint64_t count = 1;
  while (cursor.accept('[')) {
    if (cursor.accept(']')) {
      unsized = true;
      continue;
    }
    int64_t n = cursor.expectInteger("an array size");
    if (n < 0 || static_cast<uint64_t>(n) > kLargestVariable ||
        (n && count > kLargestVariable / static_cast<uint64_t>(n)))
      cursor.fail("array is too large");
    count *= static_cast<uint64_t>(n);
    cursor.expect(']');
  }
  return count;
}

void appendBits(Variable &variable, uint64_t bits, unsigned bytes, const Cursor &cursor) {
  if (variable.init.size() + bytes > kLargestInitialiser) cursor.fail("initialiser is too large");
  for (unsigned i = 0; i < bytes; ++i) variable.init.push_back(static_cast<uint8_t>(i < 8 ? bits >> (8 * i) : 0));
}

/// One scalar of an initialiser: a number, `symbol`, `symbol+4`, `generic(symbol)+4`.
void parseScalarInit(Cursor &cursor, Variable &variable) {
  unsigned bytes = sizeOf(variable.type);
  bool minus = cursor.accept('-');
  const Token &token = cursor.peek();
  if (token.kind == TokenKind::integer) {
    cursor.take();
    if (cursor.peek().is('(')) cursor.fail("masked address initialisers are not supported");
    appendBits(variable, minus ? -token.bits : token.bits, bytes, cursor);
    return;
  }
  if (token.kind == TokenKind::float32 || token.kind == TokenKind::float64) {
    cursor.take();
    uint64_t bits = token.bits;
    if (token.kind == TokenKind::float64 && variable.type == Type::f32) {
      double wide;
      std::memcpy(&wide, &bits, 8);
      auto narrow = static_cast<float>(minus ? -wide : wide);
      uint32_t half;
      std::memcpy(&half, &narrow, 4);
      bits = half;
    } else if (minus) {
      bits ^= uint64_t{1} << (token.kind == TokenKind::float32 ? 31 : 63);
    }
    appendBits(variable, bits, bytes, cursor);
    return;
  }
  if (token.kind != TokenKind::word || minus)
    cursor.fail("expected an initial value, found " + Cursor::describe(token));
  Relocation reloc{variable.init.size(), bytes, "", 0, false};
  if (token.text == "generic" && cursor.peek(1).is('(')) {
    cursor.take();
    cursor.take();
    reloc.generic = true;
    reloc.symbol = cursor.expectWord("a symbol");
    cursor.expect(')');
  } else {
    reloc.symbol = cursor.expectWord("a symbol");
  }
  if (cursor.accept('+'))
    reloc.addend = cursor.expectInteger("an offset");
  else if (cursor.peek().is('-'))
    reloc.addend = cursor.expectInteger("an offset");
  variable.relocations.push_back(reloc);
  appendBits(variable, 0, bytes, cursor);
}

void parseInit(Cursor &cursor, Variable &variable) {
  if (!cursor.peek().is('{')) return parseScalarInit(cursor, variable);
  // Nested braces flatten: PTX has no partial inner rows in what compilers emit.
  int depth = 0;
  do {
    if (cursor.accept('{'))
      ++depth;
    else if (cursor.accept('}'))
      --depth;
    else if (!cursor.accept(','))
      parseScalarInit(cursor, variable);
    if (cursor.peek().kind == TokenKind::end) cursor.fail("initialiser is not closed");
  } while (depth > 0);
}

} // namespace

std::vector<Variable> parseVariables(Cursor &cursor, Space space) {
  Shape shape = parseShape(cursor);
  std::vector<Variable> variables;
  do {
    Variable variable;
    variable.space = space;
    variable.type = shape.type;
    variable.line = cursor.line();
    variable.name = cursor.expectWord("a variable name");
    uint64_t element = sizeOf(shape.type) * shape.vector;
    if (element == 0) cursor.fail("variables of this type are not allowed");
    variable.align = shape.align ? shape.align : element;
    uint64_t count = parseDimensions(cursor, variable.unsized);
    if (count > kLargestVariable / element) cursor.fail("variable is too large");
    variable.bytes = variable.unsized ? 0 : count * element;
    if (cursor.accept('=')) {
      parseInit(cursor, variable);
      if (variable.unsized) {
        variable.bytes = variable.init.size();
        variable.unsized = false;
      }
      if (variable.init.size() > variable.bytes) cursor.fail("initialiser has more elements than the variable");
    }
    variables.push_back(std::move(variable));
  } while (cursor.accept(','));
  cursor.expect(';');
  return variables;
}

Param parseParam(Cursor &cursor, bool &isRegister) {
  isRegister = cursor.peek().isDot("reg");
  if (!isRegister && !cursor.peek().isDot("param")) cursor.fail("expected .param or .reg");
  cursor.take();
  Shape shape = parseShape(cursor);
  Param param;
  param.type = shape.type;
  // Prototypes may write `_` for a name.
  param.name = cursor.expectWord("a parameter name");
  bool unsized = false;
  uint64_t element = sizeOf(shape.type) * shape.vector;
  uint64_t count = parseDimensions(cursor, unsized);
  if (element && count > 65536 / element) cursor.fail("parameter is too large");
  param.bytes = unsized ? 0 : element * count;
  param.align = shape.align ? shape.align : (element ? element : 1);
  return param;
}

std::vector<Param> parseParams(Cursor &cursor, std::vector<bool> &isRegister) {
  std::vector<Param> params;
  cursor.expect('(');
  uint64_t at = 0;
  while (!cursor.accept(')')) {
    if (!params.empty()) cursor.expect(',');
    bool reg = false;
    Param param = parseParam(cursor, reg);
    param.offset = at = (at + param.align - 1) / param.align * param.align;
    at += param.bytes;
    if (at > 65536) cursor.fail("parameters take more than 64 KiB");
    params.push_back(param);
    isRegister.push_back(reg);
  }
  return params;
}

} // namespace stator::sim::ptx
