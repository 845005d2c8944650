// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma: descriptors, issue, fences and groups.
//
// Where an operand's sixteen-byte chunks lie follows from its descriptor. With L and S the leading and stride byte
// offsets, T = 16 / element bytes, w the swizzle's span (16 without one):
//   K-major, no swizzle: (r, k) at r%8 * 16 + r/8 * S + k/T * L;    with: r%8 * w + r/8 * S + k/T * 16;
//   MN-major, no swizzle: k%8 * 16 + k/8 * L + r/T * S;             with: k%8 * w + k/8 * S + r/T%(w/16) * 16 +
//   r/(T*w/16) * L; then the swizzle's exclusive or on the bits of the whole address.
#include "runtime/simulator/Wgmma.h"
#include "runtime/simulator/AddressSpace.h"
#include "runtime/simulator/AsyncCopy.h"
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/ops/Aligned.h"
#include "runtime/simulator/ops/Fragments.h"
#include "runtime/simulator/ops/Tables.h"

#include <cstdlib>

namespace stator::sim {

namespace {

struct Descriptor {
  uint64_t start, leading, stride;
  unsigned base, swizzle;
  explicit Descriptor(uint64_t bits)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4), stride((bits >> 32 & 0x3fff) << 4),
        base(static_cast<unsigned>(bits >> 49 & 7)), swizzle(static_cast<unsigned>(bits >> 62)) {}
  uint64_t span() const { return swizzle == 0 ? 16 : swizzle == 1 ? 128 : swizzle == 2 ? 64 : 32; }
  uint64_t swizzled(uint64_t at) const {
    uint64_t phase = (at >> 7) - base;
    return at ^ (swizzle == 0 ? 0 : (phase & (span() / 16 - 1)) << 4);
  }
};

/// Fills `operand` with `outer` rows (or columns) from `first`. False, with a report, where bytes are out of bounds.
bool gather(Warp &w, const Instr &i, uint64_t bits, unsigned first, unsigned outer, bool transposed,
            WgmmaOperand &operand) {
  Descriptor d(bits);
  unsigned bytes = bitsOf(i.mods.types[1]) / 8, t = 16 / bytes, k = 32 / bytes;
  uint64_t span = d.span(), perSpan = span / 16;
  operand.transposed = transposed;
  operand.perChunk = t;
  operand.groups = transposed ? outer / t : k / t;
  Block &block = w.block;
  auto add = [&](uint64_t offset) {
    uint64_t at = d.swizzled(d.start + offset);
    if (at + 16 > block.sharedData.size()) {
      if (Finding *f = w.worker.report(w, i, Kind::outOfBounds, w.live, Severity::error, ""))
        f->message = "a matrix descriptor reaches byte " + std::to_string(at) + " of " +
                     std::to_string(block.sharedData.size()) + " bytes of shared memory";
      return false;
    }
    operand.chunks.push_back({block.sharedData.data() + at, block.sharedDefined.data() + at, &block, at});
    return true;
  };
  if (!transposed) {
    for (unsigned r = first; r < first + outer; ++r)
      for (unsigned g = 0; g < k / t; ++g)
        if (!add(r % 8 * span + r / 8 * d.stride + g * (d.swizzle ? 16 : d.leading))) return false;
    return true;
  }
  for (unsigned x = 0; x < k; ++x)
    for (unsigned g = first / t; g < (first + outer) / t; ++g)
      if (!add(d.swizzle ? x % 8 * span + x / 8 * d.stride + g % perSpan * 16 + g / perSpan * d.leading
                         : x % 8 * 16 + x / 8 * d.leading + g * d.stride))
        return false;
  return true;
}

/// The one value of a 64-bit register in all lanes.
bool uniform(Warp &w, const Instr &i, Slot slot, uint64_t &value) {
  const auto *lanes = w.lanes<uint64_t>(slot);
  value = lanes[0];
  bool same = true;
  for (unsigned l = 1; l < kLanes; ++l) same &= lanes[l] == value;
  uint32_t bad = w.poison[slot.poison];
  if (same && !bad) return true;
  w.worker.report(w, i, bad ? Kind::uninitialised : Kind::wgmma, bad ? bad : kAllLanes, Severity::error,
                  bad ? "a matrix descriptor is undefined" : "lanes of a warp give different matrix descriptors");
  return false;
}

/// Judges the chunks of an operand and marks them.
void startReading(Warp &w, const Instr &i, const WgmmaOperand &operand, uint32_t segment) {
  uint8_t all = 0;
  for (const AsyncRange &chunk : operand.chunks) {
    for (unsigned b = 0; b < 16; ++b) all |= chunk.defined[b];
    if (w.order) {
      EngineAccess access;
      access.segment = segment;
      access.owner = chunk.owner;
      access.at = chunk.at;
      access.bytes = 16;
      w.worker.races->engineAccess(w, i, access);
    }
    markReading(chunk, 16, true);
  }
  if (all & (kInFlight | kMbarrierByte))
    w.worker.report(w, i, Kind::asyncCopy, w.live, Severity::error,
                    "wgmma reads bytes that an asynchronous copy is still writing, or of an mbarrier object");
}

void multiplyAsync(Warp &w, const Instr &i, uint32_t mask) {
  if (!convergeFull(w, i, mask)) return;
  uint64_t aBits = 0, bBits = 0;
  bool aRegisters = i.tag & kWgmmaARegisters;
  if ((!aRegisters && !uniform(w, i, i.a, aBits)) || !uniform(w, i, i.b, bBits)) return;
  uint32_t scale = w.predicate(i.c);
  if (w.poison[i.c.poison] || (scale != 0 && scale != kAllLanes))
    w.worker.report(w, i, w.poison[i.c.poison] ? Kind::uninitialised : Kind::wgmma, kAllLanes, Severity::error,
                    "scale-d is undefined or differs between lanes");
  logWgmma(w, i, aBits, bBits);
  if (w.worker.aborted) return;
  checkWgmmaRegisters(w, i);
  WgmmaOp op;
  op.instr = &i;
  op.accumulates = scale & 1;
  op.a.inRegisters = aRegisters;
  if (!aRegisters && !gather(w, i, aBits, w.index % 4 * 16, 16, i.tag & kWgmmaTransA, op.a)) return;
  if (!gather(w, i, bBits, 0, i.tag & kWgmmaColumns, i.tag & kWgmmaTransB, op.b)) return;
  WarpWgmma &state = *w.wgmma;
  op.group = state.committed;
  if (w.order) op.segment = w.worker.races->engineSegment(w.block, w.block.groupEngine(w.index, 2));
  startReading(w, i, op.a, op.segment);
  startReading(w, i, op.b, op.segment);
  markWgmmaRegisters(w, i, true);
  state.operations.push_back(std::move(op));
  Settings::Async mode = w.block.launch.settings->async;
  if (mode == Settings::Async::early || (mode == Settings::Async::random && w.worker.random() & 1))
    for (WgmmaOp &pending : state.operations) computeWgmma(w, pending);
}

void decodeMultiply(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  using Kind = ptx::Operand::Kind;
  decoder.result().usesAsync = true;
  std::string shape;
  for (const std::string &m : s.modifiers)
    if (m.rfind("m64n", 0) == 0) shape = m.substr(4);
  char *end = nullptr;
  unsigned long n = std::strtoul(shape.c_str(), &end, 10);
  Type a = instr.mods.types[1];
  unsigned k = 256 / bitsOf(a);
  bool integer = instr.mods.types[0] == Type::s32;
  if (*end != 'k' || std::strtoul(end + 1, nullptr, 10) != k || n < 8 || n > 256 || n % 8 ||
      (integer && n > 32 && n % 16))
    decoder.fail("no such shape m64n" + shape);
  instr.tag = static_cast<uint32_t>(n);
  if (s.operands.size() < 4) decoder.fail("expected at least 4 operands");
  auto registers = [&](const ptx::Operand &operand, size_t count, bool result, std::vector<Slot> &slots) {
    if (operand.kind != Kind::vector || operand.parts.size() != count)
      decoder.fail("expected a vector of " + std::to_string(count) + " registers");
    for (const ptx::Operand &part : operand.parts)
      slots.push_back(result ? decoder.destination(part, 4) : decoder.source(part, 4, Decoder::Number::f32));
  };
  std::vector<Slot> slots;
  registers(s.operands[0], n / (instr.mods.types[0] == Type::f16 ? 4 : 2), true, slots);
  instr.addresses = static_cast<uint32_t>(slots.size());
  bool aRegisters = s.operands[1].kind == Kind::vector;
  if (aRegisters) {
    registers(s.operands[1], 4, false, slots);
    instr.tag |= kWgmmaARegisters;
  } else {
    instr.a = decoder.source(s.operands[1], 8);
  }
  decoder.list(instr, slots);
  instr.b = decoder.source(s.operands[2], 8);
  instr.c = decoder.predicate(s.operands[3], false);
  if (s.operands[3].negated) decoder.fail("scale-d cannot be negated");
  bool sixteen = a == Type::f16 || a == Type::bf16;
  size_t expected = integer ? 4 : sixteen ? (aRegisters ? 7 : 8) : 6;
  decoder.expectOperands(s, expected, expected);
  if (integer) return;
  auto flag = [&](size_t at, int64_t off, uint32_t bit) {
    int64_t value = decoder.immediate(s.operands[at]);
    if (value != off && value != (off == 1 ? -1 : 1)) decoder.fail("operand " + std::to_string(at) + " out of range");
    if (value != off) instr.tag |= bit;
  };
  flag(4, 1, kWgmmaNegateA);
  flag(5, 1, kWgmmaNegateB);
  if (!sixteen) return;
  if (!aRegisters) flag(6, 0, kWgmmaTransA);
  flag(aRegisters ? 6 : 7, 0, kWgmmaTransB);
}

void fence(Warp &w, const Instr &i, uint32_t mask) {
  if (!convergeFull(w, i, mask) || !w.wgmma) return;
  w.wgmma->fenced = true;
  std::fill(w.wgmma->dirty.begin(), w.wgmma->dirty.end(), uint8_t{0});
}
void commitGroup(Warp &w, const Instr &i, uint32_t mask) {
  if (convergeFull(w, i, mask) && w.wgmma) ++w.wgmma->committed;
}
void waitGroup(Warp &w, const Instr &i, uint32_t mask) {
  if (convergeFull(w, i, mask) && w.wgmma) waitWgmma(w, static_cast<uint32_t>(i.offset));
}
void decodePlain(Decoder &decoder, const ptx::Statement &s, Instr &) { decoder.expectOperands(s, 0, 0); }
void decodeWait(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 1, 1);
  instr.offset = decoder.immediate(s.operands[0]);
  if (instr.offset < 0 || instr.offset > 7) decoder.fail("a group count is 0 to 7");
}

constexpr OpClass kTensor = OpClass::tensor;
#define STATOR_SIM_WGMMA "wgmma.mma_async.sync.aligned.m64n*."

const Row kRows[] = {
    {STATOR_SIM_WGMMA "f16|f32.f16.f16", nullptr, multiplyAsync, kTensor, decodeMultiply},
    {STATOR_SIM_WGMMA "f32.bf16.bf16", nullptr, multiplyAsync, kTensor, decodeMultiply},
    {STATOR_SIM_WGMMA "f32.tf32.tf32", nullptr, multiplyAsync, kTensor, decodeMultiply},
    {STATOR_SIM_WGMMA "f16|f32.e4m3|e5m2.e4m3|e5m2", nullptr, multiplyAsync, kTensor, decodeMultiply},
    {STATOR_SIM_WGMMA "s32.s8|u8.s8|u8", nullptr, multiplyAsync, kTensor, decodeMultiply},
    {STATOR_SIM_WGMMA "satfinite.s32.s8|u8.s8|u8", nullptr, multiplyAsync, kTensor, decodeMultiply},
    {STATOR_SIM_WGMMA "s32.s8|u8.s8|u8.satfinite", nullptr, multiplyAsync, kTensor, decodeMultiply},
    {"wgmma.fence.sync.aligned", nullptr, fence, OpClass::fence, decodePlain},
    {"wgmma.commit_group.sync.aligned", nullptr, commitGroup, OpClass::asyncCopy, decodePlain},
    {"wgmma.wait_group.sync.aligned", nullptr, waitGroup, OpClass::asyncCopy, decodeWait},
};

} // namespace

Rows wgmmaRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }
bool isWgmma(const Instr &instr) { return instr.row->execute == multiplyAsync; }

} // namespace stator::sim
