// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on numbers that a file supplied.
#ifndef STATOR_COMPILER_IO_CHECKEDI64_H
#define STATOR_COMPILER_IO_CHECKEDI64_H

#include <cstdint>
#include <optional>

namespace stator::io {

/// An int64 that remembers whether any operation on the way left the range. Compute first, ask once at the end.
class CheckedI64 {
public:
  constexpr CheckedI64(int64_t value = 0) : number(value) {}
  /// The number, or nothing once an operation overflowed.
  constexpr std::optional<int64_t> value() const { return bad ? std::nullopt : std::optional<int64_t>(number); }

  friend CheckedI64 operator+(CheckedI64 a, CheckedI64 b) {
    CheckedI64 r;
    r.bad = __builtin_add_overflow(a.number, b.number, &r.number) || a.bad || b.bad;
    return r;
  }
  friend CheckedI64 operator-(CheckedI64 a, CheckedI64 b) {
    CheckedI64 r;
    r.bad = __builtin_sub_overflow(a.number, b.number, &r.number) || a.bad || b.bad;
    return r;
  }
  friend CheckedI64 operator*(CheckedI64 a, CheckedI64 b) {
    CheckedI64 r;
    r.bad = __builtin_mul_overflow(a.number, b.number, &r.number) || a.bad || b.bad;
    return r;
  }
  CheckedI64 &operator+=(CheckedI64 b) { return *this = *this + b; }
  CheckedI64 &operator*=(CheckedI64 b) { return *this = *this * b; }

private:
  int64_t number;
  bool bad = false;
};

} // namespace stator::io

#endif // STATOR_COMPILER_IO_CHECKEDI64_H
