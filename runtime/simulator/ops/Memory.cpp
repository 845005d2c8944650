// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ld and st in all spaces, prefetch and its kin.
#include "runtime/simulator/Access.h"
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/ops/Tables.h"

#include <cstring>

namespace stator::sim {

namespace {

/// Copies one element into a register lane, extended to the register's width.
inline void putLane(uint8_t *reg, unsigned registerBytes, const uint8_t *from, unsigned bytes, bool isSignedType) {
  if (bytes == registerBytes) {
    std::memcpy(reg, from, bytes);
    return;
  }
  uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  if (isSignedType) {
    unsigned shift = 64 - 8 * bytes;
    value = static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
  }
  std::memcpy(reg, &value, registerBytes);
}

/// Lanes whose bytes are not all defined.
uint32_t undefinedLanes(const Places &p, uint32_t bytes) {
  uint32_t out = 0;
  if (p.dense) {
    if (allDefined(p.defined, uint64_t{bytes} * kLanes)) return 0;
    for (unsigned l = 0; l < kLanes; ++l)
      if (!allDefined(p.defined + size_t{bytes} * l, bytes)) out |= 1u << l;
    return out;
  }
  for (unsigned l = 0; l < kLanes; ++l)
    if ((p.ok >> l & 1) && !allDefined(p.laneDefined[l], bytes)) out |= 1u << l;
  return out;
}

template <unsigned Bytes> void copyLanes(uint8_t *reg, const Places &p, size_t offset) {
  for (unsigned l = 0; l < kLanes; ++l)
    if (p.ok >> l & 1) std::memcpy(reg + Bytes * l, p.lane[l] + offset, Bytes);
}

void loadElement(Warp &w, const Instr &i, const Places &p, Slot slot, unsigned element, unsigned stride) {
  uint8_t *reg = w.data + slot.data;
  unsigned bytes = i.bytes, rb = i.registerBytes;
  size_t offset = size_t{element} * bytes;
  bool isSignedType = isSigned(i.mods.types[0]);
  if (bytes == rb) {
    if (p.dense) {
      if (stride == bytes) {
        std::memcpy(reg, p.data, size_t{bytes} * kLanes);
      } else if (bytes == 4) {
        for (unsigned l = 0; l < kLanes; ++l) std::memcpy(reg + 4 * l, p.data + size_t{stride} * l + offset, 4);
      } else {
        for (unsigned l = 0; l < kLanes; ++l)
          std::memcpy(reg + size_t{bytes} * l, p.data + size_t{stride} * l + offset, bytes);
      }
      return;
    }
    switch (bytes) {
    case 1: return copyLanes<1>(reg, p, offset);
    case 2: return copyLanes<2>(reg, p, offset);
    case 4: return copyLanes<4>(reg, p, offset);
    case 8: return copyLanes<8>(reg, p, offset);
    default: return copyLanes<16>(reg, p, offset);
    }
  }
  for (unsigned l = 0; l < kLanes; ++l)
    if (p.ok >> l & 1)
      putLane(reg + size_t{rb} * l, rb, (p.dense ? p.data + size_t{stride} * l : p.lane[l]) + offset, bytes,
              isSignedType);
}

/// Per element of a vector, the lanes whose bytes are not defined.
uint32_t undefinedElement(const Places &p, unsigned element, unsigned bytes, unsigned stride) {
  uint32_t out = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(p.ok >> l & 1)) continue;
    const uint8_t *d = p.dense ? (p.defined ? p.defined + size_t{stride} * l : nullptr) : p.laneDefined[l];
    if (d && !allDefined(d + size_t{element} * bytes, bytes)) out |= 1u << l;
  }
  return out;
}

void load(Warp &w, const Instr &i, uint32_t mask) {
  Access access;
  Places p;
  gatherAddresses(w, i, mask, access);
  resolve(w, i, access, p);
  uint32_t undefined = undefinedLanes(p, access.bytes);
  if (undefined && w.worker.usesAsync)
    if (uint32_t busy = inFlightLanes(p, access)) {
      reportInFlight(w, i, access, p, busy);
      undefined &= ~busy;
    }
  unsigned n = i.mods.vector;
  for (unsigned e = 0; e < n; ++e) {
    Slot slot = n == 1 ? i.d : w.kernel.slots[i.list + e];
    loadElement(w, i, p, slot, e, access.bytes);
    // Lanes that were refused keep their old bits and count as defined: one report is enough.
    w.define(slot, mask, undefined && n > 1 ? undefinedElement(p, e, i.bytes, access.bytes) : undefined);
  }
}

/// Kernel parameters at fixed offsets: the values stand in registers of their own and are copied.
void loadParam(Warp &w, const Instr &i, uint32_t mask) {
  size_t rb = i.registerBytes;
  for (unsigned e = 0; e < i.mods.vector; ++e) {
    Slot to = i.mods.vector == 1 ? i.d : w.kernel.slots[i.list + e];
    const uint8_t *from = w.data + w.kernel.slots[i.tag + e].data;
    uint8_t *reg = w.data + to.data;
    if (mask == kAllLanes)
      std::memcpy(reg, from, rb * kLanes);
    else
      for (unsigned l = 0; l < kLanes; ++l)
        if (mask >> l & 1) std::memcpy(reg + rb * l, from + rb * l, rb);
    w.define(to, mask, 0);
  }
}

template <unsigned Bytes>
void scatterLanes(const uint8_t *reg, unsigned registerBytes, const Places &p, size_t offset) {
  for (unsigned l = 0; l < kLanes; ++l)
    if (p.ok >> l & 1) std::memcpy(p.lane[l] + offset, reg + size_t{registerBytes} * l, Bytes);
}

/// Lanes whose place holds the very bytes that their registers would store.
uint32_t sameLanes(const Warp &w, const Instr &i, const Places &p) {
  uint32_t same = 0, n = i.mods.vector, bytes = i.bytes;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(p.ok >> l & 1)) continue;
    const uint8_t *at = p.dense ? p.data + size_t{n} * bytes * l : p.lane[l];
    bool equal = true;
    for (unsigned e = 0; e < n; ++e) {
      Slot slot = n == 1 ? i.d : w.kernel.slots[i.list + e];
      equal &= std::memcmp(at + size_t{e} * bytes, w.data + slot.data + size_t{i.registerBytes} * l, bytes) == 0;
    }
    if (equal) same |= 1u << l;
  }
  return same;
}

void store(Warp &w, const Instr &i, uint32_t mask) {
  Access access;
  Places p;
  gatherAddresses(w, i, mask, access);
  access.write = true;
  resolve(w, i, access, p);
  ++w.worker.changes;
  uint32_t same = p.conflict ? sameLanes(w, i, p) : 0;
  if (w.worker.usesAsync)
    if (uint32_t busy = inFlightLanes(p, access)) reportInFlight(w, i, access, p, busy);
  unsigned n = i.mods.vector, bytes = i.bytes, rb = i.registerBytes, stride = access.bytes;
  for (unsigned e = 0; e < n; ++e) {
    Slot slot = n == 1 ? i.d : w.kernel.slots[i.list + e];
    const uint8_t *reg = w.data + slot.data;
    size_t offset = size_t{e} * bytes;
    uint32_t bad = w.poison[slot.poison] & p.ok;
    if (bad & p.globalLanes) {
      if (Finding *f = w.worker.report(w, i, Kind::uninitialised, bad & p.globalLanes, Severity::error,
                                       "an undefined value is stored to global memory"))
        for (unsigned l = 0; l < kLanes && f->addresses.size() < 8; ++l)
          if (bad & p.globalLanes & 1u << l) f->addresses.push_back(access.address[l] + offset);
      bad &= ~p.globalLanes;
    }
    if (p.dense) {
      if (stride == bytes && bytes == rb) {
        std::memcpy(p.data, reg, size_t{bytes} * kLanes);
      } else {
        for (unsigned l = 0; l < kLanes; ++l)
          std::memcpy(p.data + size_t{stride} * l + offset, reg + size_t{rb} * l, bytes);
      }
      if (p.defined && e == 0 && !bad) {
        std::memset(p.defined, 1, size_t{stride} * kLanes);
      } else if (p.defined && bad) {
        for (unsigned l = 0; l < kLanes; ++l)
          std::memset(p.defined + size_t{stride} * l + offset, !(bad >> l & 1), bytes);
      }
      continue;
    }
    switch (bytes) {
    case 1: scatterLanes<1>(reg, rb, p, offset); break;
    case 2: scatterLanes<2>(reg, rb, p, offset); break;
    case 4: scatterLanes<4>(reg, rb, p, offset); break;
    case 8: scatterLanes<8>(reg, rb, p, offset); break;
    default: scatterLanes<16>(reg, rb, p, offset); break;
    }
    for (unsigned l = 0; l < kLanes; ++l)
      if ((p.ok >> l & 1) && p.laneDefined[l]) std::memset(p.laneDefined[l] + offset, !(bad >> l & 1), bytes);
  }
  if (p.conflict) reportStoreConflicts(w, i, access, p, same);
  if (p.overlap)
    if (uint32_t lost = p.ok & ~sameLanes(w, i, p))
      if (Finding *f = w.worker.report(w, i, Kind::race, lost, Severity::error,
                                       "lanes of one warp store different values to one place"))
        f->addresses.push_back(access.address[__builtin_ctz(lost)]);
}

void decodeTransfer(Decoder &decoder, const ptx::Statement &s, Instr &instr, bool isLoad) {
  decoder.expectOperands(s, 2, 3); // a cache policy may follow
  const ptx::Operand &data = s.operands[isLoad ? 0 : 1], &address = s.operands[isLoad ? 1 : 0];
  Type type = instr.mods.types[0];
  instr.bytes = static_cast<uint8_t>(sizeOf(type));
  bool vector = data.kind == ptx::Operand::Kind::vector;
  if ((instr.mods.vector > 1) != vector || (vector && data.parts.size() != instr.mods.vector))
    decoder.fail("the vector suffix and the operand disagree");
  if (instr.mods.vector * instr.bytes > 32) decoder.fail("a vector has at most 32 bytes");
  auto number = type == Type::f32   ? Decoder::Number::f32
                : type == Type::f64 ? Decoder::Number::f64
                                    : Decoder::Number::integer;
  auto slotOf = [&](const ptx::Operand &operand, uint8_t &width) {
    return isLoad ? decoder.wideDestination(operand, instr.bytes, width)
                  : decoder.wideSource(operand, instr.bytes, number, width);
  };
  instr.registerBytes = 0;
  if (vector) {
    std::vector<Slot> slots;
    for (const ptx::Operand &part : data.parts) {
      uint8_t width = 0;
      slots.push_back(slotOf(part, width));
      bool isRegister = part.kind == ptx::Operand::Kind::reg;
      if (instr.registerBytes && isRegister && instr.registerBytes != width)
        decoder.fail("the elements of a vector have different widths");
      if (isRegister) instr.registerBytes = width;
    }
    if (!instr.registerBytes) instr.registerBytes = instr.bytes;
    decoder.list(instr, slots);
  } else {
    instr.d = slotOf(data, instr.registerBytes);
  }
  uint64_t place = 0;
  if (instr.mods.space == Space::param && decoder.kernelParam(address, place)) {
    if (!isLoad) decoder.fail("kernel parameters cannot be written");
    instr.execute = loadParam;
    instr.tag = static_cast<uint32_t>(decoder.result().slots.size());
    for (unsigned e = 0; e < instr.mods.vector; ++e)
      decoder.result().slots.push_back(
          decoder.param(place + e * instr.bytes, instr.bytes, instr.registerBytes, isSigned(type)));
    return;
  }
  decoder.address(address, instr);
}
void decodeLoad(Decoder &decoder, const ptx::Statement &s, Instr &instr) { decodeTransfer(decoder, s, instr, true); }
void decodeStore(Decoder &decoder, const ptx::Statement &s, Instr &instr) { decodeTransfer(decoder, s, instr, false); }

void nothing(Warp &, const Instr &, uint32_t) {}
void decodeNothing(Decoder &, const ptx::Statement &, Instr &) {}

#define STATOR_SIM_TYPES "b8|u8|s8|b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64|b128"
#define STATOR_SIM_SPACES "global|shared|shared::cta|shared::cluster|local|param|param::entry|param::func|const"
#define STATOR_SIM_CACHING                                                                                             \
  ".L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate?"                              \
  ".L2::evict_normal|L2::evict_first|L2::evict_last?.L2::cache_hint?.L2::64B|L2::128B|L2::256B?"

const Row kRows[] = {
    {"ld.weak|volatile|relaxed|acquire|mmio?.cta|cluster|gpu|sys?." STATOR_SIM_SPACES
     "?.ca|cg|cs|lu|cv?.nc?" STATOR_SIM_CACHING ".v2|v4|v8?." STATOR_SIM_TYPES,
     nullptr, load, OpClass::load, decodeLoad},
    {"ldu.global?.v2|v4?." STATOR_SIM_TYPES, nullptr, load, OpClass::load, decodeLoad},
    {"st.weak|volatile|relaxed|release|mmio?.cta|cluster|gpu|sys?." STATOR_SIM_SPACES
     "?.wb|cg|cs|wt?" STATOR_SIM_CACHING ".v2|v4|v8?." STATOR_SIM_TYPES,
     nullptr, store, OpClass::store, decodeStore},
    {"prefetch.global|local|const|param?.L1|L2|tensormap?.L2::evict_last|L2::evict_normal?", nullptr, nothing,
     OpClass::special, decodeNothing},
    {"prefetchu.L1", nullptr, nothing, OpClass::special, decodeNothing},
};

} // namespace

Rows memoryRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
