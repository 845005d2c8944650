// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Warp.h"
#include "runtime/simulator/AsyncCopy.h"
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/Race.h"
#include "runtime/simulator/Trace.h"
#include "runtime/simulator/Wgmma.h"

#include <algorithm>
#include <cstring>

namespace stator::sim {

namespace {

/// Instructions that a group may run while another could; long enough to keep loops together.
constexpr uint64_t kSlice = 4096;

void fill(uint8_t *lanes, unsigned bytes, uint64_t low, uint64_t high) {
  switch (bytes) {
  case 0: {
    auto mask = static_cast<uint32_t>(low);
    std::memcpy(lanes, &mask, 4);
    break;
  }
  case 1: std::memset(lanes, static_cast<int>(low), kLanes); break;
  case 2: std::fill_n(reinterpret_cast<uint16_t *>(lanes), kLanes, static_cast<uint16_t>(low)); break;
  case 4: std::fill_n(reinterpret_cast<uint32_t *>(lanes), kLanes, static_cast<uint32_t>(low)); break;
  case 8: std::fill_n(reinterpret_cast<uint64_t *>(lanes), kLanes, low); break;
  default:
    for (unsigned l = 0; l < kLanes; ++l) {
      std::memcpy(lanes + 16 * l, &low, 8);
      std::memcpy(lanes + 16 * l + 8, &high, 8);
    }
  }
}

void put(uint8_t *lanes, unsigned bytes, unsigned lane, uint64_t value) {
  std::memcpy(lanes + size_t{bytes} * lane, &value, bytes);
}

} // namespace

Warp::Warp(Block &block, const Kernel &kernel, unsigned index)
    : block(block), worker(block.worker), kernel(kernel), index(index) {
  // Cache-line alignment of the data area matters to the vectorised lane loops.
  size_t poisonBytes = (size_t{kernel.poisonCount} * 4 + 63) / 64 * 64;
  file.resize(kernel.dataBytes + poisonBytes + 64);
  auto base = reinterpret_cast<uintptr_t>(file.data());
  uint8_t *aligned = file.data() + ((base + 63) / 64 * 64 - base);
  data = aligned;
  poison = reinterpret_cast<uint32_t *>(aligned + kernel.dataBytes);
  for (const Constant &c : kernel.constants) fill(data + c.slot.data, c.bytes, c.low, c.high);
  for (const ParamUse &use : kernel.paramUses) {
    const uint8_t *from = block.launch.params.data() + use.offset;
    uint64_t low = 0, high = 0;
    std::memcpy(&low, from, std::min<size_t>(use.bytes, 8));
    if (use.bytes == 16) std::memcpy(&high, from + 8, 8);
    if (use.isSigned && use.bytes < 8) {
      unsigned shift = 64 - 8u * use.bytes;
      low = static_cast<uint64_t>(static_cast<int64_t>(low << shift) >> shift);
    }
    fill(data + use.slot.data, use.registerBytes, low, high);
  }
}

Warp::~Warp() = default;

void Warp::start(unsigned threads) {
  existing = live = active = threads >= kLanes ? kAllLanes : (1u << threads) - 1;
  pc = 0;
  parked.clear();
  bothExited = false;
  async.reset();
  wgmma = startWgmma(kernel);
  clusterArrived = clusterDone = 0;
  std::fill_n(bulkCommitted, kLanes, 0);
  lastTry = kAllLanes;
  slice = kSlice;
  rotated = false;
  std::memset(poison + 1, 0xff, (size_t{kernel.poisonCount} - 1) * 4);
  updateSwitch();
  const Launch &launch = block.launch;
  trace = launch.trace && launch.trace->watches(*this) ? launch.trace : nullptr;
  // Blocks are used again, with another rank.
  if (launch.cluster.count() > 1)
    for (const Constant &c : kernel.constants)
      if (c.sharedRelative)
        fill(data + c.slot.data, c.bytes, c.low + (uint64_t{block.clusterRank} << kClusterShift), c.high);
  Dim3 t = launch.block;
  Dim3 clusters{launch.grid.x / launch.cluster.x, launch.grid.y / launch.cluster.y, launch.grid.z / launch.cluster.z};
  for (const SpecialUse &use : kernel.specials) {
    uint8_t *lanes = data + use.slot.data;
    auto all = [&](uint64_t value) { fill(lanes, use.bytes, value, 0); };
    auto perLane = [&](auto value) {
      for (unsigned l = 0; l < kLanes; ++l) put(lanes, use.bytes, l, value(l));
    };
    auto thread = [&](unsigned l) { return uint64_t{index} * kLanes + l; };
    switch (use.which) {
    case Special::tidX: perLane([&](unsigned l) { return thread(l) % t.x; }); break;
    case Special::tidY: perLane([&](unsigned l) { return thread(l) / t.x % t.y; }); break;
    case Special::tidZ: perLane([&](unsigned l) { return thread(l) / (uint64_t{t.x} * t.y); }); break;
    case Special::ntidX: all(t.x); break;
    case Special::ntidY: all(t.y); break;
    case Special::ntidZ: all(t.z); break;
    case Special::ctaidX: all(block.id.x); break;
    case Special::ctaidY: all(block.id.y); break;
    case Special::ctaidZ: all(block.id.z); break;
    case Special::nctaidX: all(launch.grid.x); break;
    case Special::nctaidY: all(launch.grid.y); break;
    case Special::nctaidZ: all(launch.grid.z); break;
    case Special::clusteridX: all(block.id.x / launch.cluster.x); break;
    case Special::clusteridY: all(block.id.y / launch.cluster.y); break;
    case Special::clusteridZ: all(block.id.z / launch.cluster.z); break;
    case Special::nclusteridX: all(clusters.x); break;
    case Special::nclusteridY: all(clusters.y); break;
    case Special::nclusteridZ: all(clusters.z); break;
    case Special::clusterCtaidX: all(block.id.x % launch.cluster.x); break;
    case Special::clusterCtaidY: all(block.id.y % launch.cluster.y); break;
    case Special::clusterCtaidZ: all(block.id.z % launch.cluster.z); break;
    case Special::clusterNctaidX: all(launch.cluster.x); break;
    case Special::clusterNctaidY: all(launch.cluster.y); break;
    case Special::clusterNctaidZ: all(launch.cluster.z); break;
    case Special::clusterCtarank: all(block.clusterRank); break;
    case Special::clusterNctarank: all(launch.cluster.count()); break;
    case Special::workspaceLow: all(launch.workspace & 0xffffffff); break;
    case Special::workspaceHigh: all(launch.workspace >> 32); break;
    case Special::envregNone: all(0); break;
    case Special::isExplicitCluster: all(launch.cluster.count() > 1 ? kAllLanes : 0); break; // a predicate
    case Special::smid: all(block.linear % static_cast<uint64_t>(launch.chip->sms)); break;
    case Special::nsmid: all(static_cast<uint64_t>(launch.chip->sms)); break;
    case Special::gridid: all(launch.gridId); break;
    case Special::nwarpid: all(static_cast<uint64_t>(launch.chip->threadsPerSm) / kLanes); break;
    case Special::dynamicSmemSize: all(launch.dynamicShared); break;
    case Special::totalSmemSize: all(launch.sharedBytes()); break;
    case Special::laneid: perLane([](unsigned l) { return uint64_t{l}; }); break;
    case Special::warpid: all(index); break;
    case Special::lanemaskEq: perLane([](unsigned l) { return uint64_t{1} << l; }); break;
    case Special::lanemaskLt: perLane([](unsigned l) { return (uint64_t{1} << l) - 1; }); break;
    case Special::lanemaskLe: perLane([](unsigned l) { return (uint64_t{2} << l) - 1; }); break;
    case Special::lanemaskGe: perLane([](unsigned l) { return uint64_t{kAllLanes} << l & kAllLanes; }); break;
    case Special::lanemaskGt: perLane([](unsigned l) { return uint64_t{kAllLanes} << (l + 1) & kAllLanes; }); break;
    default: break;
    }
  }
}

void Warp::refresh(const SpecialUse &use) {
  // The clock counts simulated instructions; with a schedule seed it starts anywhere.
  uint64_t clock = worker.steps * 4 + block.launch.settings->schedule * 0x9e3779b97f4a7c15u;
  uint64_t value = 0;
  switch (use.which) {
  case Special::clock: value = static_cast<uint32_t>(clock); break;
  case Special::clockHi: value = clock >> 32; break;
  case Special::clock64: value = clock; break;
  case Special::globaltimer: value = clock; break;
  case Special::globaltimerLo: value = static_cast<uint32_t>(clock); break;
  case Special::globaltimerHi: value = clock >> 32; break;
  default: break;
  }
  fill(data + use.slot.data, use.bytes, value, 0);
}

void Warp::run(uint64_t &budget) {
  const Instr *code = kernel.code.data();
  uint64_t *executed = worker.executed.data();
  uint64_t left = budget;
  while (left && !worker.aborted) {
    if (pc >= switchAt && !schedule()) break;
    uint64_t now = parked.empty() ? left : std::min(left, slice);
    uint64_t ran = 0;
    while (ran < now && pc < switchAt) {
      const Instr &instr = code[pc];
      ++executed[pc];
      ++ran;
      uint32_t mask = active;
      if (instr.guard != Instr::kAlways) {
        uint32_t bad = poison[instr.guardPoison] & mask;
        if (bad) {
          worker.report(*this, instr, Kind::uninitialised, bad, Severity::error, "a guard predicate is undefined");
          poison[instr.guardPoison] &= ~bad;
        }
        uint32_t guard;
        std::memcpy(&guard, data + instr.guard, 4);
        mask &= instr.guardNegated ? ~guard : guard;
        if (!mask) {
          worker.partialLanes[pc] += kLanes;
          if (trace) trace->after(*this, instr, 0);
          ++pc;
          continue;
        }
      }
      if (mask != kAllLanes) worker.partialLanes[pc] += kLanes - static_cast<unsigned>(__builtin_popcount(mask));
      ++pc;
      if (trace) {
        trace->before(*this, instr, mask);
        instr.execute(*this, instr, mask);
        trace->after(*this, instr, mask);
        continue;
      }
      instr.execute(*this, instr, mask);
    }
    left -= ran;
    worker.steps += ran;
    slice -= std::min(slice, ran);
    if (slice == 0) {
      slice = block.launch.settings->schedule ? 1 + worker.random() % 64 : kSlice;
      if (!parked.empty() && active) {
        // Let another group move.
        parked.push_back({pc, active, Wait::none, 0, ++turns});
        active = 0;
        rotated = true;
        switchAt = 0;
      }
    }
  }
  budget = left;
}

bool Warp::schedule() {
  if (active) {
    parked.push_back({pc, active, Wait::none, 0, rotated ? ++turns : 0});
    active = 0;
  }
  int best = -1;
  bool random = rotated && block.launch.settings->schedule;
  unsigned runnable = 0;
  for (size_t i = 0; i < parked.size(); ++i) {
    const Group &g = parked[i];
    if (g.wait != Wait::none) continue;
    ++runnable;
    bool better = best < 0;
    if (!better && random)
      better = worker.random() % runnable == 0;
    else if (!better && rotated)
      better = g.turn < parked[static_cast<size_t>(best)].turn;
    else if (!better)
      better = g.pc < parked[static_cast<size_t>(best)].pc;
    if (better) best = static_cast<int>(i);
  }
  rotated = false;
  if (best < 0) {
    switchAt = 0;
    return false;
  }
  pc = parked[static_cast<size_t>(best)].pc;
  for (size_t i = 0; i < parked.size();) {
    if (parked[i].wait == Wait::none && parked[i].pc == pc) {
      active |= parked[i].mask;
      parked[i] = parked.back();
      parked.pop_back();
    } else {
      ++i;
    }
  }
  updateSwitch();
  return true;
}

void Warp::updateSwitch() {
  // The next group above is met there; groups below (after a rotation) wait for the slice to end.
  switchAt = kAllLanes;
  for (const Group &g : parked)
    if (g.wait == Wait::none && g.pc > pc) switchAt = std::min(switchAt, g.pc);
}

bool Warp::canRun() const {
  if (active) return true;
  return std::any_of(parked.begin(), parked.end(), [](const Group &g) { return g.wait == Wait::none; });
}

void Warp::jump(uint32_t mask, uint32_t target) {
  if (mask == active) {
    pc = target;
    if (!parked.empty()) switchAt = 0;
    return;
  }
  parked.push_back({target, mask, Wait::none, 0, 0});
  active &= ~mask;
  switchAt = 0;
}

void Warp::isolate(uint32_t mask, uint32_t after) {
  if (mask == active) return;
  parked.push_back({after, active & ~mask, Wait::none, 0, 0});
  active = mask;
  switchAt = 0;
}

void Warp::exit(uint32_t mask) {
  live &= ~mask;
  active &= ~mask;
  if (!active) switchAt = 0;
  if (!parked.empty()) retry();
  if (!live) block.warpExited(*this);
  block.group->exited();
}

void Warp::retry() {
  for (Group &g : parked)
    if (g.wait == Wait::converge || g.wait == Wait::gather) g.wait = Wait::none;
  switchAt = 0;
}

bool Warp::converge(const Instr &instr, uint32_t mask) {
  if (mask == live) return true;
  isolate(mask, instr.index + 1);
  uint32_t together = mask;
  for (const Group &g : parked)
    if (g.pc == instr.index && (g.wait == Wait::converge || g.wait == Wait::none)) together |= g.mask;
  if (together != live) {
    parked.push_back({instr.index, mask, Wait::converge, 0, 0});
    active = 0;
    switchAt = 0;
    return false;
  }
  parked.erase(std::remove_if(parked.begin(), parked.end(), [&](const Group &g) { return g.pc == instr.index; }),
               parked.end());
  active = together;
  pc = instr.index + 1;
  updateSwitch();
  return true;
}

bool Warp::gather(const Instr &instr, uint32_t mask, uint64_t key, uint32_t need, Parts &parts) {
  parts.count = 0;
  parts.part[parts.count++] = {&instr, mask};
  if (mask == need) return true;
  auto same = [&](const Group &g) {
    if (g.wait != Wait::gather || g.key != key) return false;
    const Instr &other = kernel.code[g.pc];
    return other.row == instr.row && other.mods.types[0] == instr.mods.types[0];
  };
  uint32_t together = mask;
  for (const Group &g : parked)
    if (same(g)) together |= g.mask;
  if ((together & need) != need) {
    parked.push_back({instr.index, mask, Wait::gather, key, 0});
    active &= ~mask;
    switchAt = 0;
    return false;
  }
  for (Group &g : parked)
    if (same(g)) {
      parts.part[parts.count++] = {&kernel.code[g.pc], g.mask};
      g.wait = Wait::none;
      ++g.pc;
    }
  switchAt = 0;
  return true;
}

void Warp::regroup(const Instr &instr, uint32_t mask) {
  for (size_t i = 0; i < parked.size();) {
    parked[i].mask &= ~mask;
    if (parked[i].mask) {
      ++i;
      continue;
    }
    parked[i] = parked.back();
    parked.pop_back();
  }
  if (active & ~mask) parked.push_back({pc, active & ~mask, Wait::none, 0, 0});
  active = mask;
  pc = instr.index + 1;
  updateSwitch();
}

void Warp::park(const Instr &instr, uint32_t mask, Wait wait, uint64_t key) {
  parked.push_back({instr.index + 1, mask, wait, key, 0});
  active &= ~mask;
  switchAt = 0;
}

void Warp::parkAt(const Instr &instr, uint32_t mask, Wait wait, uint64_t key) {
  parked.push_back({instr.index, mask, wait, key, 0});
  active &= ~mask;
  switchAt = 0;
}

bool Warp::timeOut() {
  bool any = false;
  for (Group &g : parked) {
    if (g.wait != Wait::mbarrier) continue;
    const Instr &instr = kernel.code[g.pc];
    predicate(instr.d) &= ~g.mask;
    define(instr.d, g.mask, 0);
    g.wait = Wait::none;
    ++g.pc;
    any = true;
  }
  if (any) switchAt = 0;
  return any;
}

uint32_t Warp::release(Wait wait, uint64_t key) {
  uint32_t lanes = 0;
  for (Group &g : parked)
    if (g.wait == wait && g.key == key) {
      g.wait = Wait::none;
      lanes |= g.mask;
    }
  switchAt = 0;
  return lanes;
}

std::vector<Group> Warp::allGroups() const {
  std::vector<Group> groups = parked;
  if (active) groups.push_back({pc, active, Wait::none, 0, 0});
  return groups;
}

std::string Warp::describe() const {
  std::string text;
  for (const Group &g : allGroups()) {
    const Instr &instr = kernel.code[std::min<size_t>(g.pc, kernel.code.size() - 1)];
    const char *why = "is running";
    switch (g.wait) {
    case Wait::converge: why = "waits for the rest of its warp"; break;
    case Wait::gather: why = "waits for the lanes of its mask"; break;
    case Wait::barrier: why = "waits at a barrier"; break;
    case Wait::cluster: why = "waits at the cluster's barrier"; break;
    case Wait::mbarrier: why = "waits at an mbarrier"; break;
    case Wait::none: break;
    }
    char lanes[16];
    std::snprintf(lanes, sizeof lanes, "%08x", g.mask);
    // A group behind its instruction waits *at* it.
    const Instr &at = g.wait == Wait::barrier ? kernel.code[g.pc - 1] : instr;
    text += "\n    warp " + std::to_string(index) + " lanes 0x" + lanes + " " + why +
            (g.wait == Wait::barrier ? " (barrier " + std::to_string(g.key) + ")" : "") + " at line " +
            std::to_string(at.line) + ": " + kernel.texts[at.index];
    if (g.wait != Wait::mbarrier) continue;
    auto it = block.mbarriers.find(static_cast<uint32_t>(g.key));
    if (it != block.mbarriers.end()) text += "\n      " + it->second.describe(it->first);
  }
  return text;
}

Outlook Warp::lookAhead() {
  // Follow the current state until it recurs. Brent's method: the reference point moves at powers of two.
  constexpr uint64_t most = 1 << 16;
  struct State {
    std::vector<uint8_t> file;
    std::vector<Group> groups;
    uint32_t pc, active;
  };
  auto take = [&] { return State{file, parked, pc, active}; };
  auto same = [&](const State &s) {
    if (s.pc != pc || s.active != active || s.groups.size() != parked.size()) return false;
    for (size_t i = 0; i < parked.size(); ++i)
      if (s.groups[i].pc != parked[i].pc || s.groups[i].mask != parked[i].mask || s.groups[i].wait != parked[i].wait)
        return false;
    return s.file == file;
  };
  State reference = take();
  uint64_t changes = worker.changes, power = 64, steps = 0;
  for (uint64_t total = 0; total < most; ++total) {
    uint64_t one = 1;
    run(one);
    if (worker.changes != changes || worker.aborted || done()) return Outlook::goesOn;
    if (!canRun()) return Outlook::parks;
    if (same(reference)) return Outlook::recurs;
    if (++steps == power) {
      reference = take();
      power *= 2;
      steps = 0;
    }
  }
  return Outlook::goesOn;
}

} // namespace stator::sim
