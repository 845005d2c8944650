// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async.bulk.tensor, its reductions and prefetches.
#include "runtime/simulator/AddressSpace.h"
#include "runtime/simulator/AsyncCopy.h"
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/Traffic.h"
#include "runtime/simulator/ops/Bulk.h"
#include "runtime/simulator/ops/Reduce.h"
#include "runtime/simulator/ops/Tables.h"
#include "runtime/simulator/ops/TensorBox.h"

#include <algorithm>

namespace stator::sim {

namespace {

constexpr uint32_t kLoad = 1, kMulticast = 2, kPrefetch = 4, kIm2col = 8, kMapOnly = 16, kRankShift = 8;
const char *const kReductions[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};

void refuse(Warp &w, const Instr &i, unsigned lane, Kind kind, uint64_t address, const std::string &what) {
  if (Finding *f = w.worker.report(w, i, kind, 1u << lane, Severity::error, "")) {
    f->addresses.push_back(address);
    f->message = what;
  }
}

bool readMap(Warp &w, const Instr &i, unsigned lane, uint64_t address, TensorMap &map) {
  if (address % 64) {
    refuse(w, i, lane, Kind::misaligned, address, "a tensor map is aligned to 64 bytes");
    return false;
  }
  const uint8_t *bytes = nullptr;
  const auto &params = w.block.launch.params;
  if (spaceOf(address) == Space::param) {
    uint64_t at = address - kParamWindow;
    if (at < params.size() && params.size() - at >= TensorMap::kBytes) bytes = params.data() + at;
  } else if (spaceOf(address) == Space::global) {
    AsyncRange range;
    if (!locate(w, i, lane, Space::global, address, TensorMap::kBytes, false, range)) return false;
    bytes = range.data;
  }
  if (!bytes || !map.read(bytes)) {
    refuse(w, i, lane, Kind::asyncCopy, address, "no tensor map made by cuTensorMapEncode lies at this address");
    return false;
  }
  if (map.interleave || !map.elementBytes()) {
    refuse(w, i, lane, Kind::asyncCopy, address,
           "interleaved layouts and packed 4- and 6-bit types of tensor maps are not simulated");
    return false;
  }
  if (!(i.tag & kMapOnly) && (map.rank != i.tag >> kRankShift || map.im2col != ((i.tag & kIm2col) != 0))) {
    refuse(w, i, lane, Kind::asyncCopy, address,
           "the tensor map has " + std::to_string(map.rank) + " dimensions, " + (map.im2col ? "im2col" : "tiled") +
               ", and the instruction differs");
    return false;
  }
  return true;
}

/// The lane's coordinates and offsets; list: coordinates, then im2col offsets.
BoxPlace placeOf(Warp &w, const Instr &i, unsigned lane, const TensorMap &map) {
  BoxPlace place;
  const Slot *slots = &w.kernel.slots[i.list];
  for (unsigned d = 0; d < map.rank; ++d) place.coordinates[d] = w.lanes<int32_t>(slots[d])[lane];
  for (unsigned k = map.rank; k < i.listCount && k < map.rank + 3u; ++k)
    place.offsets[k - map.rank] = w.lanes<uint16_t>(slots[k])[lane];
  return place;
}

/// The chunks of a copy between the box and `block`'s shared memory. False: refused.
bool addChunks(Warp &w, const Instr &i, unsigned lane, const TensorMap &map, const BoxPlace &place, Block &block,
               AsyncOp &op) {
  bool load = i.tag & kLoad, good = true;
  MemoryCount &count = w.worker.memoryCounts[i.index];
  walkBox(map, place, [&](const BoxRun &run) {
    AsyncRange global;
    AsyncRange shared{block.sharedData.data() + run.shared, block.sharedDefined.data() + run.shared, &block,
                      run.shared};
    if (run.inside) {
      good = locate(w, i, lane, Space::global, run.address, run.bytes, !load, global);
      if (!good) return false;
      countDense(count, run.address, run.bytes);
    }
    if (load)
      op.chunks.push_back({shared, global, run.bytes});
    else if (run.inside)
      op.chunks.push_back({global, shared, run.bytes});
    return true;
  });
  return good;
}

bool fits(Warp &w, const Instr &i, unsigned lane, const TensorMap &map, const AsyncRange &box, uint64_t address) {
  if (address % 128) {
    refuse(w, i, lane, Kind::misaligned, address, "a tensor copy's place in shared memory is aligned to 128 bytes");
    return false;
  }
  if (boxSpan(map) > w.block.sharedData.size() - box.at) {
    refuse(w, i, lane, Kind::outOfBounds, address,
           "the box of " + std::to_string(boxSpan(map)) + " bytes runs past the end of shared memory");
    return false;
  }
  return true;
}

/// NaN of out-of-bounds elements, by width.
void chooseFill(const TensorMap &map, AsyncOp &op) {
  op.fillSize = std::min(map.elementBytes(), 4u);
  if (map.fillNan)
    op.fill = map.elementType() == Type::f16 ? 0x7fff : map.elementType() == Type::bf16 ? 0x7fff : 0x7fffffff;
}

/// addresses: box in shared memory and mbarrier (loads), or box in shared memory (stores), then the tensor map;
/// b: blocks of a multicast.
void copyTensor(Warp &w, const Instr &i, uint32_t mask) {
  bool load = i.tag & kLoad, prefetch = i.tag & kPrefetch;
  unsigned count = prefetch ? 1 : load ? 3 : 2;
  const AddressOperand *at = &w.kernel.addresses[i.addresses];
  for (unsigned k = 0; k < count; ++k) mask = definedLanes(w, i, at[k].base, mask, "an address is undefined");
  for (unsigned k = 0; k < i.listCount; ++k)
    mask = definedLanes(w, i, w.kernel.slots[i.list + k], mask, "a coordinate is undefined");
  if (i.tag & kMulticast) mask = definedLanes(w, i, i.b, mask, "a mask is undefined");
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1)) continue;
    TensorMap map;
    if (!readMap(w, i, l, w.addressOf(at[count - 1], l), map) || prefetch) continue;
    BoxPlace place = placeOf(w, i, l, map);
    uint64_t address = w.addressOf(at[0], l);
    AsyncRange box;
    if (!locate(w, i, l, at[0].space, address, 16, load, box) || !fits(w, i, l, map, box, box.at)) continue;
    place.shared = box.at;
    auto op = std::make_unique<AsyncOp>();
    op->instr = &i;
    op->lane = l;
    chooseFill(map, *op);
    auto bytes = static_cast<uint32_t>(boxBytes(map));
    if (!load) {
      if (i.offset) {
        op->reduce = reductionOf(kReductions[i.offset - 1], map.elementType());
        if (!op->reduce) {
          refuse(w, i, l, Kind::asyncCopy, address, "the tensor's type has no such reduction");
          continue;
        }
      }
      if (addChunks(w, i, l, map, place, *box.owner, *op)) issue(w, std::move(op));
      continue;
    }
    MbarrierPlace barrier;
    if (!barrierPlace(w, i, l, at[1].space, w.addressOf(at[1], l), barrier)) continue;
    uint32_t blocks = i.tag & kMulticast ? w.lanes<uint16_t>(i.b)[l] : 1u << box.owner->clusterRank;
    bool good = (i.tag & kMulticast) || barrier.home == box.owner;
    if (!good)
      refuse(w, i, l, Kind::mbarrier, address, "the mbarrier of a copy lies in the shared memory of its destination");
    for (uint32_t rank = 0; rank < 16 && good; ++rank) {
      if (!(blocks >> rank & 1)) continue;
      AsyncRange theirs;
      MbarrierPlace signal;
      uint64_t base = uint64_t{rank} << kClusterShift;
      good = locate(w, i, l, Space::sharedCluster, base | box.at, 16, true, theirs) &&
             barrierPlace(w, i, l, Space::sharedCluster, base | barrier.offset, signal) &&
             addChunks(w, i, l, map, place, *theirs.owner, *op);
      op->signals.push_back({signal, bytes, 0});
    }
    if (good && !op->signals.empty()) issue(w, std::move(op));
  }
}

void decodeTensor(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  Kernel &k = decoder.result();
  k.usesAsync = true;
  instr.addresses = static_cast<uint32_t>(k.addresses.size());
  bool prefetch = hasSuffix(s, "prefetch"), load = !prefetch && hasSuffix(s, "mbarrier::complete_tx::bytes");
  bool im2col = hasSuffix(s, "im2col") || hasSuffix(s, "im2col_no_offs"),
       multicast = hasSuffix(s, "multicast::cluster");
  unsigned rank = 0;
  for (const std::string &m : s.modifiers)
    if (m.size() == 2 && m[1] == 'd') rank = static_cast<unsigned>(m[0] - '0');
  instr.tag = (load ? kLoad : 0) | (multicast ? kMulticast : 0) | (prefetch ? kPrefetch : 0) | (im2col ? kIm2col : 0) |
              rank << kRankShift;
  bool offsets = hasSuffix(s, "im2col") && rank > 2;
  size_t expected = (prefetch ? 1 : load ? 3 : 2) + (offsets ? 1 : 0) + multicast + hasSuffix(s, "L2::cache_hint");
  decoder.expectOperands(s, expected, expected);
  size_t tensorAt = load ? 1 : 0, next = prefetch ? 1 : load ? 3 : 2;
  if (!prefetch) decoder.addAddress(s.operands[load ? 0 : 1], load ? instr.mods.space : instr.mods.space2);
  if (load) {
    decoder.addAddress(s.operands[2], instr.mods.space);
    k.usesPartialBarriers = true;
  }
  const ptx::Operand &tensor = s.operands[tensorAt];
  decoder.addAddress(tensor, Space::generic);
  if (tensor.parts.size() != 2 || tensor.parts[1].kind != ptx::Operand::Kind::vector ||
      tensor.parts[1].parts.size() != rank)
    decoder.fail("expected [tensor map, {" + std::to_string(rank) + " coordinates}]");
  std::vector<Slot> slots;
  for (const ptx::Operand &part : tensor.parts[1].parts) slots.push_back(decoder.source(part, 4));
  if (offsets) {
    const ptx::Operand &list = s.operands[next++];
    if (list.kind != ptx::Operand::Kind::vector || list.parts.size() != rank - 2)
      decoder.fail("expected " + std::to_string(rank - 2) + " im2col offsets");
    for (const ptx::Operand &part : list.parts) slots.push_back(decoder.source(part, 2));
  }
  decoder.list(instr, slots);
  if (multicast) instr.b = decoder.source(s.operands[next], 2);
  if (s.modifiers[0] == "reduce")
    for (unsigned r = 0; r < sizeof kReductions / sizeof kReductions[0]; ++r)
      if (hasSuffix(s, kReductions[r])) instr.offset = r + 1;
}

void prefetchMap(Warp &w, const Instr &i, uint32_t mask) {
  mask = definedLanes(w, i, i.a, mask, "an address is undefined");
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1)) continue;
    TensorMap map;
    uint64_t base = i.wideAddress ? w.lanes<uint64_t>(i.a)[l] : w.lanes<uint32_t>(i.a)[l];
    uint64_t window = i.mods.space == Space::param ? kParamWindow : 0;
    readMap(w, i, l, base + static_cast<uint64_t>(i.offset) + window, map);
  }
}
void decodePrefetchMap(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 1, 1);
  instr.tag = kMapOnly;
  decoder.address(s.operands[0], instr);
}

constexpr OpClass kAsync = OpClass::asyncCopy;
#define STATOR_SIM_TENSOR "bulk.tensor.1d|2d|3d|4d|5d."

const Row kRows[] = {
    {"cp.async." STATOR_SIM_TENSOR
     "shared::cluster|shared::cta.global.tile|im2col?.mbarrier::complete_tx::bytes.multicast::cluster?.cta_group::1?."
     "L2::cache_hint?",
     nullptr, copyTensor, kAsync, decodeTensor},
    {"cp.async." STATOR_SIM_TENSOR "global.shared::cta.tile|im2col_no_offs?.bulk_group.L2::cache_hint?", nullptr,
     copyTensor, kAsync, decodeTensor},
    {"cp.reduce.async." STATOR_SIM_TENSOR
     "global.shared::cta.add|min|max|inc|dec|and|or|xor.tile|im2col_no_offs?.bulk_group.L2::cache_hint?",
     nullptr, copyTensor, kAsync, decodeTensor},
    {"cp.async.bulk.prefetch.tensor.1d|2d|3d|4d|5d.L2.global.tile|im2col?.L2::cache_hint?", nullptr, copyTensor, kAsync,
     decodeTensor},
    {"prefetch.param|const?.tensormap", nullptr, prefetchMap, OpClass::load, decodePrefetchMap},
};

} // namespace

Rows bulkTensorRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
