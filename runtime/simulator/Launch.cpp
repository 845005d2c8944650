// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/AsyncEngine.h"
#include "runtime/simulator/Opcodes.h"

#include <algorithm>
#include <map>
#include <thread>

namespace stator::sim {

namespace {

/// Warp instructions a block may run before the others get a turn.
constexpr uint64_t kTurn = 1 << 14;

/// How often waits at mbarriers are given up while nothing else happens.
constexpr unsigned kTimeOuts = 3;

} // namespace

uint32_t Launch::sharedBytes() const {
  uint32_t align = kernel->dynamicSharedAlign;
  if (!dynamicShared) return kernel->sharedBytes;
  return (kernel->sharedBytes + align - 1) / align * align + dynamicShared;
}

unsigned blocksPerSm(const Kernel &kernel, const Chip &chip, uint32_t threads, uint32_t dynamicShared) {
  if (threads == 0) return 0;
  auto warps = static_cast<int>((threads + kLanes - 1) / kLanes);
  int blocks = std::min(chip.blocksPerSm, chip.threadsPerSm / (warps * 32));
  // A block also takes one KiB that the system reserves from compute capability 8.0 on.
  int reserved = chip.major >= 8 ? 1024 : 0;
  int64_t shared = int64_t{kernel.sharedBytes} + dynamicShared + reserved;
  if (shared > 0) blocks = static_cast<int>(std::min<int64_t>(blocks, chip.sharedPerSm / shared));
  int registers = static_cast<int>(std::max(16u, (kernel.registersPerThread + 7) / 8 * 8)) * warps * 32;
  // The number is an estimate: alone it never keeps a block from running.
  blocks = std::min(blocks, std::max(1, chip.registersPerSm / registers));
  return static_cast<unsigned>(std::max(blocks, 0));
}

uint64_t Launch::resident() const {
  unsigned perSm = blocksPerSm(*kernel, *chip, threads(), dynamicShared);
  return std::max<uint64_t>(perSm, 1) * static_cast<uint64_t>(chip->sms);
}

Worker::Worker(const Launch &launch, unsigned number)
    : launch(launch), executed(launch.kernel->code.size()), partialLanes(launch.kernel->code.size()),
      memoryCounts(launch.kernel->code.size()),
      state((launch.settings->schedule + 1) * 0x9e3779b97f4a7c15u + number * 0xd1342543de82ef95u) {
  usesAsync = launch.kernel->usesAsync;
  if (launch.settings->races) races = std::make_unique<Races>(*this);
  for (int i = 0; i < 8; ++i) random();
}

Finding describe(const Launch &launch, const Instr &instr, Kind kind, Severity severity) {
  Finding f;
  f.kind = kind;
  f.severity = severity;
  f.kernel = launch.kernel->name;
  f.line = instr.line;
  f.text = launch.kernel->texts[instr.index];
  if (instr.sourceLine && launch.module) {
    auto file = launch.module->files.find(instr.sourceFile);
    f.sourceFile = file == launch.module->files.end() ? "file " + std::to_string(instr.sourceFile) : file->second;
    f.sourceLine = instr.sourceLine;
  }
  return f;
}

Finding *Worker::report(Warp &warp, const Instr &instr, Kind kind, uint32_t lanes, Severity severity,
                        const char *message) {
  bool isNew = false;
  Finding &f = findings.at(kind, instr.index, isNew);
  // What is certain replaces what was doubtful.
  if (!isNew && (f.severity == Severity::error || severity == Severity::warning)) return nullptr;
  uint64_t count = f.count;
  f = describe(launch, instr, kind, severity);
  f.count = count;
  f.block[0] = warp.block.id.x;
  f.block[1] = warp.block.id.y;
  f.block[2] = warp.block.id.z;
  f.warp = warp.index;
  f.lanes = lanes;
  f.message = message;
  return &f;
}

std::unique_ptr<Worker::Unit> Worker::startUnit(uint64_t index) {
  auto unit = std::make_unique<Unit>();
  uint64_t size = launch.cluster.count();
  for (uint64_t i = 0; i < size; ++i) {
    std::unique_ptr<Block> block;
    if (idle.empty()) {
      block = std::make_unique<Block>(*this, launch);
    } else {
      block = std::move(idle.back());
      idle.pop_back();
    }
    block->start(index * size + i);
    unit->blocks.push_back(std::move(block));
  }
  std::vector<Block *> members;
  for (auto &block : unit->blocks) members.push_back(block.get());
  unit->cluster = std::make_unique<Cluster>(members);
  for (Block *block : members) block->group = unit->cluster.get();
  if (size > 1)
    for (auto &block : unit->blocks) {
      block->cluster.clear();
      for (auto &peer : unit->blocks) block->cluster.push_back(peer.get());
    }
  return unit;
}

bool Worker::runUnit(Unit &unit) {
  bool finished = true;
  for (auto &block : unit.blocks)
    if (!block->done()) finished &= block->run(kTurn);
  return finished;
}

bool Worker::waits(Unit &unit) {
  // A warp that parks may have been the last at a barrier and released others: look again until none moves. Kernels
  // that pass many barriers without writing anything are given up on, which means that they go on.
  for (unsigned pass = 0; pass < 64; ++pass) {
    bool moved = false;
    for (auto &block : unit.blocks)
      for (auto &warp : block->warps) {
        if (warp->done() || !warp->canRun()) continue;
        Outlook outlook = warp->lookAhead();
        if (outlook == Outlook::goesOn) return false;
        moved |= outlook == Outlook::parks;
      }
    if (!moved) return !aborted;
  }
  return false;
}

void Worker::run(uint64_t first, uint64_t end, uint64_t resident) {
  // Units that can go on, and units that only wait for memory to change. New ones start when nothing else can go on.
  std::deque<std::unique_ptr<Unit>> runnable, stuck;
  uint64_t size = launch.cluster.count(), next = first;
  auto start = [&] {
    uint64_t index = next++, n = end - first, at = index - first;
    // A seed also turns the order of blocks around or shifts it.
    if (launch.settings->schedule && n > 1)
      index = launch.settings->schedule % 2 ? first + (n - 1 - at) : first + (at + launch.settings->schedule) % n;
    runnable.push_back(startUnit(index));
  };
  while (!aborted) {
    if (runnable.empty()) {
      if (next < end && (stuck.size() + 1) * size <= std::max(resident, size)) {
        start();
        continue;
      }
      if (stuck.empty()) return;
      size_t count = stuck.size();
      for (size_t i = 0; i < count; ++i) {
        std::unique_ptr<Unit> unit = std::move(stuck.front());
        stuck.pop_front();
        (unit->stuckAt != changes ? runnable : stuck).push_back(std::move(unit));
      }
      if (runnable.empty()) return reportDeadlock(stuck, end - next, false);
      continue;
    }
    std::unique_ptr<Unit> unit = std::move(runnable.front());
    runnable.pop_front();
    uint64_t before = changes;
    bool finished = runUnit(*unit);
    if (finished || aborted) finishCluster(*unit->cluster, *this);
    if (finished) {
      ++changes;
      for (auto &block : unit->blocks) idle.push_back(std::move(block));
      continue;
    }
    if (steps > launch.settings->stepLimit) {
      stuck.push_front(std::move(unit));
      for (auto &other : runnable) stuck.push_back(std::move(other));
      if (!aborted) reportDeadlock(stuck, end - next, true);
      return;
    }
    if (changes != before) {
      unit->quietTurns = unit->timeOuts = 0;
      if (launch.settings->async == Settings::Async::random && random() & 1) deliver(*unit->cluster, *this);
      runnable.push_back(std::move(unit));
    } else if (waits(*unit)) {
      // Now is the last moment for what is in flight; after that, waits at mbarriers run out of time.
      bool moves = deliver(*unit->cluster, *this);
      if (!moves && unit->timeOuts < kTimeOuts) {
        ++unit->timeOuts;
        for (auto &block : unit->blocks)
          for (auto &warp : block->warps) moves |= warp->timeOut();
      }
      if (moves) {
        runnable.push_back(std::move(unit));
        continue;
      }
      unit->stuckAt = changes;
      stuck.push_back(std::move(unit));
    } else if (++unit->quietTurns % 256 == 0) {
      // It may watch a clock: let others move, and come back.
      unit->stuckAt = ~changes;
      stuck.push_back(std::move(unit));
    } else {
      runnable.push_back(std::move(unit));
    }
  }
}

void Worker::reportDeadlock(const std::deque<std::unique_ptr<Unit>> &alive, uint64_t waitingToStart, bool timedOut) {
  Warp *culprit = nullptr;
  bool spinning = false, converging = false, gathering = false, phases = false;
  std::string states;
  unsigned listed = 0;
  for (const auto &unit : alive)
    for (const auto &block : unit->blocks)
      for (const auto &warp : block->warps) {
        if (warp->done()) continue;
        if (!culprit) culprit = warp.get();
        spinning |= warp->canRun();
        for (const Group &g : warp->allGroups()) {
          converging |= g.wait == Wait::converge;
          gathering |= g.wait == Wait::gather;
          phases |= g.wait == Wait::mbarrier;
        }
        if (listed++ < 16)
          states += "\n  block (" + std::to_string(block->id.x) + "," + std::to_string(block->id.y) + "," +
                    std::to_string(block->id.z) + ")" + warp->describe();
      }
  aborted = true;
  if (!culprit) return;
  uint32_t at = culprit->allGroups().empty() ? 0 : culprit->allGroups()[0].pc;
  at = std::min<uint32_t>(at, static_cast<uint32_t>(launch.kernel->code.size() - 1));
  const Instr &instr = launch.kernel->code[at];
  Kind kind = Kind::deadlock;
  std::string message =
      spinning ? "livelock: warps spin on memory that nobody will change" : "deadlock: no warp can go on";
  if (timedOut) {
    message = "the launch was ended after " + std::to_string(steps) + " warp instructions (the limit is " +
              std::to_string(launch.settings->stepLimit) + ")";
  } else if (phases) {
    kind = Kind::mbarrier;
    message = "deadlock: a phase of an mbarrier never completes";
  } else if (!spinning && gathering) {
    kind = Kind::shuffle;
    message = "a warp-synchronous instruction waits for lanes of its mask that never arrive";
  } else if (!spinning && converging) {
    kind = Kind::divergence;
    message = "an .aligned instruction waits for lanes of its warp that never arrive";
  }
  if (waitingToStart)
    message += "; " + std::to_string(waitingToStart * launch.cluster.count()) +
               " blocks could not start because the chip holds only " + std::to_string(launch.resident()) + " at once";
  uint32_t lanes = culprit->live;
  if (Finding *f = report(*culprit, instr, kind, lanes, Severity::error, "")) f->message = message + states;
}

LaunchResult execute(const Launch &launch) {
  LaunchResult result;
  uint64_t units = launch.grid.count() / launch.cluster.count();
  unsigned threads = launch.settings->threads ? launch.settings->threads : std::thread::hardware_concurrency();
  // Blocks that synchronise with each other, or whose order a seed chooses, keep one deterministic interleaving.
  bool ordered = launch.kernel->usesGridOrder || launch.settings->schedule || launch.cooperative;
  if (ordered || launch.trace || threads == 0 || units < 8) threads = 1;
  threads = static_cast<unsigned>(std::min<uint64_t>(threads, std::max<uint64_t>(units / 4, 1)));
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> pool;
  uint64_t resident = launch.resident();
  for (unsigned i = 0; i < threads; ++i) workers.push_back(std::make_unique<Worker>(launch, i));
  for (unsigned i = 1; i < threads; ++i)
    pool.emplace_back([&, i] { workers[i]->run(units * i / threads, units * (i + 1) / threads, resident); });
  workers[0]->run(0, units / threads, resident);
  for (std::thread &thread : pool) thread.join();
  if (workers[0]->races)
    for (unsigned i = 0; i < threads; ++i)
      for (unsigned j = i + 1; j < threads; ++j) workers[i]->races->compare(*workers[j]->races);
  std::map<std::pair<uint32_t, Kind>, size_t> merged;
  for (auto &worker : workers) {
    for (Finding &f : worker->findings.take()) {
      auto [it, isNew] = merged.emplace(std::make_pair(f.line, f.kind), result.findings.size());
      if (isNew)
        result.findings.push_back(std::move(f));
      else
        result.findings[it->second].count += f.count;
    }
    accumulate(result.counters, *launch.kernel, worker->executed, worker->partialLanes, worker->memoryCounts);
    result.counters.divergentBranches += worker->divergentBranches;
    if (worker != workers[0]) workers[0]->footprint.join(worker->footprint);
    if (!launch.perInstruction) continue;
    result.instructions.resize(launch.kernel->code.size());
    for (size_t i = 0; i < result.instructions.size(); ++i) {
      InstructionCount &count = result.instructions[i];
      count.executed += worker->executed[i];
      count.partialLanes += worker->partialLanes[i];
      count.memory.add(worker->memoryCounts[i]);
    }
  }
  for (uint32_t index : launch.kernel->unsteady) {
    uint64_t count = 0;
    for (auto &worker : workers) count += worker->executed[index];
    if (!count) continue;
    Finding f = describe(launch, launch.kernel->code[index], Kind::nondeterminism, Severity::warning);
    f.message = "a branch follows a clock, a timer or the multiprocessor's number: another run may go another way";
    f.count = count;
    result.findings.push_back(f);
  }
  workers[0]->footprint.count(result.counters.dramSectorsRead, result.counters.dramSectorsWritten);
  return result;
}

} // namespace stator::sim
