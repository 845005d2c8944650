// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/execute/TensorWatch.h"

#include <algorithm>

namespace stator::runtime {
namespace {

void usedBuffers(const Step &step, std::vector<BufferId> &used);

void usedBuffers(const Block &block, std::vector<BufferId> &used) {
  for (const Step &step : block) usedBuffers(step, used); // at most 32 deep
}

void usedBuffers(const Step &step, std::vector<BufferId> &used) {
  if (auto *launch = std::get_if<LaunchStep>(&step.what)) {
    used.insert(used.end(), launch->buffers.begin(), launch->buffers.end());
  } else if (auto *library = std::get_if<LibraryStep>(&step.what)) {
    for (const auto &[name, operand] : library->operands) used.push_back(operand.buffer);
    for (const PostOp &post : library->post)
      if (post.operand) used.push_back(post.operand->buffer);
    if (library->fallback) usedBuffers(*library->fallback, used);
  } else if (auto *copy = std::get_if<CopyStep>(&step.what)) {
    used.insert(used.end(), {copy->from, copy->to});
  } else if (auto *fill = std::get_if<FillStep>(&step.what)) {
    used.push_back(fill->to);
  } else if (auto *read = std::get_if<ReadSymbolStep>(&step.what)) {
    used.push_back(read->from);
  } else if (auto *branch = std::get_if<IfStep>(&step.what)) {
    used.push_back(branch->predicate);
    usedBuffers(branch->thenSteps, used);
    usedBuffers(branch->elseSteps, used);
  } else if (auto *loop = std::get_if<WhileStep>(&step.what)) {
    used.push_back(loop->predicate);
    usedBuffers(loop->condition, used);
    usedBuffers(loop->body, used);
  }
}

} // namespace

TensorWatch::TensorWatch(const Plan &plan) {
  std::vector<int> place(plan.buffers.size(), -1);
  std::vector<BufferId> used;
  for (size_t index = 0; index < plan.steps.size(); ++index) {
    used.clear();
    usedBuffers(plan.steps[index], used);
    for (BufferId id : used) {
      if (plan.buffers[id].space == Buffer::Space::View) id = plan.buffers[id].index;
      const Buffer &buffer = plan.buffers[id];
      if (buffer.space != Buffer::Space::Arena || plan.arenas[buffer.index].memory != MemoryKind::Device) continue;
      if (place[id] < 0) {
        place[id] = int(lives.size());
        lives.push_back({id, index, index});
      }
      lives[size_t(place[id])].last = index;
    }
  }
}

void TensorWatch::begin(Frame &frame) {
  // What an earlier call that failed in the middle has left.
  for (Region &region : regions)
    if (region.declared) frame.device().endTensor(region.address);
  regions.clear();
  for (const Life &life : lives)
    if (frame.dependsOnData(life.buffer)) return; // not all places are known yet: watch none rather than some
  for (const Life &life : lives) {
    Region region{frame.address(life.buffer), frame.bytes(life.buffer), life.first, life.last,
                  frame.plan().buffers[life.buffer].label};
    if (region.name.empty()) region.name = "buffer " + std::to_string(life.buffer);
    if (region.bytes != 0) regions.push_back(std::move(region));
  }
  // Joins regions that overlap in memory and in time until none do.
  for (size_t i = 0; i < regions.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      Region &a = regions[i], &b = regions[j];
      bool together =
          a.address < b.address + b.bytes && b.address < a.address + a.bytes && a.first <= b.last && b.first <= a.last;
      if (!together) continue;
      char *end = std::max(a.address + a.bytes, b.address + b.bytes);
      a.address = std::min(a.address, b.address);
      a.bytes = end - a.address;
      a.first = std::min(a.first, b.first), a.last = std::max(a.last, b.last);
      a.name = b.name + ", " + a.name;
      regions.erase(regions.begin() + int64_t(j));
      --i;
      j = size_t(-1); // the larger region may meet others
    }
}

void TensorWatch::before(size_t index, Device &device) {
  for (Region &region : regions)
    if (region.first == index) {
      device.beginTensor(region.address, region.bytes, region.name);
      region.declared = true;
    }
}

void TensorWatch::after(size_t index, Device &device) {
  for (Region &region : regions)
    if (region.last == index && region.declared) {
      device.endTensor(region.address);
      region.declared = false;
    }
}

} // namespace stator::runtime
