// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Symbols.h"
#include "dialects/graph/Graph.h"

using namespace mlir;

namespace stator::graph {

namespace detail {
struct DimExprStorage : AttributeStorage {
  using KeyTy = std::tuple<int, int64_t, StringRef, ArrayRef<DimExpr>>;
  DimExprStorage(DimKind kind, int64_t value, StringRef name, ArrayRef<DimExpr> operands)
      : kind(kind), value(value), name(name), operands(operands) {}
  bool operator==(const KeyTy &key) const { return key == KeyTy(int(kind), value, name, operands); }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key));
  }
  static DimExprStorage *construct(AttributeStorageAllocator &allocator, const KeyTy &key) {
    return new (allocator.allocate<DimExprStorage>())
        DimExprStorage(DimKind(std::get<0>(key)), std::get<1>(key), allocator.copyInto(std::get<2>(key)),
                       allocator.copyInto(std::get<3>(key)));
  }
  DimKind kind;
  int64_t value;
  StringRef name;
  ArrayRef<DimExpr> operands;
};
} // namespace detail

namespace {

DimExpr make(MLIRContext *context, DimKind kind, int64_t value, StringRef name, ArrayRef<DimExpr> operands) {
  return DimExpr::get(context, int(kind), value, name, operands);
}

/// Structural order, independent of addresses, so that printed forms and artifacts are the same in every run.
int compare(DimExpr a, DimExpr b) {
  if (a == b) return 0;
  if (a.getKind() != b.getKind()) return int(a.getKind()) < int(b.getKind()) ? -1 : 1;
  if (a.isConstant()) return a.getConstant() < b.getConstant() ? -1 : 1;
  if (a.getKind() == DimKind::Symbol) return a.getSymbol().compare_numeric(b.getSymbol());
  ArrayRef<DimExpr> x = a.getOperands(), y = b.getOperands();
  for (auto [p, q] : llvm::zip(x, y))
    if (int order = compare(p, q)) return order;
  return x.size() < y.size() ? -1 : 1;
}

/// A monomial's atoms, sorted; the empty list is the constant term.
using Atoms = SmallVector<DimExpr, 4>;
struct AtomsLess {
  bool operator()(const Atoms &a, const Atoms &b) const {
    // Higher degree first, then by name: 4 * s0 * s1 + s0 + 3.
    if (a.size() != b.size()) return a.size() > b.size();
    for (auto [p, q] : llvm::zip(a, b))
      if (int order = compare(p, q)) return order < 0;
    return false;
  }
};
using Polynomial = std::map<Atoms, int64_t, AtomsLess>;

/// Above this many terms a product stays a product: expansion would grow without bound.
constexpr size_t maxTerms = 64;

void addTerm(DimExpr term, int64_t scale, Polynomial &into, bool &overflow) {
  int64_t coefficient = scale;
  Atoms atoms;
  if (term.isConstant()) {
    overflow |= __builtin_mul_overflow(coefficient, term.getConstant(), &coefficient);
  } else if (term.getKind() == DimKind::Mul) {
    for (DimExpr factor : term.getOperands()) {
      if (factor.isConstant())
        overflow |= __builtin_mul_overflow(coefficient, factor.getConstant(), &coefficient);
      else
        atoms.push_back(factor);
    }
  } else {
    atoms.push_back(term);
  }
  int64_t &slot = into[atoms];
  overflow |= __builtin_add_overflow(slot, coefficient, &slot);
}

Polynomial polynomial(DimExpr expr, bool &overflow, int64_t scale = 1) {
  Polynomial result;
  if (expr.getKind() == DimKind::Add) {
    for (DimExpr term : expr.getOperands()) addTerm(term, scale, result, overflow);
  } else {
    addTerm(expr, scale, result, overflow);
  }
  return result;
}

DimExpr fromPolynomial(MLIRContext *context, const Polynomial &terms) {
  SmallVector<DimExpr> sum;
  for (const auto &[atoms, coefficient] : terms) {
    if (coefficient == 0) continue;
    if (atoms.empty()) {
      sum.push_back(DimExpr::constant(context, coefficient));
    } else if (coefficient == 1 && atoms.size() == 1) {
      sum.push_back(atoms[0]);
    } else {
      SmallVector<DimExpr> factors;
      if (coefficient != 1) factors.push_back(DimExpr::constant(context, coefficient));
      factors.append(atoms.begin(), atoms.end());
      sum.push_back(make(context, DimKind::Mul, 0, "", factors));
    }
  }
  if (sum.empty()) return DimExpr::constant(context, 0);
  if (sum.size() == 1) return sum[0];
  return make(context, DimKind::Add, 0, "", sum);
}

/// a / b where b is one monomial that divides every term of a; null otherwise.
DimExpr divideExactly(DimExpr a, DimExpr b) {
  bool overflow = false;
  Polynomial numerator = polynomial(a, overflow), divisor = polynomial(b, overflow);
  if (overflow || divisor.size() != 1 || divisor.begin()->second == 0) return {};
  const auto &[atoms, coefficient] = *divisor.begin();
  Polynomial quotient;
  for (const auto &[termAtoms, termCoefficient] : numerator) {
    if (coefficient == -1 && termCoefficient == INT64_MIN) return {};
    if (termCoefficient % coefficient != 0) return {};
    Atoms rest = termAtoms;
    for (DimExpr atom : atoms) {
      auto *found = llvm::find(rest, atom);
      if (found == rest.end()) return {};
      rest.erase(found);
    }
    quotient[rest] += termCoefficient / coefficient;
  }
  return fromPolynomial(a.getContext(), quotient);
}

std::optional<int64_t> floorDivide(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

DimExpr extremum(DimKind kind, DimExpr a, DimExpr b) {
  if (!a || !b) return {};
  SmallVector<DimExpr> operands;
  std::optional<int64_t> constant;
  for (DimExpr side : {a, b}) {
    ArrayRef<DimExpr> parts = side.getKind() == kind ? side.getOperands() : ArrayRef<DimExpr>(side);
    for (DimExpr part : parts) {
      if (auto value = part.asConstant())
        constant = !constant ? *value : kind == DimKind::Min ? std::min(*constant, *value) : std::max(*constant, *value);
      else if (!llvm::is_contained(operands, part))
        operands.push_back(part);
    }
  }
  if (constant) operands.push_back(DimExpr::constant(a.getContext(), *constant));
  if (operands.size() == 1) return operands[0];
  llvm::sort(operands, [](DimExpr x, DimExpr y) { return compare(x, y) < 0; });
  return make(a.getContext(), kind, 0, "", operands);
}

} // namespace

void GraphDialect::registerDimExpr() { addAttributes<DimExpr>(); }

DimExpr DimExpr::constant(MLIRContext *context, int64_t value) {
  return make(context, DimKind::Constant, value, "", {});
}
DimExpr DimExpr::symbol(MLIRContext *context, StringRef name) { return make(context, DimKind::Symbol, 0, name, {}); }

DimExpr DimExpr::add(DimExpr a, DimExpr b) {
  if (!a || !b) return {};
  bool overflow = false;
  Polynomial sum = polynomial(a, overflow);
  for (const auto &[atoms, coefficient] : polynomial(b, overflow))
    overflow |= __builtin_add_overflow(sum[atoms], coefficient, &sum[atoms]);
  return overflow ? DimExpr() : fromPolynomial(a.getContext(), sum);
}

DimExpr DimExpr::sub(DimExpr a, DimExpr b) {
  if (!a || !b) return {};
  return add(a, mul(b, constant(b.getContext(), -1)));
}

DimExpr DimExpr::mul(DimExpr a, DimExpr b) {
  if (!a || !b) return {};
  bool overflow = false;
  Polynomial x = polynomial(a, overflow), y = polynomial(b, overflow), product;
  if (x.size() * y.size() > maxTerms) {
    // Too big to expand: each side becomes one opaque atom.
    product[compare(a, b) < 0 ? Atoms{a, b} : Atoms{b, a}] = 1;
    return overflow ? DimExpr() : fromPolynomial(a.getContext(), product);
  }
  for (const auto &[p, m] : x) {
    for (const auto &[q, n] : y) {
      Atoms atoms = p;
      atoms.append(q.begin(), q.end());
      llvm::sort(atoms, [](DimExpr s, DimExpr t) { return compare(s, t) < 0; });
      int64_t coefficient;
      overflow |= __builtin_mul_overflow(m, n, &coefficient);
      overflow |= __builtin_add_overflow(product[atoms], coefficient, &product[atoms]);
    }
  }
  return overflow ? DimExpr() : fromPolynomial(a.getContext(), product);
}

DimExpr DimExpr::floorDiv(DimExpr a, DimExpr b) {
  if (!a || !b || b.isConstant(0)) return {};
  if (a.isConstant() && b.isConstant()) {
    auto value = floorDivide(a.getConstant(), b.getConstant());
    return value ? constant(a.getContext(), *value) : DimExpr();
  }
  if (DimExpr exact = divideExactly(a, b)) return exact;
  return make(a.getContext(), DimKind::FloorDiv, 0, "", {a, b});
}

DimExpr DimExpr::ceilDiv(DimExpr a, DimExpr b) {
  if (!a || !b) return {};
  DimExpr minusOne = constant(a.getContext(), -1);
  return mul(floorDiv(mul(a, minusOne), b), minusOne);
}

DimExpr DimExpr::mod(DimExpr a, DimExpr b) {
  if (!a || !b || b.isConstant(0)) return {};
  if (a.isConstant() && b.isConstant()) {
    auto quotient = floorDivide(a.getConstant(), b.getConstant());
    return constant(a.getContext(), quotient ? a.getConstant() - *quotient * b.getConstant() : 0);
  }
  if (divideExactly(a, b)) return constant(a.getContext(), 0);
  return make(a.getContext(), DimKind::Mod, 0, "", {a, b});
}

DimExpr DimExpr::min(DimExpr a, DimExpr b) { return extremum(DimKind::Min, a, b); }
DimExpr DimExpr::max(DimExpr a, DimExpr b) { return extremum(DimKind::Max, a, b); }

DimKind DimExpr::getKind() const { return getImpl()->kind; }
int64_t DimExpr::getConstant() const { return getImpl()->value; }
StringRef DimExpr::getSymbol() const { return getImpl()->name; }
ArrayRef<DimExpr> DimExpr::getOperands() const { return getImpl()->operands; }

void DimExpr::forEachSymbol(function_ref<void(StringRef)> visit) const {
  if (getKind() == DimKind::Symbol) visit(getSymbol());
  for (DimExpr operand : getOperands()) operand.forEachSymbol(visit);
}

static DimExpr fold(DimKind kind, ArrayRef<DimExpr> operands) {
  DimExpr result = operands.front();
  for (DimExpr next : operands.drop_front()) {
    switch (kind) {
    case DimKind::Add: result = DimExpr::add(result, next); break;
    case DimKind::Mul: result = DimExpr::mul(result, next); break;
    case DimKind::FloorDiv: result = DimExpr::floorDiv(result, next); break;
    case DimKind::Mod: result = DimExpr::mod(result, next); break;
    case DimKind::Min: result = DimExpr::min(result, next); break;
    case DimKind::Max: result = DimExpr::max(result, next); break;
    case DimKind::Constant:
    case DimKind::Symbol: break;
    }
    if (!result) return {};
  }
  return result;
}

DimExpr DimExpr::substitute(function_ref<DimExpr(StringRef)> map) const {
  if (isConstant()) return *this;
  if (getKind() == DimKind::Symbol) {
    DimExpr mapped = map(getSymbol());
    return mapped ? mapped : *this;
  }
  std::vector<DimExpr> operands;
  for (DimExpr operand : getOperands()) {
    operands.push_back(operand.substitute(map));
    if (!operands.back()) return {};
  }
  return fold(getKind(), operands);
}

std::optional<int64_t> DimExpr::evaluate(function_ref<std::optional<int64_t>(StringRef)> symbolValue) const {
  DimExpr value = substitute([&](StringRef name) {
    auto known = symbolValue(name);
    return known ? constant(getContext(), *known) : DimExpr();
  });
  return value ? value.asConstant() : std::nullopt;
}

void DimExpr::print(raw_ostream &os) const {
  auto list = [&](StringRef separator, bool parenthesiseSums) {
    llvm::interleave(
        getOperands(), os,
        [&](DimExpr operand) {
          bool wrap = parenthesiseSums && operand.getKind() == DimKind::Add;
          if (wrap) os << '(';
          operand.print(os);
          if (wrap) os << ')';
        },
        separator);
  };
  auto call = [&](StringRef function) {
    os << function << '(';
    list(", ", false);
    os << ')';
  };
  switch (getKind()) {
  case DimKind::Constant: os << getConstant(); break;
  case DimKind::Symbol: os << getSymbol(); break;
  case DimKind::Add: list(" + ", false); break;
  case DimKind::Mul: list(" * ", true); break;
  case DimKind::FloorDiv: call("floordiv"); break;
  case DimKind::Mod: call("mod"); break;
  case DimKind::Min: call("min"); break;
  case DimKind::Max: call("max"); break;
  }
}

std::string DimExpr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

} // namespace stator::graph

