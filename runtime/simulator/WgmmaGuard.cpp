// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers of wgmma under watch.
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/Opcodes.h"
#include "runtime/simulator/Wgmma.h"
#include "runtime/simulator/ops/Tables.h"

#include <algorithm>

namespace stator::sim {

namespace {

/// Calls f(register file offset) for every register operand of an instruction.
template <class F> void operands(const Kernel &k, const Instr &i, F f) {
  for (Slot slot : {i.d, i.a, i.b, i.c, i.e, i.f}) f(slot.data);
  if (i.guard != Instr::kAlways) f(i.guard);
  if (i.row->kind == OpClass::control) return; // its list holds targets
  for (uint32_t n = 0; n < i.listCount; ++n) f(k.slots[i.list + n].data);
}

void reportTouch(Warp &w, const Instr &i, uint32_t mask, const char *what) {
  w.worker.report(w, i, Kind::wgmma, mask, Severity::error, what);
}

void guarded(Warp &w, const Instr &i, uint32_t mask) {
  WarpWgmma &state = *w.wgmma;
  bool busy = false;
  for (uint32_t r : w.kernel.wgmmaTouches[i.index]) {
    busy |= state.reading[r] || state.writing[r];
    state.dirty[r] = 1;
  }
  if (busy)
    reportTouch(w, i, mask,
                "a register of a wgmma.mma_async in flight is touched; no wgmma.wait_group covers the operation yet");
  w.kernel.wgmmaOriginal[i.index](w, i, mask);
}

} // namespace

std::unique_ptr<WarpWgmma> startWgmma(const Kernel &kernel) {
  if (kernel.wgmmaTouches.empty()) return nullptr;
  auto state = std::make_unique<WarpWgmma>();
  state->dirty.resize(kernel.wgmmaRegisters);
  state->reading.resize(kernel.wgmmaRegisters);
  state->writing.resize(kernel.wgmmaRegisters);
  state->last.resize(kernel.wgmmaRegisters);
  return state;
}

void guardWgmma(Kernel &k) {
  std::map<uint32_t, uint32_t> numbers; // by register file offset
  bool any = false;
  for (const Instr &i : k.code) {
    if (!isWgmma(i)) continue;
    any = true;
    for (uint32_t n = 0; n < i.listCount; ++n)
      if (k.slots[i.list + n].poison) numbers.emplace(k.slots[i.list + n].data, static_cast<uint32_t>(numbers.size()));
  }
  if (!any) return;
  k.wgmmaRegisters = static_cast<uint32_t>(numbers.size());
  k.wgmmaTouches.resize(k.code.size());
  k.wgmmaOriginal.resize(k.code.size());
  for (Instr &i : k.code) {
    std::vector<uint32_t> &touches = k.wgmmaTouches[i.index];
    if (isWgmma(i)) {
      // The list holds the results, then A.
      for (uint32_t n = 0; n < i.listCount; ++n) {
        auto it = numbers.find(k.slots[i.list + n].data);
        touches.push_back(it == numbers.end() ? kAllLanes : it->second);
      }
      continue;
    }
    operands(k, i, [&](uint32_t data) {
      if (auto it = numbers.find(data); data && it != numbers.end()) touches.push_back(it->second);
    });
    if (touches.empty()) continue;
    k.wgmmaOriginal[i.index] = i.execute;
    i.execute = guarded;
  }
}

void checkWgmmaRegisters(Warp &w, const Instr &i) {
  WarpWgmma &state = *w.wgmma;
  const std::vector<uint32_t> &touches = w.kernel.wgmmaTouches[i.index];
  bool dirty = !state.fenced, clash = false, shape = false;
  for (uint32_t n = 0; n < touches.size(); ++n) {
    uint32_t r = touches[n];
    if (r == kAllLanes) continue;
    bool result = n < i.addresses; // how many of the list are results
    dirty |= state.dirty[r] != 0;
    if (!result) {
      clash |= state.writing[r] != 0;
    } else {
      clash |= state.reading[r] != 0;
      // Operations of one shape may follow each other on the same accumulators.
      if (state.writing[r]) shape |= state.last[r]->tag != i.tag || state.last[r]->mods.types[0] != i.mods.types[0];
    }
  }
  if (dirty)
    reportTouch(w, i, w.live,
                "wgmma.mma_async uses registers that were touched since the last wgmma.fence, or none was "
                "executed before");
  if (clash || shape)
    reportTouch(w, i, w.live, "wgmma.mma_async uses registers of an operation in flight in another role or shape");
}

void markWgmmaRegisters(Warp &w, const Instr &i, bool begins) {
  WarpWgmma &state = *w.wgmma;
  const std::vector<uint32_t> &touches = w.kernel.wgmmaTouches[i.index];
  for (uint32_t n = 0; n < touches.size(); ++n) {
    if (touches[n] == kAllLanes) continue;
    uint16_t &count = n < i.addresses ? state.writing[touches[n]] : state.reading[touches[n]];
    count = static_cast<uint16_t>(count + (begins ? 1 : -1));
    if (begins && n < i.addresses) state.last[touches[n]] = &i;
  }
}

void logWgmma(Warp &w, const Instr &i, uint64_t a, uint64_t b) {
  unsigned group = w.index / 4, member = w.index % 4;
  if ((group + 1) * 4 > w.block.warps.size()) {
    reportTouch(w, i, w.live, "wgmma needs a whole warpgroup of four warps");
    w.worker.abort();
    return;
  }
  auto &logs = w.block.warpgroups;
  if (logs.size() <= group) logs.resize(group + 1);
  if (!logs[group]) logs[group] = std::make_unique<WarpgroupLog>();
  WarpgroupLog &log = *logs[group];
  uint64_t at = log.counts[member]++ - log.first;
  if (at == log.entries.size()) {
    log.entries.push_back({&i, a, b});
  } else {
    const WarpgroupLog::Entry &other = log.entries[at];
    if (other.instr != &i || other.a != a || other.b != b)
      reportTouch(w, i, w.live,
                  other.instr != &i ? "warps of a warpgroup execute different wgmma instructions"
                                    : "warps of a warpgroup give different matrix descriptors");
  }
  while (!log.entries.empty() && *std::min_element(log.counts, log.counts + 4) > log.first) {
    log.entries.pop_front();
    ++log.first;
  }
}

void finishWgmma(Block &block) {
  if (block.worker.aborted) return;
  for (auto &warp : block.warps)
    if (warp->wgmma && !warp->wgmma->operations.empty())
      block.worker.report(*warp, *warp->wgmma->operations.front().instr, Kind::wgmma, kAllLanes, Severity::error,
                          "the block exits while a wgmma.mma_async is in flight: nobody has waited for it");
  for (auto &log : block.warpgroups)
    if (log && !log->entries.empty())
      block.worker.report(*block.warps[0], *log->entries.front().instr, Kind::wgmma, kAllLanes, Severity::error,
                          "only some warps of a warpgroup execute this wgmma instruction");
}

} // namespace stator::sim
