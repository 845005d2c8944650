// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packed integers: two halves (add, min and max of u16x2 and s16x2, the video instructions v*2) or four bytes (v*4).
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/Warp.h"
#include "runtime/simulator/ops/Tables.h"

#include <algorithm>
#include <cstdlib>

namespace stator::sim {

namespace {

enum class Op { add, sub, avrg, absdiff, min, max, setEq, setNe, setLt, setLe, setGt, setGe };

/// Instr::tag: the operation, then flags.
constexpr uint32_t kOpMask = 0xff, kFour = 1u << 8, kSignedA = 1u << 9, kSignedB = 1u << 10, kSignedD = 1u << 11,
                   kSaturate = 1u << 12, kAccumulate = 1u << 13, kRelu = 1u << 14;

int64_t apply(Op op, int64_t a, int64_t b) {
  switch (op) {
  case Op::add: return a + b;
  case Op::sub: return a - b;
  case Op::avrg: return (a + b + (a + b >= 0)) >> 1; // halves round away from zero
  case Op::absdiff: return std::llabs(a - b);
  case Op::min: return std::min(a, b);
  case Op::max: return std::max(a, b);
  case Op::setEq: return a == b;
  case Op::setNe: return a != b;
  case Op::setLt: return a < b;
  case Op::setLe: return a <= b;
  case Op::setGt: return a > b;
  default: return a >= b;
  }
}

void packed(Warp &w, const Instr &i, uint32_t mask) {
  const auto *a = w.lanes<uint32_t>(i.a), *b = w.lanes<uint32_t>(i.b), *c = w.lanes<uint32_t>(i.c);
  auto *d = w.lanes<uint32_t>(i.d);
  auto op = static_cast<Op>(i.tag & kOpMask);
  unsigned bits = i.tag & kFour ? 8 : 16;
  int64_t ones = (int64_t{1} << bits) - 1, sign = int64_t{1} << (bits - 1);
  int64_t least = i.tag & kSignedD ? -sign : 0, most = i.tag & kSignedD ? sign - 1 : ones;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1)) continue;
    int64_t sum = static_cast<int32_t>(c[l]);
    uint32_t result = 0;
    for (unsigned at = 0; at < 32; at += bits) {
      auto part = [&](uint32_t word, bool isSignedPart) {
        int64_t v = word >> at & ones;
        return isSignedPart && (v & sign) ? v - ones - 1 : v;
      };
      int64_t v = apply(op, part(a[l], i.tag & kSignedA), part(b[l], i.tag & kSignedB));
      if (i.tag & kSaturate) v = std::clamp(v, least, most);
      if (i.tag & kRelu) v = std::max<int64_t>(v, 0);
      sum += v;
      result |= static_cast<uint32_t>(v & ones) << at;
    }
    d[l] = i.tag & kAccumulate ? static_cast<uint32_t>(sum) : result;
  }
  w.define(i.d, mask, w.poison[i.a.poison] | w.poison[i.b.poison] | (i.tag & kAccumulate ? w.poison[i.c.poison] : 0));
}

Op opNamed(std::string_view name) {
  if (name == "add") return Op::add;
  if (name == "sub") return Op::sub;
  if (name == "avrg") return Op::avrg;
  if (name == "absdiff") return Op::absdiff;
  return name == "min" ? Op::min : Op::max;
}

/// vOP2 and vOP4: d, a, b, c; without `.add` c only fills the parts that a mask leaves out, and here none is.
void decodeVideo(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 4, 4);
  std::string name = s.opcode.substr(1, s.opcode.size() - 2);
  bool set = name == "set";
  if (set) {
    static constexpr std::pair<Compare, Op> compares[] = {{Compare::eq, Op::setEq}, {Compare::ne, Op::setNe},
                                                          {Compare::lt, Op::setLt}, {Compare::le, Op::setLe},
                                                          {Compare::gt, Op::setGt}, {Compare::ge, Op::setGe}};
    for (auto [compare, op] : compares)
      if (compare == instr.mods.compare) instr.tag = static_cast<uint32_t>(op);
  } else {
    instr.tag = static_cast<uint32_t>(opNamed(name));
  }
  if (s.opcode.back() == '4') instr.tag |= kFour;
  unsigned first = set ? 0 : 1; // a comparison's result has no type
  if (isSigned(instr.mods.types[first])) instr.tag |= kSignedA;
  if (isSigned(instr.mods.types[first + 1])) instr.tag |= kSignedB;
  if (!set && isSigned(instr.mods.types[0])) instr.tag |= kSignedD;
  if (instr.mods.sat) instr.tag |= kSaturate;
  if (s.modifiers.back() == "add") instr.tag |= kAccumulate;
  instr.d = decoder.destination(s.operands[0], 4);
  instr.a = decoder.source(s.operands[1], 4);
  instr.b = decoder.source(s.operands[2], 4);
  instr.c = decoder.source(s.operands[3], 4);
}

void decodePair(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 3, 3);
  instr.tag = static_cast<uint32_t>(opNamed(s.opcode));
  if (isSigned(instr.mods.types[0])) instr.tag |= kSignedA | kSignedB | kSignedD;
  if (instr.mods.sat) instr.tag |= kSaturate;
  if (instr.mods.relu) instr.tag |= kRelu;
  instr.d = decoder.destination(s.operands[0], 4);
  instr.a = decoder.source(s.operands[1], 4);
  instr.b = decoder.source(s.operands[2], 4);
}

constexpr OpClass kInteger = OpClass::integer;
#define STATOR_SIM_VIDEO(name)                                                                                         \
  {"v" name "2.u32|s32.u32|s32.u32|s32.sat?.add?", nullptr, packed, kInteger, decodeVideo}, {                          \
    "v" name "4.u32|s32.u32|s32.u32|s32.sat?.add?", nullptr, packed, kInteger, decodeVideo                             \
  }

const Row kRows[] = {
    STATOR_SIM_VIDEO("add"),
    STATOR_SIM_VIDEO("sub"),
    STATOR_SIM_VIDEO("avrg"),
    STATOR_SIM_VIDEO("absdiff"),
    STATOR_SIM_VIDEO("min"),
    STATOR_SIM_VIDEO("max"),
    {"vset2.u32|s32.u32|s32.eq|ne|lt|le|gt|ge.add?", nullptr, packed, kInteger, decodeVideo},
    {"vset4.u32|s32.u32|s32.eq|ne|lt|le|gt|ge.add?", nullptr, packed, kInteger, decodeVideo},
    {"add.sat?.u16x2|s16x2", nullptr, packed, kInteger, decodePair},
    {"sub.sat?.u16x2|s16x2", nullptr, packed, kInteger, decodePair},
    {"min.relu?.s16x2|u16x2", nullptr, packed, kInteger, decodePair},
    {"max.relu?.s16x2|u16x2", nullptr, packed, kInteger, decodePair},
    {"min.s16x2.relu", nullptr, packed, kInteger, decodePair},
    {"max.s16x2.relu", nullptr, packed, kInteger, decodePair},
};

} // namespace

Rows videoRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
