// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Kernel.h"
#include "runtime/simulator/Opcodes.h"

#include <cstring>
#include <set>

namespace stator::sim {

namespace {

bool isUnsteady(Special s) { return s == Special::smid || changes(s); }

/// Does the instruction compute d (and f of a predicate pair) from its other operands alone?
bool isPure(const Instr &i) {
  switch (i.row->kind) {
  case OpClass::integer:
  case OpClass::floating:
  case OpClass::fp64:
  case OpClass::half:
  case OpClass::convert:
  case OpClass::move:
  case OpClass::compare: return true;
  default: return false;
  }
}

} // namespace

void findUnsteady(Kernel &kernel) {
  std::set<uint32_t> reached; // data offsets of registers
  for (const SpecialUse &use : kernel.specials)
    if (isUnsteady(use.which)) reached.insert(use.slot.data);
  if (reached.empty()) return;
  for (size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const Instr &i : kernel.code) {
      if (!isPure(i)) continue;
      bool pair = i.row->operands && std::strchr(i.row->operands, 'P');
      bool from = i.guard != Instr::kAlways && reached.count(i.guard);
      for (const Slot *s : {&i.a, &i.b, &i.c, &i.e, pair ? &i.e : &i.f}) from |= s->data && reached.count(s->data);
      if (!from || !i.d.data) continue;
      reached.insert(i.d.data);
      if (pair && i.f.data) reached.insert(i.f.data);
    }
  }
  for (const Instr &i : kernel.code)
    if (i.row->kind == OpClass::control && i.guard != Instr::kAlways && reached.count(i.guard))
      kernel.unsteady.push_back(i.index);
}

} // namespace stator::sim
