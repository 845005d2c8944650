// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands to slots: registers, constants, special registers, addresses, calls.
#include "runtime/simulator/AddressSpace.h"
#include "runtime/simulator/Decoder.h"

#include <algorithm>
#include <cstring>

namespace stator::sim {

using ptx::kNone;
using ptx::Operand;

Slot Decoder::temporary(unsigned bytes) {
  unsigned width = bytes == 0 ? 4 : bytes * kLanes; // a predicate is one mask
  Slot slot{kernel->dataBytes, kernel->poisonCount++};
  kernel->dataBytes += (width + 63) / 64 * 64;
  if (kernel->dataBytes > (1u << 28)) fail("too many registers");
  return slot;
}

Slot Decoder::constant(uint64_t low, unsigned bytes, uint64_t high, bool sharedRelative) {
  if (bytes < 8 && bytes > 0) low &= (uint64_t{1} << (8 * bytes)) - 1;
  auto [it, isNew] = constants.try_emplace({low, high, bytes, sharedRelative});
  if (!isNew) return it->second;
  Slot slot = temporary(bytes);
  --kernel->poisonCount;
  slot.poison = 0;
  kernel->constants.push_back({slot, static_cast<uint8_t>(bytes), sharedRelative, low, high});
  return it->second = slot;
}

bool Decoder::kernelParam(const Operand &operand, uint64_t &offset) const {
  if (operand.kind != Operand::Kind::address || operand.parts.empty() || operand.parts[0].kind != Operand::Kind::symbol)
    return false;
  Space space = Space::generic;
  if (!symbolAddress(operand.parts[0].name, offset, space) || space != Space::reg) return false;
  offset += static_cast<uint64_t>(operand.value);
  return true;
}

Slot Decoder::param(uint64_t offset, unsigned bytes, unsigned width, bool isSignedType) {
  if (offset > kernel->paramBytes || bytes > kernel->paramBytes - offset) fail("reads beyond the kernel's parameters");
  if (offset % bytes) fail("the parameter is not aligned");
  auto [it, isNew] = paramSlots.try_emplace({offset, bytes, width, isSignedType});
  if (!isNew) return it->second;
  Slot slot = temporary(width);
  --kernel->poisonCount;
  slot.poison = 0;
  kernel->paramUses.push_back(
      {slot, static_cast<uint32_t>(offset), static_cast<uint8_t>(bytes), static_cast<uint8_t>(width), isSignedType});
  return it->second = slot;
}

unsigned Decoder::registerBytes(const Operand &operand) const {
  if (operand.kind != Operand::Kind::reg) return 0;
  Type type = current->function->registers[operand.reg].type;
  return type == Type::pred ? 0 : sizeOf(type);
}

int64_t Decoder::immediate(const Operand &operand) {
  if (operand.kind != Operand::Kind::integer) fail("expected an integer constant");
  return operand.value;
}

void Decoder::expectOperands(const ptx::Statement &s, size_t least, size_t most) {
  if (s.operands.size() < least || s.operands.size() > most)
    fail("expected " + std::to_string(least) + (most > least ? " to " + std::to_string(most) : "") +
         " operands, found " + std::to_string(s.operands.size()));
}

bool Decoder::symbolAddress(const std::string &name, uint64_t &address, Space &space) const {
  auto it = places.find(current->function->name + "/" + name);
  if (it == places.end()) it = places.find(name);
  if (it != places.end()) {
    space = it->second.first;
    address = it->second.second;
    return true;
  }
  if (current->function == &entry)
    for (const ptx::Param &param : entry.params)
      if (param.name == name) {
        space = Space::reg; // the kernel's own parameters, apart from call parameters (Space::param)
        address = param.offset;
        return true;
      }
  if (auto global = symbols.find(name); global != symbols.end()) {
    space = Space::global;
    address = global->second;
    return true;
  }
  return false;
}

Slot Decoder::source(const Operand &operand, unsigned bytes, Number number) {
  uint8_t actual = 0;
  Slot slot = wideSource(operand, bytes, number, actual);
  if (actual != bytes)
    fail("operand has " + std::to_string(actual * 8) + " bits where " + std::to_string(bytes * 8) + " are expected");
  return slot;
}

Slot Decoder::wideSource(const Operand &operand, unsigned bytes, Number number, uint8_t &actual) {
  actual = static_cast<uint8_t>(bytes);
  if (operand.negated) fail("only predicates can be negated");
  switch (operand.kind) {
  case Operand::Kind::reg: {
    unsigned width = registerBytes(operand);
    if (width == 0) fail("a predicate cannot be this operand");
    if (operand.hasSecond) fail("a pair cannot be this operand");
    if (width < bytes) fail("register is too narrow for this operand");
    actual = static_cast<uint8_t>(width);
    return registerSlot(operand.reg);
  }
  case Operand::Kind::special: return special(operand.name, bytes);
  case Operand::Kind::integer: {
    if (number != Number::integer && operand.value != 0) fail("an integer constant where a float is expected");
    auto bits = static_cast<uint64_t>(operand.value);
    return constant(bits, bytes, bytes == 16 && operand.value < 0 ? ~uint64_t{0} : 0);
  }
  case Operand::Kind::float32: {
    if (bytes == 8 && number == Number::f64) {
      float narrow;
      auto bits = static_cast<uint32_t>(operand.value);
      std::memcpy(&narrow, &bits, 4);
      auto wide = static_cast<double>(narrow);
      uint64_t wideBits;
      std::memcpy(&wideBits, &wide, 8);
      return constant(wideBits, 8);
    }
    return constant(static_cast<uint64_t>(operand.value), bytes);
  }
  case Operand::Kind::float64: {
    if (bytes != 4) return constant(static_cast<uint64_t>(operand.value), bytes);
    double wide;
    std::memcpy(&wide, &operand.value, 8);
    auto narrow = static_cast<float>(wide);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return constant(bits, 4);
  }
  case Operand::Kind::symbol: {
    uint64_t address = 0;
    Space space = Space::generic;
    if (!symbolAddress(operand.name, address, space)) fail("unknown symbol " + operand.name);
    address += static_cast<uint64_t>(operand.value);
    if (bytes != 8 && bytes != 4) fail("an address needs a 32- or 64-bit register");
    return constant(address, bytes, 0, space == Space::shared);
  }
  default: fail("this operand is not allowed here");
  }
}

Slot Decoder::destination(const Operand &operand, unsigned bytes) {
  uint8_t actual = 0;
  Slot slot = wideDestination(operand, bytes, actual);
  if (actual != bytes)
    fail("destination has " + std::to_string(actual * 8) + " bits where " + std::to_string(bytes * 8) +
         " are expected");
  return slot;
}

Slot Decoder::wideDestination(const Operand &operand, unsigned bytes, uint8_t &actual) {
  actual = static_cast<uint8_t>(bytes);
  if (operand.kind == Operand::Kind::sink) return sinkSlot;
  if (operand.kind != Operand::Kind::reg || operand.negated) fail("the destination must be a register");
  unsigned width = registerBytes(operand);
  if (width == 0) fail("a predicate cannot be this destination");
  if (width < bytes) fail("destination register is too narrow");
  actual = static_cast<uint8_t>(width);
  return registerSlot(operand.reg);
}

Slot Decoder::predicate(const Operand &operand, bool isDestination) {
  if (operand.kind == Operand::Kind::sink && isDestination) return sinkSlot;
  if (operand.kind == Operand::Kind::integer && !isDestination) {
    // A predicate constant is a mask; its "lanes" are the bits of one word.
    return constant(operand.value ? kAllLanes : 0, 0);
  }
  if (operand.kind == Operand::Kind::special && operand.name == "%is_explicit_cluster" && !isDestination) {
    auto [place, isNew] = specials.try_emplace({Special::isExplicitCluster, 0});
    if (isNew) {
      place->second = temporary(0);
      --kernel->poisonCount;
      place->second.poison = 0;
      kernel->specials.push_back({Special::isExplicitCluster, place->second, 0});
    }
    return place->second;
  }
  if (operand.kind != Operand::Kind::reg || current->function->registers[operand.reg].type != Type::pred)
    fail("expected a predicate register");
  if (isDestination && operand.negated) fail("a destination cannot be negated");
  return registerSlot(operand.reg);
}

Slot Decoder::pair(const Operand &operand, unsigned bytes, Slot &second) {
  second = Slot();
  Operand first = operand;
  first.hasSecond = false;
  if (operand.hasSecond) {
    second = sinkSlot;
    if (operand.second != kNone) {
      if (current->function->registers[operand.second].type != Type::pred) fail("expected a predicate behind '|'");
      second = registerSlot(operand.second);
    }
  }
  return destination(first, bytes);
}

void Decoder::returnFrom(Instr &instr) {
  instr.tag = current->function != &entry;
  instr.a = current->returnTo;
}

void Decoder::list(Instr &instr, const std::vector<Slot> &slots) {
  instr.list = static_cast<uint32_t>(kernel->slots.size());
  instr.listCount = static_cast<uint32_t>(slots.size());
  kernel->slots.insert(kernel->slots.end(), slots.begin(), slots.end());
}

void Decoder::address(const Operand &operand, Instr &instr) {
  if (operand.kind != Operand::Kind::address || operand.parts.empty()) fail("expected an address in brackets");
  const Operand &base = operand.parts[0];
  instr.offset = operand.value;
  if (base.kind == Operand::Kind::reg) {
    unsigned width = registerBytes(base);
    if (width != 4 && width != 8) fail("an address register has 32 or 64 bits");
    instr.wideAddress = width == 8;
    instr.a = registerSlot(base.reg);
    return;
  }
  instr.wideAddress = true;
  if (base.kind == Operand::Kind::integer) {
    instr.a = constant(static_cast<uint64_t>(base.value), 8);
    return;
  }
  if (base.kind != Operand::Kind::symbol) fail("this cannot be an address");
  uint64_t address = 0;
  Space space = Space::generic;
  if (!symbolAddress(base.name, address, space)) fail("unknown symbol " + base.name);
  if (space == Space::param || (space == Space::local && instr.mods.space == Space::param)) {
    if (instr.mods.space != Space::param) fail("a parameter is accessed with ld.param or st.param");
    instr.mods.space = Space::local; // call parameters live in the thread's local memory
  } else if (space == Space::reg) {
    if (instr.mods.space != Space::param) fail("a parameter is accessed with ld.param");
  } else if (instr.mods.space == Space::param) {
    fail(base.name + " is not a parameter");
  } else if (space == Space::shared && instr.mods.space == Space::generic) {
    address += kSharedWindow;
  } else if (space == Space::local && instr.mods.space == Space::generic) {
    address += kLocalWindow;
  }
  instr.a = constant(address, 8, 0, space == Space::shared);
}

uint32_t Decoder::addAddress(const Operand &operand, Space space) {
  Instr parts;
  parts.mods.space = space;
  address(operand, parts);
  kernel->addresses.push_back({parts.a, parts.offset, parts.wideAddress, parts.mods.space});
  return static_cast<uint32_t>(kernel->addresses.size() - 1);
}

uint64_t Decoder::paramPlace(const std::string &name, uint64_t *bytes) {
  for (const std::string &key : {current->function->name + "/" + name, name}) {
    auto it = places.find(key);
    if (it == places.end()) continue;
    if (bytes) *bytes = sizes[key];
    return it->second.second;
  }
  fail("unknown parameter " + name);
}

void Decoder::branchTo(Instr &instr, const std::string &label) {
  instr.last = true;
  fixups.emplace_back(0, current->function->name + "/" + label);
}

void Decoder::branchTable(Instr &instr, const std::string &name) {
  auto it = current->function->targetLists.find(name);
  if (it == current->function->targetLists.end()) fail("unknown list of branch targets " + name);
  instr.last = true;
  for (const std::string &label : it->second) tableFixups.emplace_back(0, current->function->name + "/" + label);
}

void Decoder::call(Instr &instr, const std::string &name, const Operand *results, const Operand *arguments) {
  auto state =
      std::find_if(states.begin(), states.end(), [&](const FunctionState &s) { return s.function->name == name; });
  if (state == states.end()) fail("call of " + name + ", which has no body in this module");
  instr.last = true;
  callFixups.emplace_back(0, name);
  // Copies before the call and after the return: triples (to, from, bytes) of places in local memory.
  std::vector<Slot> copies;
  auto add = [&](const std::vector<ptx::Param> &formal, const Operand *actual, bool in) {
    size_t count = actual ? actual->parts.size() : 0;
    if (count != formal.size()) fail("call of " + name + " with a wrong number of parameters");
    for (size_t i = 0; i < count; ++i) {
      const Operand &operand = actual->parts[i];
      if (formal[i].reg != kNone || operand.kind != Operand::Kind::symbol)
        fail("register parameters of functions are not supported");
      uint64_t bytes = 0, mine = paramPlace(operand.name, &bytes);
      auto theirs = places.find(name + "/" + formal[i].name);
      if (theirs == places.end() || bytes != formal[i].bytes) fail("parameter " + operand.name + " has a wrong size");
      auto callee = static_cast<uint32_t>(theirs->second.second), caller = static_cast<uint32_t>(mine);
      copies.push_back(in ? Slot{callee, caller} : Slot{caller, callee});
      copies.push_back({static_cast<uint32_t>(bytes), in});
    }
  };
  add(state->function->params, arguments, true);
  add(state->function->results, results, false);
  list(instr, copies);
}

Slot Decoder::special(const std::string &name, unsigned bytes) {
  static const std::map<std::string, Special> names = {{"%tid.x", Special::tidX},
                                                       {"%tid.y", Special::tidY},
                                                       {"%tid.z", Special::tidZ},
                                                       {"%ntid.x", Special::ntidX},
                                                       {"%ntid.y", Special::ntidY},
                                                       {"%ntid.z", Special::ntidZ},
                                                       {"%ctaid.x", Special::ctaidX},
                                                       {"%ctaid.y", Special::ctaidY},
                                                       {"%ctaid.z", Special::ctaidZ},
                                                       {"%nctaid.x", Special::nctaidX},
                                                       {"%nctaid.y", Special::nctaidY},
                                                       {"%nctaid.z", Special::nctaidZ},
                                                       {"%clusterid.x", Special::clusteridX},
                                                       {"%clusterid.y", Special::clusteridY},
                                                       {"%clusterid.z", Special::clusteridZ},
                                                       {"%nclusterid.x", Special::nclusteridX},
                                                       {"%nclusterid.y", Special::nclusteridY},
                                                       {"%nclusterid.z", Special::nclusteridZ},
                                                       {"%cluster_ctaid.x", Special::clusterCtaidX},
                                                       {"%cluster_ctaid.y", Special::clusterCtaidY},
                                                       {"%cluster_ctaid.z", Special::clusterCtaidZ},
                                                       {"%cluster_nctaid.x", Special::clusterNctaidX},
                                                       {"%cluster_nctaid.y", Special::clusterNctaidY},
                                                       {"%cluster_nctaid.z", Special::clusterNctaidZ},
                                                       {"%cluster_ctarank", Special::clusterCtarank},
                                                       {"%cluster_nctarank", Special::clusterNctarank},
                                                       {"%envreg0", Special::envregNone},
                                                       {"%envreg1", Special::workspaceHigh},
                                                       {"%envreg2", Special::workspaceLow},
                                                       {"%smid", Special::smid},
                                                       {"%nsmid", Special::nsmid},
                                                       {"%gridid", Special::gridid},
                                                       {"%nwarpid", Special::nwarpid},
                                                       {"%dynamic_smem_size", Special::dynamicSmemSize},
                                                       {"%total_smem_size", Special::totalSmemSize},
                                                       {"%laneid", Special::laneid},
                                                       {"%warpid", Special::warpid},
                                                       {"%lanemask_eq", Special::lanemaskEq},
                                                       {"%lanemask_le", Special::lanemaskLe},
                                                       {"%lanemask_lt", Special::lanemaskLt},
                                                       {"%lanemask_ge", Special::lanemaskGe},
                                                       {"%lanemask_gt", Special::lanemaskGt},
                                                       {"%clock", Special::clock},
                                                       {"%clock_hi", Special::clockHi},
                                                       {"%clock64", Special::clock64},
                                                       {"%globaltimer", Special::globaltimer},
                                                       {"%globaltimer_lo", Special::globaltimerLo},
                                                       {"%globaltimer_hi", Special::globaltimerHi}};
  auto it = names.find(name);
  if (it == names.end()) fail("unknown register " + name);
  bool wide = it->second == Special::clock64 || it->second == Special::globaltimer || it->second == Special::gridid;
  if (bytes != 2 && bytes != 4 && bytes != 8) fail("a special register needs a 16-, 32- or 64-bit operand");
  if (bytes == 8 && !wide) fail(name + " has 32 bits");
  auto [place, isNew] = specials.try_emplace({it->second, bytes});
  if (isNew) {
    place->second = temporary(bytes);
    --kernel->poisonCount;
    place->second.poison = 0;
    kernel->specials.push_back({it->second, place->second, static_cast<uint8_t>(bytes)});
  }
  if (changes(it->second)) toRefresh.push_back({it->second, place->second, static_cast<uint8_t>(bytes)});
  return place->second;
}

} // namespace stator::sim
