// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Memory.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>

namespace stator::sim {

namespace {

constexpr uint64_t kPage = 4096, kGap = 4096;

uint8_t *reserve(uint64_t bytes) {
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<uint8_t *>(p);
}

std::string hex(uint64_t value) {
  char buffer[20];
  std::snprintf(buffer, sizeof buffer, "0x%" PRIx64, value);
  return buffer;
}

} // namespace

Memory::Memory(unsigned ordinal, uint64_t capacity)
    : base(kDeviceBase + ordinal * kDeviceBytes), limit(capacity), next(base + kPage) {
  // Some machines cap the address space: take the largest power of two that maps.
  for (rangeBytes = kDeviceBytes; rangeBytes >= (uint64_t{1} << 28); rangeBytes /= 2) {
    dataRange = reserve(rangeBytes);
    definedRange = dataRange ? reserve(rangeBytes) : nullptr;
    if (definedRange) return;
    if (dataRange) munmap(dataRange, rangeBytes);
    dataRange = nullptr;
  }
  rangeBytes = 0;
}

Memory::~Memory() {
  if (dataRange) munmap(dataRange, rangeBytes);
  if (definedRange) munmap(definedRange, rangeBytes);
}

uint64_t Memory::allocate(uint64_t bytes, const std::string &name, Allocation::Kind kind) {
  if (bytes == 0 || bytes > limit || live > limit - bytes) return 0;
  // 512-byte alignment as the driver gives; the gap behind keeps neighbours apart.
  uint64_t place = next, taken = (bytes + kGap + kPage - 1) / kPage * kPage;
  if (place - base + taken > rangeBytes) return 0;
  next = place + taken;
  auto allocation = std::make_unique<Allocation>();
  allocation->base = place;
  allocation->bytes = bytes;
  allocation->data = dataRange + (place - base);
  allocation->defined = definedRange + (place - base);
  allocation->kind = kind;
  allocation->number = ++numbers;
  allocation->name = name.empty() ? "allocation " + std::to_string(numbers) : name;
  live += bytes;
  ++version;
  allocations[place] = std::move(allocation);
  return place;
}

void Memory::attachHost(void *pointer, uint64_t bytes, Allocation::Kind kind, const std::string &name) {
  auto allocation = std::make_unique<Allocation>();
  allocation->base = reinterpret_cast<uint64_t>(pointer);
  allocation->bytes = bytes;
  allocation->data = static_cast<uint8_t *>(pointer);
  allocation->kind = kind;
  allocation->number = ++numbers;
  allocation->name = name.empty() ? "host allocation " + std::to_string(numbers) : name;
  ++version;
  allocations[allocation->base] = std::move(allocation);
}

void Memory::detachHost(const void *pointer) {
  // The host may reuse the address for anything, so nothing is remembered.
  allocations.erase(reinterpret_cast<uint64_t>(pointer));
  ++version;
}

bool Memory::free(uint64_t address) {
  auto it = allocations.find(address);
  if (it == allocations.end() || it->second->freed) return false;
  Allocation &allocation = *it->second;
  if (allocation.kind == Allocation::Kind::host || !allocation.defined) return false;
  allocation.freed = true;
  live -= allocation.bytes;
  uint64_t bytes = (allocation.bytes + kPage - 1) / kPage * kPage;
  madvise(allocation.data, bytes, MADV_DONTNEED);
  madvise(allocation.defined, bytes, MADV_DONTNEED);
  ++version;
  return true;
}

Allocation *Memory::find(uint64_t address) const {
  auto it = allocations.upper_bound(address);
  if (it == allocations.begin()) return nullptr;
  Allocation *allocation = std::prev(it)->second.get();
  return address - allocation->base < allocation->bytes ? allocation : nullptr;
}

const Allocation *Memory::nearest(uint64_t address) const {
  auto above = allocations.upper_bound(address);
  const Allocation *after = above == allocations.end() ? nullptr : above->second.get();
  if (above == allocations.begin()) return after;
  const Allocation *before = std::prev(above)->second.get();
  if (address - before->base < before->bytes || !after) return before;
  return address - before->end() <= after->base - address ? before : after;
}

Fault Memory::check(const Allocation &allocation, uint64_t address, uint64_t bytes, bool write) {
  if (address < allocation.base || address - allocation.base >= allocation.bytes) return Fault::unmapped;
  if (bytes > allocation.end() - address) return Fault::pastEnd;
  if (allocation.freed) return Fault::freed;
  if (write && allocation.readOnly) return Fault::readOnly;
  if (allocation.regions.empty()) return Fault::none;
  const auto &regions = allocation.regions;
  auto it =
      std::upper_bound(regions.begin(), regions.end(), address, [](uint64_t a, const Region &r) { return a < r.base; });
  // Several regions may begin below; the last live one that holds the range decides, dead ones explain.
  bool inDead = false;
  while (it != regions.begin()) {
    --it;
    if (address - it->base >= it->bytes) {
      if (it->dead) continue;
      return inDead ? Fault::deadRegion : Fault::gap;
    }
    if (bytes > it->base + it->bytes - address) {
      if (it->dead) continue;
      return Fault::gap;
    }
    if (!it->dead) return Fault::none;
    inDead = true;
  }
  return inDead ? Fault::deadRegion : Fault::gap;
}

uint8_t *Memory::host(uint64_t address, uint64_t bytes, Allocation **owner) const {
  Allocation *allocation = find(address);
  if (!allocation || allocation->freed || bytes > allocation->end() - address) return nullptr;
  if (owner) *owner = allocation;
  return allocation->data + (address - allocation->base);
}

void Memory::define(Allocation &allocation, uint64_t address, uint64_t bytes, bool defined) {
  if (allocation.defined) std::memset(allocation.defined + (address - allocation.base), defined ? 1 : 0, bytes);
}

bool Memory::addRegion(uint64_t address, uint64_t bytes, const std::string &name) {
  Allocation *allocation = find(address);
  if (!allocation || allocation->freed || bytes > allocation->end() - address) return false;
  auto &regions = allocation->regions;
  // A new tenant ends whatever lived there.
  regions.erase(std::remove_if(regions.begin(), regions.end(),
                               [&](const Region &r) {
                                 return r.dead && r.base >= address && r.base + r.bytes <= address + bytes;
                               }),
                regions.end());
  Region region{address, bytes, name, false};
  regions.insert(std::upper_bound(regions.begin(), regions.end(), region,
                                  [](const Region &a, const Region &b) { return a.base < b.base; }),
                 region);
  define(*allocation, address, bytes, false);
  ++version;
  return true;
}

bool Memory::endRegion(uint64_t address) {
  Allocation *allocation = find(address);
  if (!allocation) return false;
  for (Region &region : allocation->regions)
    if (region.base == address && !region.dead) {
      region.dead = true;
      ++version;
      return true;
    }
  return false;
}

std::string Memory::describe(uint64_t address) const {
  const Allocation *a = nearest(address);
  if (!a) return "no allocation exists";
  std::string where = "'" + a->name + "' (" + std::to_string(a->bytes) + " bytes at " + hex(a->base) + ")";
  if (address >= a->end()) return std::to_string(address - a->end()) + " bytes past the end of " + where;
  if (address < a->base) return std::to_string(a->base - address) + " bytes before " + where;
  std::string text = "byte " + std::to_string(address - a->base) + " of " + (a->freed ? "freed " : "") + where;
  const Region *best = nullptr;
  for (const Region &r : a->regions)
    if (r.base <= address && (!best || r.base >= best->base)) best = &r;
  if (best) {
    bool inside = address - best->base < best->bytes;
    text += (inside ? ", byte " + std::to_string(address - best->base) + " of "
                    : ", " + std::to_string(address - best->base - best->bytes) + " bytes past ") +
            std::string(best->dead ? "dead " : "") + "tensor '" + best->name + "' (" + std::to_string(best->bytes) +
            " bytes)";
  }
  return text;
}

} // namespace stator::sim
