// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-ptx/Argument.h"

#include <cmath>
#include <cstring>

namespace stator::ptxtool {

using sim::sizeOf;
using sim::Type;

namespace {

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

class Parser {
public:
  explicit Parser(const std::string &text) : text(text) {
    std::string spec = text;
    size_t equals = text.find('='), colon = text.find(':');
    if (equals != std::string::npos && equals < colon) {
      argument.name = text.substr(0, equals);
      spec = text.substr(equals + 1);
    }
    rest = spec.find(':') == std::string::npos ? "" : spec.substr(spec.find(':') + 1);
    fields = split(spec, ':');
  }

  Argument run() {
    const std::string &kind = fields[0];
    if (elementNamed(kind) != Type::none) return number();
    if (kind == "zeros" || kind == "ones" || kind == "iota" || kind == "undefined" || kind == "fill" ||
        kind == "random")
      return filled(kind);
    if (kind == "list") return list();
    if (kind == "file") {
      std::string name = argument.name;
      argument = readNpy(rest);
      argument.name = name;
      return argument;
    }
    if (kind == "same") return same();
    if (kind == "bytes") return bytes();
    fail("'" + kind + "' is neither a type nor zeros, ones, undefined, iota, fill, random, list, file, same, bytes");
  }

private:
  [[noreturn]] void fail(const std::string &what) { throw UsageError("argument '" + text + "': " + what); }

  uint64_t whole(const std::string &field, uint64_t most) {
    uint64_t value = 0;
    if (field.empty() || field[0] == '-' || !parseElement(Type::u64, field, value) || value > most)
      fail("'" + field + "' is not a number up to " + std::to_string(most));
    return value;
  }
  uint64_t element(Type type, const std::string &field) {
    uint64_t bits = 0;
    if (!parseElement(type, field, bits)) fail("'" + field + "' is no " + nameOf(type));
    return bits;
  }

  Argument number() {
    if (fields.size() != 2) fail("expected TYPE:NUMBER");
    argument.kind = Argument::Kind::number;
    argument.type = elementNamed(fields[0]);
    argument.bits = element(argument.type, fields[1]);
    return argument;
  }

  void shape(const std::string &field) {
    uint64_t total = sizeOf(argument.type);
    for (const std::string &extent : split(field, 'x')) {
      uint64_t n = whole(extent, kMostBytes);
      if (n == 0) fail("a buffer has at least one element");
      if (n > kMostBytes / total) fail("the buffer is larger than 64 GiB");
      total *= n;
      argument.shape.push_back(n);
    }
  }

  void put(size_t index, uint64_t bits) {
    unsigned size = sizeOf(argument.type);
    std::memcpy(argument.data.data() + index * size, &bits, size);
  }

  Argument filled(const std::string &kind) {
    argument.kind = Argument::Kind::buffer;
    size_t at = 1;
    if (fields.size() > at && elementNamed(fields[at]) != Type::none) argument.type = elementNamed(fields[at++]);
    size_t extra = kind == "fill" ? 1 : kind == "random" ? 1 : 0;
    bool ranged = kind == "random" && fields.size() == at + 4;
    if (fields.size() != at + 1 + extra + (ranged ? 2 : 0))
      fail(kind == "random" ? "expected random[:TYPE]:SHAPE:SEED[:LOW:HIGH]"
           : kind == "fill" ? "expected fill[:TYPE]:SHAPE:NUMBER"
                            : "expected " + kind + "[:TYPE]:SHAPE");
    shape(fields[at]);
    if (kind == "undefined") {
      argument.defined = false;
      return argument;
    }
    size_t count = argument.count();
    argument.data.resize(count * sizeOf(argument.type));
    if (kind == "random")
      random(whole(fields[at + 1], ~uint64_t{0}), ranged ? fields[at + 2] : "", ranged ? fields[at + 3] : "");
    else if (kind == "iota")
      for (size_t i = 0; i < count; ++i) put(i, encodeElement(argument.type, static_cast<double>(i)));
    else if (kind != "zeros") {
      uint64_t bits = kind == "ones" ? encodeElement(argument.type, 1) : element(argument.type, fields[at + 1]);
      for (size_t i = 0; i < count; ++i) put(i, bits);
    }
    return argument;
  }

  /// Floating types: uniform in [low, high), by default [-1, 1). Integers: low to high inclusive, by default any value.
  void random(uint64_t seed, const std::string &low, const std::string &high) {
    Type type = argument.type;
    bool real = sim::isFloat(type);
    double from = -1, to = 1;
    uint64_t base = 0, span = 0;
    if (!low.empty() && real) {
      from = decodeFloat(type, element(type, low));
      to = decodeFloat(type, element(type, high));
      if (!(from < to) || !std::isfinite(to - from)) fail("the range is empty");
    } else if (!low.empty()) {
      base = element(type, low);
      uint64_t top = element(type, high);
      unsigned shift = 64 - 8 * sizeOf(type);
      auto extend = [&](uint64_t v) {
        return sim::isSigned(type) ? static_cast<uint64_t>(static_cast<int64_t>(v << shift) >> shift) : v;
      };
      bool ordered =
          sim::isSigned(type) ? static_cast<int64_t>(extend(base)) <= static_cast<int64_t>(extend(top)) : base <= top;
      if (!ordered) fail("the range is empty");
      span = extend(top) - extend(base) + 1;
    }
    uint64_t state = seed;
    for (size_t i = 0; i < argument.count(); ++i) {
      // SplitMix64: every seed gives a good sequence.
      uint64_t z = state += 0x9e3779b97f4a7c15u;
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
      z = (z ^ z >> 27) * 0x94d049bb133111ebu;
      z ^= z >> 31;
      if (real)
        put(i, encodeElement(type, from + (to - from) * (static_cast<double>(z >> 11) * 0x1p-53)));
      else
        put(i, span ? base + z % span : z);
    }
  }

  Argument list() {
    argument.kind = Argument::Kind::buffer;
    size_t at = 1;
    if (fields.size() > at && elementNamed(fields[at]) != Type::none) argument.type = elementNamed(fields[at++]);
    if (fields.size() != at + 1) fail("expected list:TYPE:A,B,..");
    auto items = split(fields[at], ',');
    argument.shape = {items.size()};
    argument.data.resize(items.size() * sizeOf(argument.type));
    for (size_t i = 0; i < items.size(); ++i) put(i, element(argument.type, items[i]));
    return argument;
  }

  Argument same() {
    if (fields.size() < 2 || fields.size() > 3) fail("expected same:INDEX[:BYTES]");
    argument.kind = Argument::Kind::same;
    argument.other = whole(fields[1], 1000);
    argument.offset = fields.size() == 3 ? whole(fields[2], kMostBytes) : 0;
    return argument;
  }

  Argument bytes() {
    argument.kind = Argument::Kind::bytes;
    if (rest.empty() || rest.size() % 2 || rest.size() > 2 * 4096)
      fail("expected an even number of hexadecimal digits");
    for (size_t i = 0; i < rest.size(); i += 2) {
      if (rest.find_first_not_of("0123456789abcdefABCDEF", i) < i + 2) fail("expected hexadecimal digits");
      argument.data.push_back(static_cast<uint8_t>(std::stoul(rest.substr(i, 2), nullptr, 16)));
    }
    return argument;
  }

  const std::string &text;
  std::string rest;
  std::vector<std::string> fields;
  Argument argument;
};

} // namespace

Argument parseArgument(const std::string &text) { return Parser(text).run(); }

} // namespace stator::ptxtool
