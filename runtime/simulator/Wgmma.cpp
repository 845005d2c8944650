// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of one warp's share of a wgmma.mma_async: sixteen rows, eight columns at a time.
#include "runtime/simulator/Wgmma.h"
#include "runtime/simulator/Access.h"
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/TensorCore.h"
#include "runtime/simulator/ops/Fragments.h"

#include <algorithm>
#include <cstring>

namespace stator::sim {

namespace {

constexpr unsigned kRows = 16, kMostColumns = 256;

/// Elements of an operand in shared memory: f(outer, k, bits, defined).
template <class F> void elements(const WgmmaOperand &o, unsigned bytes, F f) {
  for (size_t c = 0; c < o.chunks.size(); ++c) {
    const AsyncRange &chunk = o.chunks[c];
    auto first = static_cast<unsigned>(c / o.groups), second = static_cast<unsigned>(c % o.groups) * o.perChunk;
    for (unsigned x = 0; x < o.perChunk; ++x) {
      uint32_t bits = 0;
      std::memcpy(&bits, chunk.data + x * bytes, bytes);
      bool defined = allDefined(chunk.defined + x * bytes, bytes);
      if (o.transposed)
        f(second + x, first, bits, defined);
      else
        f(first, second + x, bits, defined);
    }
  }
}

/// Both operands, taken from shared memory or registers.
class Operands {
public:
  Operands(Warp &w, const WgmmaOp &op) {
    const Instr &i = *op.instr;
    unsigned bits = bitsOf(i.mods.types[1]), bytes = bits / 8;
    uint32_t flipA = i.tag & kWgmmaNegateA ? 1u << (bits - 1) : 0;
    uint32_t flipB = i.tag & kWgmmaNegateB ? 1u << (bits - 1) : 0;
    if (op.a.inRegisters) {
      const Slot *slots = &w.kernel.slots[i.list + i.addresses];
      sim::elements(w, slots, 4, bits, true, false,
                    [&](unsigned row, unsigned k, uint32_t v) { a[row][k] = v ^ flipA; });
      for (unsigned r = 0; r < 4; ++r)
        for (unsigned l = 0; l < kLanes; ++l)
          if (w.poison[slots[r].poison] >> l & 1) badRows |= 1u << ((l >> 2) + 8 * (r & 1));
    } else {
      elements(op.a, bytes, [&](unsigned row, unsigned k, uint32_t v, bool defined) {
        a[row][k] = v ^ flipA;
        if (!defined) badRows |= 1u << row;
      });
    }
    elements(op.b, bytes, [&](unsigned column, unsigned k, uint32_t v, bool defined) {
      b[column][k] = v ^ flipB;
      if (!defined) badColumns[column] = true;
    });
  }
  uint32_t a[kRows][32], b[kMostColumns][32];
  uint32_t badRows = 0;
  bool badColumns[kMostColumns] = {};
};

/// Where element (row, column of its eight) lies: lane, and which of the lane's four of these eight columns.
unsigned laneOf(unsigned row, unsigned column) { return (row & 7) * 4 + column / 2; }
unsigned placeOf(unsigned row, unsigned column) { return (row >> 3) * 2 + (column & 1); }

int32_t extend(Type type, uint32_t bits) {
  return type == Type::s8 ? static_cast<int8_t>(bits) : static_cast<int32_t>(bits);
}

void integerColumns(const Instr &i, const Operands &o, unsigned first, unsigned k, const uint32_t *in, uint32_t *out) {
  for (unsigned row = 0; row < kRows; ++row)
    for (unsigned j = 0; j < 8; ++j) {
      int64_t sum = static_cast<int32_t>(in[row * 8 + j]);
      for (unsigned x = 0; x < k; ++x)
        sum += int64_t{extend(i.mods.types[1], o.a[row][x])} * extend(i.mods.types[2], o.b[first + j][x]);
      if (i.mods.satfinite) sum = std::max<int64_t>(INT32_MIN, std::min<int64_t>(INT32_MAX, sum));
      out[row * 8 + j] = static_cast<uint32_t>(sum);
    }
}

} // namespace

void computeWgmma(Warp &w, WgmmaOp &op) {
  if (op.computed) return;
  op.computed = true;
  const Instr &i = *op.instr;
  unsigned n = i.tag & kWgmmaColumns, k = 256 / bitsOf(i.mods.types[1]);
  bool half = i.mods.types[0] == Type::f16, integer = i.mods.types[0] == Type::s32;
  auto operands = std::make_unique<Operands>(w, op);
  auto tile = std::make_unique<TensorTile>();
  tile->k = k;
  tile->aType = i.mods.types[1];
  tile->bType = i.mods.types[2];
  if (!integer)
    for (unsigned row = 0; row < kRows; ++row)
      for (unsigned x = 0; x < k; ++x) tile->setA(row, x, operands->a[row][x]);
  bool specialA = tile->special;
  const Slot *d = &w.kernel.slots[i.list];
  static const TensorMultiply multiply = tensorMultiply();
  for (unsigned first = 0; first < n; first += 8) {
    // Registers of these eight columns: four of 32 bits, or two of packed halves.
    const Slot *slots = d + first / 8 * (half ? 2 : 4);
    uint32_t in[128] = {}, out[128], bad[4] = {};
    for (unsigned row = 0; row < kRows; ++row)
      for (unsigned j = 0; j < 8; ++j) {
        unsigned lane = laneOf(row, j), place = placeOf(row, j);
        Slot slot = slots[half ? place / 2 : place];
        uint32_t word = w.lanes<uint32_t>(slot)[lane];
        if (op.accumulates) in[row * 8 + j] = half ? word >> 16 * (place & 1) & 0xffff : word;
        bool undefined = (op.accumulates && (w.poison[slot.poison] >> lane & 1)) || (operands->badRows >> row & 1) ||
                         operands->badColumns[first + j];
        if (undefined) bad[place] |= 1u << lane;
      }
    if (integer) {
      integerColumns(i, *operands, first, k, in, out);
    } else {
      tile->special = specialA;
      for (unsigned j = 0; j < 8; ++j)
        for (unsigned x = 0; x < k; ++x) tile->setB(x, j, operands->b[first + j][x]);
      multiply(w.block.launch.chip->tensor, *tile, in, out, half);
    }
    for (unsigned row = 0; row < kRows; ++row)
      for (unsigned j = 0; j < 8; ++j) {
        unsigned lane = laneOf(row, j), place = placeOf(row, j);
        uint32_t &word = w.lanes<uint32_t>(slots[half ? place / 2 : place])[lane];
        uint32_t bits = out[row * 8 + j];
        if (half)
          word = place & 1 ? (word & 0xffff) | bits << 16 : (word & 0xffff0000) | bits;
        else
          word = bits;
      }
    for (unsigned place = 0; place < 4; ++place) {
      if (half && (place & 1)) continue;
      w.define(slots[half ? place / 2 : place], kAllLanes, half ? bad[place] | bad[place + 1] : bad[place]);
    }
  }
}

void waitWgmma(Warp &w, uint32_t keep) {
  WarpWgmma &state = *w.wgmma;
  uint32_t segment = 0;
  while (!state.operations.empty()) {
    WgmmaOp &op = state.operations.front();
    if (op.group + keep >= state.committed) break;
    computeWgmma(w, op);
    for (const WgmmaOperand *o : {&op.a, &op.b})
      for (const AsyncRange &chunk : o->chunks) markReading(chunk, 16, false);
    markWgmmaRegisters(w, *op.instr, false);
    segment = op.segment;
    state.operations.pop_front();
  }
  ++w.worker.changes;
  if (!w.order || !segment) return;
  BarrierKnowledge learnt;
  Races::finish(learnt, w.block.groupEngine(w.index, 2), segment);
  w.worker.races->leave(w, learnt);
}

} // namespace stator::sim
