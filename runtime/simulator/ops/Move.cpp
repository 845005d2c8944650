// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mov with its packing and unpacking forms, and address conversion.
#include "runtime/simulator/AddressSpace.h"
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/ops/Lanes.h"

namespace stator::sim::STATOR_SIM_LEVEL {

namespace {

struct U128 {
  uint64_t low, high;
};
struct Same {
  template <class T> T operator()(T a) const { return a; }
};

void movePredicate(Warp &w, const Instr &i, uint32_t mask) {
  uint32_t a = w.predicate(i.a) ^ (i.negated & 1 ? kAllLanes : 0);
  keepPredicate(w, i.d, a, mask, w.poison[i.a.poison]);
}

/// List of parts to one register: the first part is the lowest.
void pack(Warp &w, const Instr &i, uint32_t mask) {
  unsigned bytes = i.registerBytes, part = bytes / i.listCount;
  uint8_t *d = w.data + i.d.data;
  uint32_t undefined = 0;
  uint8_t out[16 * kLanes];
  for (unsigned k = 0; k < i.listCount; ++k) {
    Slot slot = w.kernel.slots[i.list + k];
    const uint8_t *a = w.data + slot.data;
    for (unsigned l = 0; l < kLanes; ++l) std::memcpy(out + bytes * l + part * k, a + part * l, part);
    undefined |= w.poison[slot.poison];
  }
  for (unsigned l = 0; l < kLanes; ++l)
    if (mask & kBit[l]) std::memcpy(d + bytes * l, out + bytes * l, bytes);
  w.define(i.d, mask, undefined);
}

void unpack(Warp &w, const Instr &i, uint32_t mask) {
  unsigned bytes = i.registerBytes, part = bytes / i.listCount;
  uint8_t from[16 * kLanes];
  std::memcpy(from, w.data + i.a.data, bytes * kLanes);
  uint32_t undefined = w.poison[i.a.poison];
  for (unsigned k = 0; k < i.listCount; ++k) {
    Slot slot = w.kernel.slots[i.list + k];
    uint8_t *d = w.data + slot.data;
    for (unsigned l = 0; l < kLanes; ++l)
      if (mask & kBit[l]) std::memcpy(d + part * l, from + bytes * l + part * k, part);
    w.define(slot, mask, undefined);
  }
}

template <class T> Execute mover() { return unary<T, Same>; }

void decodeMove(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  using Kind = ptx::Operand::Kind;
  decoder.expectOperands(s, 2, 2);
  const ptx::Operand &to = s.operands[0], &from = s.operands[1];
  unsigned bytes = sizeOf(instr.mods.types[0]);
  instr.registerBytes = static_cast<uint8_t>(bytes);
  if (to.kind == Kind::vector || from.kind == Kind::vector) {
    const ptx::Operand &parts = to.kind == Kind::vector ? to : from;
    size_t count = parts.parts.size();
    if ((count != 2 && count != 4) || bytes / count == 0) decoder.fail("a vector of 2 or 4 elements is expected");
    std::vector<Slot> slots;
    for (const ptx::Operand &part : parts.parts)
      slots.push_back(to.kind == Kind::vector ? decoder.destination(part, bytes / static_cast<unsigned>(count))
                                              : decoder.source(part, bytes / static_cast<unsigned>(count)));
    if (to.kind == Kind::vector)
      instr.a = decoder.source(from, bytes);
    else
      instr.d = decoder.destination(to, bytes);
    decoder.list(instr, slots);
    instr.execute = to.kind == Kind::vector ? unpack : pack;
    return;
  }
  using Number = Decoder::Number;
  Type type = instr.mods.types[0];
  instr.d = decoder.destination(to, bytes);
  instr.a = decoder.source(from, bytes,
                           type == Type::f32   ? Number::f32
                           : type == Type::f64 ? Number::f64
                                               : Number::integer);
  instr.execute = bytes == 2   ? mover<uint16_t>()
                  : bytes == 4 ? mover<uint32_t>()
                  : bytes == 8 ? mover<uint64_t>()
                               : mover<U128>();
}

/// cvta: between a state space and generic addresses.
template <bool To, class T> void cvta(Warp &w, const Instr &i, uint32_t mask) {
  auto window = static_cast<T>(windowOf(i.mods.space));
  map1<T, T>(w, i, mask, [window](T a) { return To ? static_cast<T>(a - window) : static_cast<T>(a + window); });
}

template <Space Which> void isspacep(Warp &w, const Instr &i, uint32_t mask) {
  const auto *a = w.lanes<uint64_t>(i.a);
  uint32_t value = bits([&](unsigned l) {
    Space s = spaceOf(a[l]);
    return s == Which || (Which == Space::shared && s == Space::sharedCluster);
  });
  keepPredicate(w, i.d, value, mask, w.poison[i.a.poison]);
}

constexpr OpClass kMove = OpClass::move;

} // namespace

STATOR_SIM_ROWS(moveRows, {"mov.pred", "pp", movePredicate, kMove},
                {"mov.b16|u16|s16|f16|bf16|b32|u32|s32|f32|b64|u64|s64|f64|b128", nullptr, unary<uint32_t, Same>, kMove,
                 decodeMove},
                {"cvta.global|shared|shared::cta|shared::cluster|local|const|param|param::entry.u64", "dd",
                 cvta<false, uint64_t>, kMove},
                {"cvta.to.global|shared|shared::cta|shared::cluster|local|const|param|param::entry.u64", "dd",
                 cvta<true, uint64_t>, kMove},
                {"isspacep.global", "pd", isspacep<Space::global>, kMove},
                {"isspacep.shared|shared::cta", "pd", isspacep<Space::shared>, kMove},
                {"isspacep.shared::cluster", "pd", isspacep<Space::sharedCluster>, kMove},
                {"isspacep.local", "pd", isspacep<Space::local>, kMove},
                {"isspacep.param", "pd", isspacep<Space::param>, kMove})

} // namespace stator::sim::STATOR_SIM_LEVEL
