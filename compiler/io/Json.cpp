// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/io/Json.h"
#include <iterator>
#include <vector>

namespace stator::io {
namespace {

/// Reads the text and counts the lines of what has been taken.
class CountingIterator {
public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  CountingIterator() = default;
  CountingIterator(const char *at, size_t *line) : at(at), line(line) {}
  reference operator*() const { return *at; }
  CountingIterator &operator++() {
    *line += *at == '\n';
    ++at;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator &other) const { return at == other.at; }
  bool operator!=(const CountingIterator &other) const { return at != other.at; }

private:
  const char *at = nullptr;
  size_t *line = nullptr;
};

/// Builds the document while it watches the limits; nlohmann's parser itself is iterative.
class LimitedBuilder final : public nlohmann::json_sax<Json> {
public:
  explicit LimitedBuilder(JsonLimits limits) : limits(limits) {}

  Json root;
  std::string error;
  /// Of the text that has been taken.
  size_t line = 1;

  bool null() override { return place(nullptr); }
  bool boolean(bool value) override { return place(value); }
  bool number_integer(number_integer_t value) override { return place(value); }
  bool number_unsigned(number_unsigned_t value) override { return place(value); }
  bool number_float(number_float_t value, const string_t &text) override {
    // The lexer falls back to a double where an integer does not fit 64 bits.
    if (text.find_first_of(".eE") == string_t::npos)
      return fail("the integer " + text.substr(0, 40) + " does not fit 64 bits");
    return place(value);
  }
  bool string(string_t &value) override { return place(std::move(value)); }
  bool binary(binary_t &) override { return fail("binary data is not JSON"); }
  bool start_object(std::size_t) override {
    if (!open(Json::object())) return false;
    if (limits.lines) (*open_.back())[jsonLineKey] = line;
    return true;
  }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t &value) override {
    auto [slot, isNew] = open_.back()->get_ref<Json::object_t &>().emplace(value, nullptr);
    if (!isNew)
      return fail("line " + std::to_string(line) + ": the key \"" + value.substr(0, 80) +
                  "\" stands twice in one object");
    member = &slot->second;
    return true;
  }
  bool parse_error(std::size_t position, const std::string &, const Json::exception &e) override {
    std::string reason = e.what();
    // Drop the library's own prefix "[json.exception.parse_error.101] parse error at line 1, column 2: ".
    if (size_t colon = reason.find(": "); colon != std::string::npos) reason.erase(0, colon + 2);
    return fail("line " + std::to_string(line) + ", byte " + std::to_string(position) + ": " + reason.substr(0, 200));
  }

private:
  bool fail(std::string text) {
    if (error.empty()) error = std::move(text);
    return false;
  }
  Json *add(Json value) {
    if (++values > limits.values) {
      fail("more than " + std::to_string(limits.values) + " values");
      return nullptr;
    }
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    if (open_.back()->is_array()) {
      auto &array = open_.back()->get_ref<Json::array_t &>();
      array.push_back(std::move(value));
      return &array.back();
    }
    *member = std::move(value);
    return member;
  }
  bool place(Json value) { return add(std::move(value)) != nullptr; }
  bool open(Json container) {
    if (open_.size() >= limits.depth) return fail("nested deeper than " + std::to_string(limits.depth) + " levels");
    Json *added = add(std::move(container));
    if (added) open_.push_back(added);
    return added;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  JsonLimits limits;
  size_t values = 0;
  /// The containers around the next value. A parent never grows while a child is open, so the pointers stay good.
  std::vector<Json *> open_;
  Json *member = nullptr;
};

} // namespace

Result<Json> parseJson(std::string_view text, const std::string &what, JsonLimits limits) {
  LimitedBuilder builder(limits);
  CountingIterator begin(text.data(), &builder.line), end(text.data() + text.size(), &builder.line);
  bool good = Json::sax_parse(begin, end, &builder);
  if (!good) return Error{what + " is not acceptable JSON: " + (builder.error.empty() ? "malformed" : builder.error)};
  return std::move(builder.root);
}

} // namespace stator::io
