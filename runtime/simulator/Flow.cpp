// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Flow.h"

#include <algorithm>

namespace stator::sim {

namespace {

/// Tarjan's strongly connected components of the blocks in `members`, without recursion and without the edges into
/// `cut` (the head of the loop that is being opened). Components come out in topological order of their graph.
class Components {
public:
  Components(const BlockGraph &graph, const std::vector<uint32_t> &members, const std::vector<uint32_t> &region,
             uint32_t regionId, uint32_t cut, std::vector<uint32_t> &number, std::vector<uint32_t> &low,
             std::vector<uint8_t> &onStack)
      : graph(graph), region(region), regionId(regionId), cut(cut), number(number), low(low), onStack(onStack) {
    for (uint32_t block : members) number[block] = low[block] = onStack[block] = 0;
    for (uint32_t block : members)
      if (!number[block]) search(block);
    std::reverse(found.begin(), found.end());
  }
  std::vector<std::vector<uint32_t>> found;

private:
  struct Frame {
    uint32_t block;
    size_t next;
  };

  void enter(uint32_t block) {
    number[block] = low[block] = ++counter;
    onStack[block] = 1;
    stack.push_back(block);
    frames.push_back({block, 0});
  }

  void search(uint32_t root) {
    enter(root);
    while (!frames.empty()) {
      Frame &frame = frames.back();
      uint32_t block = frame.block;
      if (frame.next < graph[block].size()) {
        uint32_t to = graph[block][frame.next++];
        if (region[to] != regionId || to == cut) continue;
        if (!number[to])
          enter(to);
        else if (onStack[to])
          low[block] = std::min(low[block], number[to]);
        continue;
      }
      frames.pop_back();
      if (!frames.empty()) low[frames.back().block] = std::min(low[frames.back().block], low[block]);
      if (low[block] != number[block]) continue;
      std::vector<uint32_t> component;
      uint32_t member;
      do {
        member = stack.back();
        stack.pop_back();
        onStack[member] = 0;
        component.push_back(member);
      } while (member != block);
      found.push_back(std::move(component)); // its last element is the block by which the search entered
    }
  }

  const BlockGraph &graph;
  const std::vector<uint32_t> &region;
  uint32_t regionId, cut, counter = 0;
  std::vector<uint32_t> &number, &low;
  std::vector<uint8_t> &onStack;
  std::vector<uint32_t> stack;
  std::vector<Frame> frames;
};

} // namespace

std::vector<uint32_t> weakTopologicalOrder(const BlockGraph &graph) {
  constexpr uint32_t nowhere = 0xffffffffu;
  size_t n = graph.size();
  if (n == 0) return {};
  std::vector<uint8_t> reachable(n, 0);
  std::vector<uint32_t> work{0}, all;
  reachable[0] = 1;
  while (!work.empty()) {
    uint32_t block = work.back();
    work.pop_back();
    all.push_back(block);
    for (uint32_t to : graph[block])
      if (!reachable[to]) reachable[to] = 1, work.push_back(to);
  }
  std::sort(all.begin(), all.end());

  std::vector<uint32_t> region(n, nowhere), number(n), low(n), order;
  std::vector<uint8_t> onStack(n);
  // Pending regions, innermost last; each is a set of blocks whose edges into `head` are ignored.
  struct Pending {
    std::vector<uint32_t> members;
    uint32_t head;
  };
  std::vector<Pending> pending;
  pending.push_back({all, nowhere});
  uint32_t regionId = 0;
  while (!pending.empty()) {
    Pending now = std::move(pending.back());
    pending.pop_back();
    if (now.members.size() == 1) {
      order.push_back(now.members[0]);
      continue;
    }
    ++regionId;
    for (uint32_t block : now.members) region[block] = regionId;
    // The search must begin at the head, or a loop could be entered in its middle.
    if (now.head != nowhere)
      std::iter_swap(now.members.begin(), std::find(now.members.begin(), now.members.end(), now.head));
    Components components(graph, now.members, region, regionId, now.head, number, low, onStack);
    for (auto it = components.found.rbegin(); it != components.found.rend(); ++it) {
      uint32_t head = it->back();
      std::sort(it->begin(), it->end());
      pending.push_back({*it, head});
    }
  }
  return order;
}

} // namespace stator::sim
