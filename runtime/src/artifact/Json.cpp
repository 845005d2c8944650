// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/artifact/Json.h"

#include "runtime/src/Failure.h"

#include <algorithm>
#include <charconv>

namespace stator::runtime {
namespace {

constexpr int maxDepth = 128;

class Parser {
public:
  Parser(std::string_view text, const char *what) : text(text), what(what) {}

  Json document() {
    Json result = parseValue(0);
    skipSpace();
    if (position != text.size()) error("unexpected bytes after the end");
    return result;
  }

private:
  [[noreturn]] void error(const char *problem) const {
    fail(STATOR_BAD_ARTIFACT, "%s: %s at byte %zu", what, problem, position);
  }

  void skipSpace() {
    while (position < text.size() &&
           (text[position] == ' ' || text[position] == '\n' || text[position] == '\t' || text[position] == '\r'))
      ++position;
  }

  bool accept(char c) {
    skipSpace();
    if (position >= text.size() || text[position] != c) return false;
    ++position;
    return true;
  }

  void expect(char c, const char *problem) {
    if (!accept(c)) error(problem);
  }

  bool acceptWord(std::string_view word) {
    if (text.substr(position, word.size()) != word) return false;
    position += word.size();
    return true;
  }

  Json parseValue(int depth) {
    if (depth > maxDepth) error("nesting is too deep");
    skipSpace();
    if (position >= text.size()) error("unexpected end");
    Json result;
    char c = text[position];
    if (c == '{')
      result.value = parseObject(depth);
    else if (c == '[')
      result.value = parseArray(depth);
    else if (c == '"')
      result.value = parseString();
    else if (c == '-' || (c >= '0' && c <= '9'))
      result.value = parseInteger();
    else if (acceptWord("true"))
      result.value = true;
    else if (acceptWord("false"))
      result.value = false;
    else if (!acceptWord("null"))
      error("not a JSON value");
    return result;
  }

  Json::Array parseArray(int depth) {
    Json::Array result;
    expect('[', "expected '['");
    if (accept(']')) return result;
    do result.push_back(parseValue(depth + 1));
    while (accept(','));
    expect(']', "expected ',' or ']'");
    return result;
  }

  Json::Object parseObject(int depth) {
    Json::Object result;
    expect('{', "expected '{'");
    if (accept('}')) return result;
    do {
      skipSpace();
      std::string key = parseString();
      expect(':', "expected ':'");
      result.emplace_back(std::move(key), parseValue(depth + 1));
    } while (accept(','));
    expect('}', "expected ',' or '}'");
    refuseDuplicates(result);
    return result;
  }

  void refuseDuplicates(const Json::Object &object) const {
    std::vector<std::string_view> keys;
    keys.reserve(object.size());
    for (const Json::Member &member : object) keys.push_back(member.first);
    std::sort(keys.begin(), keys.end());
    auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice != keys.end())
      fail(STATOR_BAD_ARTIFACT, "%s: key '%.*s' stands twice in one object", what,
           int(std::min<size_t>(twice->size(), 100)), twice->data());
  }

  int64_t parseInteger() {
    size_t digits = position + (text[position] == '-');
    if (digits + 1 < text.size() && text[digits] == '0' && text[digits + 1] >= '0' && text[digits + 1] <= '9')
      error("a number with leading zeros");
    int64_t result = 0;
    auto [end, code] = std::from_chars(text.data() + position, text.data() + text.size(), result);
    if (code == std::errc::result_out_of_range) error("an integer beyond 64 bits");
    if (code != std::errc()) error("not a number");
    position = end - text.data();
    if (position < text.size() && (text[position] == '.' || text[position] == 'e' || text[position] == 'E'))
      error("numbers must be integers");
    return result;
  }

  unsigned parseHex() {
    unsigned result = 0;
    if (text.size() - position < 4) error("unexpected end");
    auto [end, code] = std::from_chars(text.data() + position, text.data() + position + 4, result, 16);
    if (code != std::errc() || end != text.data() + position + 4) error("bad \\u escape");
    position += 4;
    return result;
  }

  void appendEscape(std::string &out) {
    if (position >= text.size()) error("unexpected end");
    static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    char c = text[position++];
    if (size_t which = from.find(c); which != from.npos) {
      out += to[which];
      return;
    }
    if (c != 'u') error("bad escape");
    unsigned code = parseHex();
    if (code >= 0xD800 && code < 0xDC00) {
      if (!acceptWord("\\u")) error("lone surrogate");
      unsigned low = parseHex();
      if (low < 0xDC00 || low > 0xDFFF) error("lone surrogate");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
      error("lone surrogate");
    }
    if (code < 0x80) {
      out += char(code);
    } else if (code < 0x800) {
      out += char(0xC0 | code >> 6);
      out += char(0x80 | (code & 63));
    } else if (code < 0x10000) {
      out += char(0xE0 | code >> 12);
      out += char(0x80 | (code >> 6 & 63));
      out += char(0x80 | (code & 63));
    } else {
      out += char(0xF0 | code >> 18);
      out += char(0x80 | (code >> 12 & 63));
      out += char(0x80 | (code >> 6 & 63));
      out += char(0x80 | (code & 63));
    }
  }

  std::string parseString() {
    if (position >= text.size() || text[position] != '"') error("expected a string");
    ++position;
    std::string result;
    while (true) {
      if (position >= text.size()) error("unexpected end");
      char c = text[position++];
      if (c == '"') return result;
      if (static_cast<unsigned char>(c) < 0x20) error("control character in a string");
      if (c == '\\')
        appendEscape(result);
      else
        result += c;
    }
  }

  std::string_view text;
  const char *what;
  size_t position = 0;
};

[[noreturn]] void wrongKind(const char *what, const char *kind) {
  fail(STATOR_BAD_ARTIFACT, "manifest: '%s' must be %s", what, kind);
}

} // namespace

Json Json::parse(std::string_view text, const char *what) { return Parser(text, what).document(); }

int64_t Json::integer(const char *what) const {
  if (const int64_t *result = std::get_if<int64_t>(&value)) return *result;
  wrongKind(what, "an integer");
}

int64_t Json::integer(const char *what, int64_t low, int64_t high) const {
  int64_t result = integer(what);
  if (result < low || result > high)
    fail(STATOR_BAD_ARTIFACT, "manifest: '%s' is %lld, not within %lld..%lld", what, (long long)result, (long long)low,
         (long long)high);
  return result;
}

bool Json::boolean(const char *what) const {
  if (const bool *result = std::get_if<bool>(&value)) return *result;
  wrongKind(what, "true or false");
}

const std::string &Json::string(const char *what) const {
  if (const std::string *result = std::get_if<std::string>(&value)) return *result;
  wrongKind(what, "a string");
}

const Json::Array &Json::array(const char *what) const {
  if (const Array *result = std::get_if<Array>(&value)) return *result;
  wrongKind(what, "a list");
}

const Json::Object &Json::object(const char *what) const {
  if (const Object *result = std::get_if<Object>(&value)) return *result;
  wrongKind(what, "an object");
}

const Json *Json::find(std::string_view key) const {
  if (const Object *object = std::get_if<Object>(&value))
    for (const Member &member : *object)
      if (member.first == key) return &member.second;
  return nullptr;
}

const Json &Json::at(const char *key) const {
  if (!isObject()) fail(STATOR_BAD_ARTIFACT, "manifest: an object with '%s' was expected", key);
  if (const Json *member = find(key)) return *member;
  fail(STATOR_BAD_ARTIFACT, "manifest: '%s' is missing", key);
}

} // namespace stator::runtime
