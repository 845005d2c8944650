// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic. Signed results wrap, so everything is computed unsigned where the sign does not matter.
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/ops/Lanes.h"

#include <limits>

namespace stator::sim::STATOR_SIM_LEVEL {

namespace {

template <class T> struct WidenOf;
template <> struct WidenOf<uint16_t> {
  using type = uint32_t;
};
template <> struct WidenOf<int16_t> {
  using type = int32_t;
};
template <> struct WidenOf<uint32_t> {
  using type = uint64_t;
};
template <> struct WidenOf<int32_t> {
  using type = int64_t;
};
template <> struct WidenOf<uint64_t> {
  using type = unsigned __int128;
};
template <> struct WidenOf<int64_t> {
  using type = __int128;
};
template <class T> using Widen = typename WidenOf<T>::type;

struct Add {
  template <class T> T operator()(T a, T b) const { return static_cast<T>(a + b); }
};
struct Sub {
  template <class T> T operator()(T a, T b) const { return static_cast<T>(a - b); }
};
struct MulLo {
  template <class T> T operator()(T a, T b) const { return static_cast<T>(T{1} * a * b); }
};
template <class T> T mulHi(T a, T b) { return static_cast<T>((Widen<T>(a) * Widen<T>(b)) >> (sizeof(T) * 8)); }
struct MulHi {
  template <class T> T operator()(T a, T b) const { return mulHi(a, b); }
};
struct MadLo {
  template <class T> T operator()(T a, T b, T c) const { return static_cast<T>(T{1} * a * b + c); }
};
struct MadHi {
  template <class T> T operator()(T a, T b, T c) const {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(mulHi(a, b)) + static_cast<U>(c)));
  }
};
struct Min {
  template <class T> T operator()(T a, T b) const { return b < a ? b : a; }
};
struct Max {
  template <class T> T operator()(T a, T b) const { return a < b ? b : a; }
};
struct Negate {
  template <class T> T operator()(T a) const { return static_cast<T>(T{0} - a); }
};
/// abs of the smallest integer is itself.
template <class T> struct Abs {
  T operator()(T a) const { return static_cast<std::make_signed_t<T>>(a) < 0 ? static_cast<T>(T{0} - a) : a; }
};

/// 16-bit products are computed in 32 bits to stay clear of signed promotion.
struct MulLo16 {
  uint16_t operator()(uint16_t a, uint16_t b) const { return static_cast<uint16_t>(uint32_t{a} * b); }
};
struct MadLo16 {
  uint16_t operator()(uint16_t a, uint16_t b, uint16_t c) const { return static_cast<uint16_t>(uint32_t{a} * b + c); }
};

template <class T> void mulWide(Warp &w, const Instr &i, uint32_t mask) {
  map2<Widen<T>, T, T>(w, i, mask, [](T a, T b) { return static_cast<Widen<T>>(Widen<T>(a) * Widen<T>(b)); });
}
template <class T> void madWide(Warp &w, const Instr &i, uint32_t mask) {
  using U = std::make_unsigned_t<Widen<T>>;
  map3<U, T, T, U>(w, i, mask,
                   [](T a, T b, U c) { return static_cast<U>(static_cast<U>(Widen<T>(a) * Widen<T>(b)) + c); });
}

void addSat(Warp &w, const Instr &i, uint32_t mask) {
  map2<int32_t, int32_t, int32_t>(w, i, mask, [](int32_t a, int32_t b) {
    int64_t sum = int64_t{a} + b;
    return static_cast<int32_t>(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  });
}
void subSat(Warp &w, const Instr &i, uint32_t mask) {
  map2<int32_t, int32_t, int32_t>(w, i, mask, [](int32_t a, int32_t b) {
    int64_t sum = int64_t{a} - b;
    return static_cast<int32_t>(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  });
}
void madHiSat(Warp &w, const Instr &i, uint32_t mask) {
  map3<int32_t, int32_t, int32_t, int32_t>(w, i, mask, [](int32_t a, int32_t b, int32_t c) {
    int64_t sum = int64_t{mulHi(a, b)} + c;
    return static_cast<int32_t>(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  });
}

/// Division by zero and INT_MIN / -1 give unspecified values: those lanes become undefined.
template <class T, bool Remainder> void divide(Warp &w, const Instr &i, uint32_t mask) {
  const T *a = w.lanes<T>(i.a), *b = w.lanes<T>(i.b);
  T out[kLanes];
  uint32_t undefined = w.poison[i.a.poison] | w.poison[i.b.poison];
  for (unsigned l = 0; l < kLanes; ++l) {
    bool overflow = std::is_signed_v<T> && b[l] == static_cast<T>(-1) && a[l] == std::numeric_limits<T>::min();
    out[l] = 0;
    if (b[l] == 0 || overflow)
      undefined |= kBit[l];
    else
      out[l] = Remainder ? static_cast<T>(a[l] % b[l]) : static_cast<T>(a[l] / b[l]);
  }
  keep(w.lanes<T>(i.d), out, mask);
  w.define(i.d, mask, undefined);
}

/// 24-bit multiplication: the low 24 bits of each source, bits 47..16 (hi) or 31..0 (lo) of the product.
template <bool Signed> int64_t product24(uint32_t a, uint32_t b) {
  if (!Signed) return static_cast<int64_t>(uint64_t{a & 0xffffff} * (b & 0xffffff));
  return int64_t{static_cast<int32_t>(a << 8) >> 8} * (static_cast<int32_t>(b << 8) >> 8);
}
template <bool Signed, bool High> void mul24(Warp &w, const Instr &i, uint32_t mask) {
  map2<uint32_t, uint32_t, uint32_t>(w, i, mask, [](uint32_t a, uint32_t b) {
    int64_t p = product24<Signed>(a, b);
    return static_cast<uint32_t>(High ? p >> 16 : p);
  });
}
template <bool Signed, bool High> void mad24(Warp &w, const Instr &i, uint32_t mask) {
  map3<uint32_t, uint32_t, uint32_t, uint32_t>(w, i, mask, [](uint32_t a, uint32_t b, uint32_t c) {
    int64_t p = product24<Signed>(a, b);
    return static_cast<uint32_t>(High ? p >> 16 : p) + c;
  });
}

/// |a - b| + c
template <class T> void sad(Warp &w, const Instr &i, uint32_t mask) {
  using U = std::make_unsigned_t<T>;
  map3<U, T, T, U>(w, i, mask, [](T a, T b, U c) {
    return static_cast<U>((a < b ? static_cast<U>(b) - static_cast<U>(a) : static_cast<U>(a) - static_cast<U>(b)) + c);
  });
}

// Extended-precision chains. The carry is a register of each lane that no instruction names; the decoder gives it
// a predicate's slot, which is the first of the instruction's list.
void decodeCarry(Decoder &decoder, const ptx::Statement &, Instr &instr) { decoder.list(instr, {decoder.carry()}); }

enum CarryUse : uint32_t { kIn = 1, kOut = 2 };

template <class T, bool Subtract, uint32_t Use> void carryAdd(Warp &w, const Instr &i, uint32_t mask) {
  const T *a = w.lanes<T>(i.a), *b = w.lanes<T>(i.b);
  Slot carry = w.kernel.slots[i.list];
  uint32_t in = w.predicate(carry), out = in;
  T result[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    T c = Use & kIn ? (in >> l & 1) : 0;
    T sum = Subtract ? static_cast<T>(a[l] - b[l] - c) : static_cast<T>(a[l] + b[l] + c);
    // Subtraction: the flag holds the borrow.
    bool carries = Subtract ? (a[l] < b[l] || (c && a[l] == b[l])) : (sum < a[l] || (c && sum == a[l]));
    result[l] = sum;
    if (mask & kBit[l]) out = carries ? out | kBit[l] : out & ~kBit[l];
  }
  uint32_t undefined = w.poison[i.a.poison] | w.poison[i.b.poison] | (Use & kIn ? w.poison[carry.poison] : 0);
  keep(w.lanes<T>(i.d), result, mask);
  w.define(i.d, mask, undefined);
  if (Use & kOut) {
    w.predicate(carry) = out;
    w.define(carry, mask, undefined);
  }
}

template <class T, bool High, uint32_t Use> void carryMad(Warp &w, const Instr &i, uint32_t mask) {
  using U = std::make_unsigned_t<T>;
  const T *a = w.lanes<T>(i.a), *b = w.lanes<T>(i.b);
  const U *c = w.lanes<U>(i.c);
  Slot carry = w.kernel.slots[i.list];
  uint32_t in = w.predicate(carry), out = in;
  U result[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    U product = High ? static_cast<U>(mulHi(a[l], b[l])) : static_cast<U>(static_cast<U>(a[l]) * static_cast<U>(b[l]));
    U cin = Use & kIn ? (in >> l & 1) : 0;
    U sum = product + c[l] + cin;
    bool carries = sum < product || (cin && sum == product);
    result[l] = sum;
    if (mask & kBit[l]) out = carries ? out | kBit[l] : out & ~kBit[l];
  }
  uint32_t undefined =
      w.poison[i.a.poison] | w.poison[i.b.poison] | w.poison[i.c.poison] | (Use & kIn ? w.poison[carry.poison] : 0);
  keep(w.lanes<U>(i.d), result, mask);
  w.define(i.d, mask, undefined);
  if (Use & kOut) {
    w.predicate(carry) = out;
    w.define(carry, mask, undefined);
  }
}

constexpr OpClass kInt = OpClass::integer;

} // namespace

STATOR_SIM_ROWS(
    integerRows, {"add.u16|s16", "hhh", binary<uint16_t, Add>, kInt},
    {"add.u32|s32", "www", binary<uint32_t, Add>, kInt}, {"add.u64|s64", "ddd", binary<uint64_t, Add>, kInt},
    {"add.sat.s32", "www", addSat, kInt}, {"sub.u16|s16", "hhh", binary<uint16_t, Sub>, kInt},
    {"sub.u32|s32", "www", binary<uint32_t, Sub>, kInt}, {"sub.u64|s64", "ddd", binary<uint64_t, Sub>, kInt},
    {"sub.sat.s32", "www", subSat, kInt}, {"mul.lo.u16|s16", "hhh", binary<uint16_t, MulLo16>, kInt},
    {"mul.lo.u32|s32", "www", binary<uint32_t, MulLo>, kInt}, {"mul.lo.u64|s64", "ddd", binary<uint64_t, MulLo>, kInt},
    {"mul.hi.u16", "hhh", binary<uint16_t, MulHi>, kInt}, {"mul.hi.s16", "hhh", binary<int16_t, MulHi>, kInt},
    {"mul.hi.u32", "www", binary<uint32_t, MulHi>, kInt}, {"mul.hi.s32", "www", binary<int32_t, MulHi>, kInt},
    {"mul.hi.u64", "ddd", binary<uint64_t, MulHi>, kInt}, {"mul.hi.s64", "ddd", binary<int64_t, MulHi>, kInt},
    {"mul.wide.u16", "whh", mulWide<uint16_t>, kInt}, {"mul.wide.s16", "whh", mulWide<int16_t>, kInt},
    {"mul.wide.u32", "dww", mulWide<uint32_t>, kInt}, {"mul.wide.s32", "dww", mulWide<int32_t>, kInt},
    {"mad.lo.u16|s16", "hhhh", ternary<uint16_t, MadLo16>, kInt},
    {"mad.lo.u32|s32", "wwww", ternary<uint32_t, MadLo>, kInt},
    {"mad.lo.u64|s64", "dddd", ternary<uint64_t, MadLo>, kInt}, {"mad.hi.u16", "hhhh", ternary<uint16_t, MadHi>, kInt},
    {"mad.hi.s16", "hhhh", ternary<int16_t, MadHi>, kInt}, {"mad.hi.u32", "wwww", ternary<uint32_t, MadHi>, kInt},
    {"mad.hi.s32", "wwww", ternary<int32_t, MadHi>, kInt}, {"mad.hi.sat.s32", "wwww", madHiSat, kInt},
    {"mad.hi.u64", "dddd", ternary<uint64_t, MadHi>, kInt}, {"mad.hi.s64", "dddd", ternary<int64_t, MadHi>, kInt},
    {"mad.wide.u16", "whhw", madWide<uint16_t>, kInt}, {"mad.wide.s16", "whhw", madWide<int16_t>, kInt},
    {"mad.wide.u32", "dwwd", madWide<uint32_t>, kInt}, {"mad.wide.s32", "dwwd", madWide<int32_t>, kInt},
    {"mul24.lo.u32", "www", mul24<false, false>, kInt}, {"mul24.lo.s32", "www", mul24<true, false>, kInt},
    {"mul24.hi.u32", "www", mul24<false, true>, kInt}, {"mul24.hi.s32", "www", mul24<true, true>, kInt},
    {"mad24.lo.u32", "wwww", mad24<false, false>, kInt}, {"mad24.lo.s32", "wwww", mad24<true, false>, kInt},
    {"mad24.hi.u32", "wwww", mad24<false, true>, kInt}, {"mad24.hi.s32", "wwww", mad24<true, true>, kInt},
    {"sad.u16", "hhhh", sad<uint16_t>, kInt}, {"sad.s16", "hhhh", sad<int16_t>, kInt},
    {"sad.u32", "wwww", sad<uint32_t>, kInt}, {"sad.s32", "wwww", sad<int32_t>, kInt},
    {"sad.u64", "dddd", sad<uint64_t>, kInt}, {"sad.s64", "dddd", sad<int64_t>, kInt},
    {"div.u16", "hhh", divide<uint16_t, false>, kInt}, {"div.s16", "hhh", divide<int16_t, false>, kInt},
    {"div.u32", "www", divide<uint32_t, false>, kInt}, {"div.s32", "www", divide<int32_t, false>, kInt},
    {"div.u64", "ddd", divide<uint64_t, false>, kInt}, {"div.s64", "ddd", divide<int64_t, false>, kInt},
    {"rem.u16", "hhh", divide<uint16_t, true>, kInt}, {"rem.s16", "hhh", divide<int16_t, true>, kInt},
    {"rem.u32", "www", divide<uint32_t, true>, kInt}, {"rem.s32", "www", divide<int32_t, true>, kInt},
    {"rem.u64", "ddd", divide<uint64_t, true>, kInt}, {"rem.s64", "ddd", divide<int64_t, true>, kInt},
    {"abs.s16", "hh", unary<uint16_t, Abs<uint16_t>>, kInt}, {"abs.s32", "ww", unary<uint32_t, Abs<uint32_t>>, kInt},
    {"abs.s64", "dd", unary<uint64_t, Abs<uint64_t>>, kInt}, {"neg.s16", "hh", unary<uint16_t, Negate>, kInt},
    {"neg.s32", "ww", unary<uint32_t, Negate>, kInt}, {"neg.s64", "dd", unary<uint64_t, Negate>, kInt},
    {"min.u16", "hhh", binary<uint16_t, Min>, kInt}, {"min.s16", "hhh", binary<int16_t, Min>, kInt},
    {"min.u32", "www", binary<uint32_t, Min>, kInt}, {"min.s32", "www", binary<int32_t, Min>, kInt},
    {"min.u64", "ddd", binary<uint64_t, Min>, kInt}, {"min.s64", "ddd", binary<int64_t, Min>, kInt},
    {"max.u16", "hhh", binary<uint16_t, Max>, kInt}, {"max.s16", "hhh", binary<int16_t, Max>, kInt},
    {"max.u32", "www", binary<uint32_t, Max>, kInt}, {"max.s32", "www", binary<int32_t, Max>, kInt},
    {"max.u64", "ddd", binary<uint64_t, Max>, kInt}, {"max.s64", "ddd", binary<int64_t, Max>, kInt},
    {"add.cc.u32|s32", "www", carryAdd<uint32_t, false, kOut>, kInt, decodeCarry},
    {"add.cc.u64|s64", "ddd", carryAdd<uint64_t, false, kOut>, kInt, decodeCarry},
    {"addc.u32|s32", "www", carryAdd<uint32_t, false, kIn>, kInt, decodeCarry},
    {"addc.u64|s64", "ddd", carryAdd<uint64_t, false, kIn>, kInt, decodeCarry},
    {"addc.cc.u32|s32", "www", carryAdd<uint32_t, false, kIn | kOut>, kInt, decodeCarry},
    {"addc.cc.u64|s64", "ddd", carryAdd<uint64_t, false, kIn | kOut>, kInt, decodeCarry},
    {"sub.cc.u32|s32", "www", carryAdd<uint32_t, true, kOut>, kInt, decodeCarry},
    {"sub.cc.u64|s64", "ddd", carryAdd<uint64_t, true, kOut>, kInt, decodeCarry},
    {"subc.u32|s32", "www", carryAdd<uint32_t, true, kIn>, kInt, decodeCarry},
    {"subc.u64|s64", "ddd", carryAdd<uint64_t, true, kIn>, kInt, decodeCarry},
    {"subc.cc.u32|s32", "www", carryAdd<uint32_t, true, kIn | kOut>, kInt, decodeCarry},
    {"subc.cc.u64|s64", "ddd", carryAdd<uint64_t, true, kIn | kOut>, kInt, decodeCarry},
    {"mad.lo.cc.u32|s32", "wwww", carryMad<uint32_t, false, kOut>, kInt, decodeCarry},
    {"mad.lo.cc.u64|s64", "dddd", carryMad<uint64_t, false, kOut>, kInt, decodeCarry},
    {"mad.hi.cc.u32", "wwww", carryMad<uint32_t, true, kOut>, kInt, decodeCarry},
    {"mad.hi.cc.s32", "wwww", carryMad<int32_t, true, kOut>, kInt, decodeCarry},
    {"mad.hi.cc.u64", "dddd", carryMad<uint64_t, true, kOut>, kInt, decodeCarry},
    {"mad.hi.cc.s64", "dddd", carryMad<int64_t, true, kOut>, kInt, decodeCarry},
    {"madc.lo.u32|s32", "wwww", carryMad<uint32_t, false, kIn>, kInt, decodeCarry},
    {"madc.lo.u64|s64", "dddd", carryMad<uint64_t, false, kIn>, kInt, decodeCarry},
    {"madc.hi.u32", "wwww", carryMad<uint32_t, true, kIn>, kInt, decodeCarry},
    {"madc.hi.s32", "wwww", carryMad<int32_t, true, kIn>, kInt, decodeCarry},
    {"madc.hi.u64", "dddd", carryMad<uint64_t, true, kIn>, kInt, decodeCarry},
    {"madc.hi.s64", "dddd", carryMad<int64_t, true, kIn>, kInt, decodeCarry},
    {"madc.lo.cc.u32|s32", "wwww", carryMad<uint32_t, false, kIn | kOut>, kInt, decodeCarry},
    {"madc.lo.cc.u64|s64", "dddd", carryMad<uint64_t, false, kIn | kOut>, kInt, decodeCarry},
    {"madc.hi.cc.u32", "wwww", carryMad<uint32_t, true, kIn | kOut>, kInt, decodeCarry},
    {"madc.hi.cc.s32", "wwww", carryMad<int32_t, true, kIn | kOut>, kInt, decodeCarry},
    {"madc.hi.cc.u64", "dddd", carryMad<uint64_t, true, kIn | kOut>, kInt, decodeCarry},
    {"madc.hi.cc.s64", "dddd", carryMad<int64_t, true, kIn | kOut>, kInt, decodeCarry})

} // namespace stator::sim::STATOR_SIM_LEVEL
