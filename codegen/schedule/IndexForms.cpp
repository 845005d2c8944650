// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/schedule/IndexForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir;
using stator::graph::DimRange;

namespace stator::codegen {

static bool lessTerm(const IndexTerm &a, const IndexTerm &c) {
  if (a.atoms != c.atoms)
    return std::lexicographical_compare(a.atoms.begin(), a.atoms.end(), c.atoms.begin(), c.atoms.end());
  return a.coefficient < c.coefficient;
}
bool IndexForm::operator<(const IndexForm &o) const {
  if (constant != o.constant) return constant < o.constant;
  return std::lexicographical_compare(terms.begin(), terms.end(), o.terms.begin(), o.terms.end(), lessTerm);
}

bool isVisibleFrom(Value value, Block *block) {
  Block *home = value.getParentBlock();
  while (block) {
    if (block == home) return true;
    Operation *parent = block->getParentOp();
    block = parent ? parent->getBlock() : nullptr;
  }
  return false;
}
bool IndexForms::visible(Value value) const { return isVisibleFrom(value, b.getInsertionBlock()); }

//===----------------------------------------------------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------------------------------------------------===//

std::optional<IndexForm> IndexForms::sum(const IndexForm &a, const IndexForm &c, int64_t scale) {
  IndexForm result;
  int64_t scaled;
  if (llvm::MulOverflow(c.constant, scale, scaled) || llvm::AddOverflow(a.constant, scaled, result.constant))
    return std::nullopt;
  const IndexTerm *x = a.terms.begin(), *y = c.terms.begin();
  while (x != a.terms.end() || y != c.terms.end()) {
    bool takeX = y == c.terms.end() || (x != a.terms.end() && x->atoms < y->atoms);
    bool takeY = x == a.terms.end() || (y != c.terms.end() && y->atoms < x->atoms);
    if (takeX) {
      result.terms.push_back(*x++);
      continue;
    }
    IndexTerm term = *y++;
    if (llvm::MulOverflow(term.coefficient, scale, term.coefficient)) return std::nullopt;
    if (!takeY && llvm::AddOverflow(term.coefficient, (x++)->coefficient, term.coefficient)) return std::nullopt;
    if (term.coefficient) result.terms.push_back(term);
  }
  return result;
}

std::optional<IndexForm> IndexForms::product(const IndexForm &a, const IndexForm &c) {
  IndexForm result;
  // (ca + ta...) * (cc + tc...), one row of it at a time.
  auto row = [&](int64_t coefficient, ArrayRef<unsigned> atoms) -> bool {
    IndexForm partial;
    auto addTerm = [&](int64_t other, ArrayRef<unsigned> otherAtoms) -> bool {
      int64_t value;
      if (llvm::MulOverflow(coefficient, other, value)) return false;
      if (!value) return true;
      IndexForm one;
      if (atoms.empty() && otherAtoms.empty()) {
        one.constant = value;
      } else {
        IndexTerm term{value, {}};
        term.atoms.append(atoms.begin(), atoms.end());
        term.atoms.append(otherAtoms.begin(), otherAtoms.end());
        llvm::sort(term.atoms);
        one.terms.push_back(term);
      }
      auto total = sum(partial, one, 1);
      if (total) partial = *total;
      return total.has_value();
    };
    if (!addTerm(c.constant, {})) return false;
    for (const IndexTerm &term : c.terms)
      if (!addTerm(term.coefficient, term.atoms)) return false;
    auto total = sum(result, partial, 1);
    if (total) result = *total;
    return total.has_value();
  };
  if (!row(a.constant, {})) return std::nullopt;
  for (const IndexTerm &term : a.terms)
    if (!row(term.coefficient, term.atoms)) return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------------------------------------------------===//
// Atoms, ranges
//===----------------------------------------------------------------------------------------------------------------===//

unsigned IndexForms::atomOf(Value value) {
  auto [it, isNew] = atomNumbers.try_emplace(value, atoms.size());
  if (isNew) {
    atoms.emplace_back();
    unsigned number = it->second;
    atoms.back().value = value;
    forms[value] = ofAtom(number);
    noteLoopBounds(value);
    return number;
  }
  return it->second;
}

/// What an op's own loop says about its variable.
void IndexForms::noteLoopBounds(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || loop.getInductionVar() != value) return;
  DimRange from = range(formOf(loop.getLowerBound())), to = range(formOf(loop.getUpperBound()));
  if (from.min == 0 && from.max == 0) return setExtent(value, loop.getUpperBound());
  setRange(value, from.min, to.max == INT64_MAX ? INT64_MAX : to.max - 1);
}

IndexForm IndexForms::formOf(Value value) {
  if (auto known = getConstantIntValue(value)) return {*known, {}};
  auto it = forms.find(value);
  if (it != forms.end()) return it->second;
  return ofAtom(atomOf(value));
}

void IndexForms::setRange(Value value, int64_t min, int64_t max) {
  if (getConstantIntValue(value)) return;
  atoms[atomOf(value)].range = {min, max};
}
void IndexForms::setExtent(Value value, Value extent) {
  if (getConstantIntValue(value)) return;
  IndexForm form = formOf(extent);
  DimRange bound = range(form);
  Atom &atom = atoms[atomOf(value)];
  atom.range = {0, bound.max == INT64_MAX ? INT64_MAX : bound.max - 1};
  atom.extent = form;
}

// Saturating interval arithmetic in 128 bits.
static int64_t saturate(__int128 value) {
  if (value > INT64_MAX) return INT64_MAX;
  if (value < INT64_MIN) return INT64_MIN;
  return int64_t(value);
}

DimRange IndexForms::range(const IndexForm &form) const {
  DimRange total{form.constant, form.constant};
  for (const IndexTerm &term : form.terms) {
    DimRange part{term.coefficient, term.coefficient};
    for (unsigned number : term.atoms) {
      const DimRange &r = atoms[number].range;
      __int128 corners[] = {__int128(part.min) * r.min, __int128(part.min) * r.max, __int128(part.max) * r.min,
                            __int128(part.max) * r.max};
      part = {saturate(*std::min_element(corners, corners + 4)), saturate(*std::max_element(corners, corners + 4))};
    }
    // The ends of int64 stand for "unbounded" and stay there.
    total.min = total.min == INT64_MIN || part.min == INT64_MIN ? INT64_MIN : saturate(__int128(total.min) + part.min);
    total.max = total.max == INT64_MAX || part.max == INT64_MAX ? INT64_MAX : saturate(__int128(total.max) + part.max);
  }
  return total;
}

std::optional<IndexForm> IndexForms::upperBound(IndexForm form) {
  // Each round replaces one atom that has an extent; a size's own atom has none, so this ends.
  for (int round = 0; round < 16; ++round) {
    unsigned chosen = ~0u;
    for (const IndexTerm &term : form.terms)
      for (unsigned atom : term.atoms)
        if (atoms[atom].extent) chosen = atom;
    if (chosen == ~0u) return form;
    auto largest = sum(*atoms[chosen].extent, IndexForm{1, {}}, -1);
    if (!largest) return std::nullopt;
    IndexForm next{form.constant, {}};
    for (const IndexTerm &term : form.terms) {
      IndexForm rest{0, {{term.coefficient, {}}}};
      unsigned power = 0;
      for (unsigned atom : term.atoms) atom == chosen ? void(++power) : rest.terms[0].atoms.push_back(atom);
      if (rest.terms[0].atoms.empty()) rest = {term.coefficient, {}};
      if (power && range(rest).min < 0) {
        // A falling factor: it is largest where the atom is 0.
        continue;
      }
      std::optional<IndexForm> scaled = rest;
      for (unsigned i = 0; i < power && scaled; ++i) scaled = product(*scaled, *largest);
      scaled = scaled ? sum(next, *scaled, 1) : std::nullopt;
      if (!scaled) return std::nullopt;
      next = *scaled;
    }
    form = next;
  }
  return std::nullopt;
}

bool IndexForms::fits(const IndexForm &form, const IndexForm &bound) {
  DimRange r = range(form);
  if (r.min < 0) return false;
  if (r.max != INT64_MAX && r.max < range(bound).min) return true;
  auto most = upperBound(form);
  auto gap = most ? sum(bound, *most, -1) : std::nullopt;
  return gap && range(*gap).min >= 1;
}

//===----------------------------------------------------------------------------------------------------------------===//
// Quotients and remainders
//===----------------------------------------------------------------------------------------------------------------===//

bool IndexForms::split(const IndexForm &a, const IndexForm &c, IndexForm &quotient, IndexForm &rest) {
  quotient = {};
  rest = {};
  if (c.isConstant()) {
    int64_t k = c.constant;
    if (k <= 0) return false;
    quotient.constant = a.constant / k - (a.constant % k < 0);
    rest.constant = a.constant - quotient.constant * k;
    for (const IndexTerm &term : a.terms) {
      if (term.coefficient % k == 0) quotient.terms.push_back({term.coefficient / k, term.atoms});
      else rest.terms.push_back(term);
    }
    return true;
  }
  // The terms that c's leading term divides; c's other terms go to the rest with them.
  if (c.terms.empty()) return false;
  const IndexTerm &divisor = c.terms[0];
  for (const IndexTerm &term : a.terms) {
    IndexTerm left = term;
    bool divides = term.coefficient % divisor.coefficient == 0;
    for (unsigned atom : divisor.atoms) {
      auto *it = llvm::find(left.atoms, atom);
      if (it == left.atoms.end()) divides = false;
      else left.atoms.erase(it);
    }
    if (!divides) continue;
    left.coefficient = term.coefficient / divisor.coefficient;
    IndexForm one = left.atoms.empty() ? IndexForm{left.coefficient, {}} : IndexForm{0, {left}};
    auto total = sum(quotient, one, 1);
    if (!total) return false;
    quotient = *total;
  }
  auto whole = product(quotient, c);
  auto left = whole ? sum(a, *whole, -1) : std::nullopt;
  if (!left) return false;
  rest = *left;
  return true;
}

unsigned IndexForms::divisionAtom(Atom::Kind kind, const IndexForm &dividend, const IndexForm &divisor) {
  for (auto [number, atom] : llvm::enumerate(atoms))
    if (atom.kind == kind && atom.dividend == dividend && atom.divisor == divisor) return number;
  Atom atom;
  atom.kind = kind;
  atom.dividend = dividend;
  atom.divisor = divisor;
  DimRange of = range(dividend), by = range(divisor);
  int64_t least = std::max<int64_t>(by.min, 1);
  if (kind == Atom::Quotient) {
    atom.range = {0, of.max == INT64_MAX ? INT64_MAX : std::max<int64_t>(of.max, 0) / least};
  } else {
    int64_t most = by.max == INT64_MAX ? INT64_MAX : std::max<int64_t>(by.max - 1, 0);
    atom.range = {0, std::min(most, std::max<int64_t>(of.max, 0))};
    atom.extent = divisor;
  }
  atoms.push_back(atom);
  return atoms.size() - 1;
}

IndexForm IndexForms::quotient(const IndexForm &a, const IndexForm &c) {
  IndexForm whole, rest;
  if (c == IndexForm{1, {}}) return a;
  if (!split(a, c, whole, rest)) return ofAtom(divisionAtom(Atom::Quotient, a, c));
  if (fits(rest, c)) return whole;
  // Only a rest that is not negative may be divided alone: the machine's division truncates.
  if (range(rest).min < 0) {
    whole = {};
    rest = a;
  }
  IndexForm part;
  bool done = false;
  if (c.isConstant()) {
    // (g * x + y) / (g * k) = x / k where 0 <= y < g.
    for (const IndexTerm &term : rest.terms) {
      int64_t g = std::gcd(term.coefficient, c.constant);
      IndexForm outer, inner;
      if (g <= 1 || g == c.constant || !split(rest, {g, {}}, outer, inner) || !fits(inner, {g, {}})) continue;
      part = quotient(outer, {c.constant / g, {}});
      done = true;
      break;
    }
    // (x / k) / c = x / (k * c), and (x % m) / c = (x / c) % (m / c).
    if (!done && rest.constant == 0 && rest.terms.size() == 1 && rest.terms[0].coefficient == 1 &&
        rest.terms[0].atoms.size() == 1) {
      Atom atom = atoms[rest.terms[0].atoms[0]];
      int64_t k = atom.divisor.constant, merged;
      if (atom.kind == Atom::Quotient && atom.divisor.isConstant() && !llvm::MulOverflow(k, c.constant, merged)) {
        part = quotient(atom.dividend, {merged, {}});
        done = true;
      } else if (atom.kind == Atom::Remainder && atom.divisor.isConstant() && k % c.constant == 0) {
        part = remainder(quotient(atom.dividend, c), {k / c.constant, {}});
        done = true;
      }
    }
  }
  if (!done) part = ofAtom(divisionAtom(Atom::Quotient, rest, c));
  auto total = sum(whole, part, 1);
  return total ? recompose(*total) : ofAtom(divisionAtom(Atom::Quotient, a, c));
}

IndexForm IndexForms::remainder(const IndexForm &a, const IndexForm &c) {
  IndexForm whole, rest;
  if (c == IndexForm{1, {}}) return {};
  if (!split(a, c, whole, rest)) return ofAtom(divisionAtom(Atom::Remainder, a, c));
  if (fits(rest, c)) return rest;
  if (range(rest).min < 0) rest = a;
  if (c.isConstant() && rest.constant == 0 && rest.terms.size() == 1 && rest.terms[0].coefficient == 1 &&
      rest.terms[0].atoms.size() == 1) {
    // (x % m) % c = x % c where c divides m.
    Atom atom = atoms[rest.terms[0].atoms[0]];
    if (atom.kind == Atom::Remainder && atom.divisor.isConstant() && atom.divisor.constant % c.constant == 0)
      return remainder(atom.dividend, c);
  }
  if (c.isConstant() && range(rest).min >= 0) {
    // (g * x + y) % (g * k) = g * (x % k) + y where 0 <= y < g.
    for (const IndexTerm &term : rest.terms) {
      int64_t g = std::gcd(term.coefficient, c.constant);
      IndexForm outer, inner;
      if (g <= 1 || g == c.constant || !split(rest, {g, {}}, outer, inner) || !fits(inner, {g, {}})) continue;
      if (range(outer).min < 0) continue;
      auto scaled = product(remainder(outer, {c.constant / g, {}}), {g, {}});
      auto total = scaled ? sum(*scaled, inner, 1) : std::nullopt;
      if (total) return *total;
    }
  }
  return ofAtom(divisionAtom(Atom::Remainder, rest, c));
}

/// factor * (x % c) + factor * c * (x / c) = factor * x.
IndexForm IndexForms::recompose(IndexForm form) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const IndexTerm &term : form.terms) {
      for (unsigned number : term.atoms) {
        Atom atom = atoms[number];
        if (atom.kind != Atom::Remainder) continue;
        IndexTerm factorTerm = term;
        factorTerm.atoms.erase(llvm::find(factorTerm.atoms, number));
        IndexForm factor = factorTerm.atoms.empty() ? IndexForm{factorTerm.coefficient, {}} : IndexForm{0, {factorTerm}};
        // The counterpart need not be one atom: (x / c) has simplified in the same way.
        IndexForm upper = quotient(atom.dividend, atom.divisor);
        auto scaled = product(upper, atom.divisor);
        scaled = scaled ? product(*scaled, factor) : std::nullopt;
        if (!scaled || scaled->terms.empty()) continue;
        bool present = llvm::all_of(scaled->terms, [&](const IndexTerm &t) { return llvm::is_contained(form.terms, t); });
        if (!present) continue;
        auto next = sum(form, *scaled, -1);
        next = next ? sum(*next, IndexForm{0, {term}}, -1) : std::nullopt;
        auto undone = product(factor, atom.dividend);
        next = next && undone ? sum(*next, *undone, 1) : std::nullopt;
        if (!next) continue;
        form = *next;
        changed = true;
        break;
      }
      if (changed) break;
    }
  }
  return form;
}

//===----------------------------------------------------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------------------------------------------------===//

Value IndexForms::constant(int64_t value) { return materialize({value, {}}); }

Value IndexForms::atomValue(unsigned number) {
  Atom atom = atoms[number];
  if (atom.kind == Atom::Opaque) return atom.value;
  for (Value value : emitted[ofAtom(number)])
    if (visible(value)) return value;
  Value dividend = materialize(atom.dividend), divisor = materialize(atom.divisor);
  Value value = atom.kind == Atom::Quotient ? arith::DivUIOp::create(b, loc, dividend, divisor).getResult()
                                            : arith::RemUIOp::create(b, loc, dividend, divisor).getResult();
  forms[value] = ofAtom(number);
  emitted[ofAtom(number)].push_back(value);
  return value;
}

Value IndexForms::materialize(const IndexForm &form) {
  for (Value value : emitted[form])
    if (visible(value)) return value;
  auto flags = arith::IntegerOverflowFlags::nsw;
  Value total;
  if (form.isConstant()) {
    total = arith::ConstantIndexOp::create(b, loc, form.constant);
  } else {
    auto addTerm = [&](int64_t coefficient, ArrayRef<unsigned> factors) {
      Value part;
      for (unsigned number : factors) {
        Value factor = atomValue(number);
        part = part ? arith::MulIOp::create(b, loc, part, factor, flags).getResult() : factor;
      }
      bool subtract = total && coefficient < 0 && coefficient != INT64_MIN;
      int64_t scale = subtract ? -coefficient : coefficient;
      if (scale != 1) part = arith::MulIOp::create(b, loc, part, materialize({scale, {}}), flags);
      if (!total) total = part;
      else if (subtract) total = arith::SubIOp::create(b, loc, total, part, flags);
      else total = arith::AddIOp::create(b, loc, total, part, flags);
    };
    // Rising terms first, so that partial sums stay above zero.
    for (const IndexTerm &term : form.terms)
      if (term.coefficient > 0) addTerm(term.coefficient, term.atoms);
    if (form.constant > 0 && total) total = arith::AddIOp::create(b, loc, total, materialize({form.constant, {}}), flags);
    bool addedConstant = form.constant > 0 && total;
    if (!total && form.constant) {
      total = materialize({form.constant, {}});
      addedConstant = true;
    }
    for (const IndexTerm &term : form.terms)
      if (term.coefficient < 0) addTerm(term.coefficient, term.atoms);
    if (form.constant && !addedConstant)
      total = arith::AddIOp::create(b, loc, total, materialize({form.constant, {}}), flags);
  }
  if (!forms.count(total)) forms[total] = form;
  emitted[form].push_back(total);
  return total;
}

Value IndexForms::add(Value a, Value c) {
  auto form = sum(formOf(a), formOf(c), 1);
  return form ? materialize(recompose(*form)) : arith::AddIOp::create(b, loc, a, c).getResult();
}
Value IndexForms::sub(Value a, Value c) {
  auto form = sum(formOf(a), formOf(c), -1);
  return form ? materialize(recompose(*form)) : arith::SubIOp::create(b, loc, a, c).getResult();
}
Value IndexForms::mul(Value a, Value c) {
  auto form = product(formOf(a), formOf(c));
  return form ? materialize(*form) : arith::MulIOp::create(b, loc, a, c).getResult();
}
Value IndexForms::floorDiv(Value a, Value c) { return materialize(quotient(formOf(a), formOf(c))); }
Value IndexForms::mod(Value a, Value c) { return materialize(remainder(formOf(a), formOf(c))); }

std::optional<bool> IndexForms::lessThan(Value a, Value c) {
  auto gap = sum(formOf(c), formOf(a), -1);
  if (!gap) return std::nullopt;
  DimRange r = range(*gap);
  if (r.min >= 1) return true;
  if (r.max <= 0) return false;
  // With symbolic extents: a's largest value against c.
  auto most = upperBound(formOf(a));
  auto symbolic = most ? sum(formOf(c), *most, -1) : std::nullopt;
  if (symbolic && range(*symbolic).min >= 1) return true;
  return std::nullopt;
}

Value IndexForms::linearize(ValueRange at, ValueRange sizes) {
  Value linear = constant(0);
  for (auto [index, size] : llvm::zip_equal(at, sizes)) linear = add(mul(linear, size), index);
  return linear;
}

SmallVector<Value> IndexForms::delinearize(Value linear, ValueRange sizes) {
  SmallVector<Value> at(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    // The outermost index needs no remainder: the number is in range.
    at[i] = i == 0 ? linear : mod(linear, sizes[i]);
    if (i) linear = floorDiv(linear, sizes[i]);
  }
  return at;
}

bool IndexForms::mentions(const IndexForm &form, unsigned atom) {
  for (const IndexTerm &term : form.terms)
    for (unsigned number : term.atoms) {
      if (number == atom) return true;
      const Atom &inner = atoms[number];
      if (inner.kind != Atom::Opaque && (mentions(inner.dividend, atom) || mentions(inner.divisor, atom))) return true;
    }
  return false;
}

std::optional<IndexForm> IndexForms::strideOf(const IndexForm &form, Value variable) {
  if (getConstantIntValue(variable)) return IndexForm{};
  unsigned atom = atomOf(variable);
  IndexForm stride;
  for (const IndexTerm &term : form.terms) {
    IndexTerm left = term;
    unsigned power = llvm::count(term.atoms, atom);
    if (power > 1) return std::nullopt;
    if (power) left.atoms.erase(llvm::find(left.atoms, atom));
    IndexForm rest = left.atoms.empty() ? IndexForm{left.coefficient, {}} : IndexForm{0, {left}};
    if (mentions(rest, atom)) return std::nullopt;
    if (power) stride = *sum(stride, rest, 1);
  }
  return stride;
}

} // namespace stator::codegen
