// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Opcodes.h"
#include "runtime/simulator/ops/Tables.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unordered_map>

namespace stator::sim {

namespace {

/// Takes the text up to the next `separator` off `rest`.
std::string_view takeUntil(std::string_view &rest, char separator) {
  size_t at = rest.find(separator);
  std::string_view head = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return head;
}

void applySuffix(Modifiers &m, std::string_view s) {
  using std::pair;
  static const std::unordered_map<std::string_view, void (*)(Modifiers &)> table = {
      {"rn", [](Modifiers &m) { m.round = Rounding::nearestEven; }},
      {"rni", [](Modifiers &m) { m.round = Rounding::nearestEven; }},
      {"rz", [](Modifiers &m) { m.round = Rounding::zero; }},
      {"rzi", [](Modifiers &m) { m.round = Rounding::zero; }},
      {"rm", [](Modifiers &m) { m.round = Rounding::down; }},
      {"rmi", [](Modifiers &m) { m.round = Rounding::down; }},
      {"rp", [](Modifiers &m) { m.round = Rounding::up; }},
      {"rpi", [](Modifiers &m) { m.round = Rounding::up; }},
      {"rna", [](Modifiers &m) { m.round = Rounding::nearestAway; }},
      {"rs", [](Modifiers &m) { m.round = Rounding::stochastic; }},
      {"ftz", [](Modifiers &m) { m.ftz = true; }},
      {"sat", [](Modifiers &m) { m.sat = true; }},
      {"satfinite", [](Modifiers &m) { m.satfinite = true; }},
      {"relu", [](Modifiers &m) { m.relu = true; }},
      {"NaN", [](Modifiers &m) { m.nan = true; }},
      {"xorsign", [](Modifiers &m) { m.xorsign = true; }},
      {"wide", [](Modifiers &m) { m.wide = true; }},
      {"approx", [](Modifiers &m) { m.approx = true; }},
      {"noftz", [](Modifiers &m) { m.noftz = true; }},
      {"uni", [](Modifiers &m) { m.uniform = true; }},
      {"nc", [](Modifiers &m) { m.nonCoherent = true; }},
      {"trans", [](Modifiers &m) { m.trans = true; }},
      {"v2", [](Modifiers &m) { m.vector = 2; }},
      {"v4", [](Modifiers &m) { m.vector = 4; }},
      {"v8", [](Modifiers &m) { m.vector = 8; }},
      {"and", [](Modifiers &m) { m.logic = Logic::andOp; }},
      {"or", [](Modifiers &m) { m.logic = Logic::orOp; }},
      {"xor", [](Modifiers &m) { m.logic = Logic::xorOp; }},
      {"eq", [](Modifiers &m) { m.compare = Compare::eq; }},
      {"ne", [](Modifiers &m) { m.compare = Compare::ne; }},
      {"lt", [](Modifiers &m) { m.compare = Compare::lt; }},
      {"le", [](Modifiers &m) { m.compare = Compare::le; }},
      {"gt", [](Modifiers &m) { m.compare = Compare::gt; }},
      {"ge", [](Modifiers &m) { m.compare = Compare::ge; }},
      {"lo", [](Modifiers &m) { m.compare = Compare::lt; }},
      {"ls", [](Modifiers &m) { m.compare = Compare::le; }},
      {"hi", [](Modifiers &m) { m.compare = Compare::gt; }},
      {"hs", [](Modifiers &m) { m.compare = Compare::ge; }},
      {"equ", [](Modifiers &m) { m.compare = Compare::equ; }},
      {"neu", [](Modifiers &m) { m.compare = Compare::neu; }},
      {"ltu", [](Modifiers &m) { m.compare = Compare::ltu; }},
      {"leu", [](Modifiers &m) { m.compare = Compare::leu; }},
      {"gtu", [](Modifiers &m) { m.compare = Compare::gtu; }},
      {"geu", [](Modifiers &m) { m.compare = Compare::geu; }},
      {"num", [](Modifiers &m) { m.compare = Compare::num; }},
      {"nan", [](Modifiers &m) { m.compare = Compare::nan; }},
      {"weak", [](Modifiers &m) { m.order = Order::weak; }},
      {"relaxed", [](Modifiers &m) { m.order = Order::relaxed; }},
      {"acquire", [](Modifiers &m) { m.order = Order::acquire; }},
      {"release", [](Modifiers &m) { m.order = Order::release; }},
      {"acq_rel", [](Modifiers &m) { m.order = Order::acqRel; }},
      {"sc", [](Modifiers &m) { m.order = Order::seqCst; }},
      {"volatile", [](Modifiers &m) { m.order = Order::isVolatile; }},
      {"mmio", [](Modifiers &m) { m.order = Order::mmio; }},
      {"cta", [](Modifiers &m) { m.scope = Scope::cta; }},
      {"cluster", [](Modifiers &m) { m.scope = Scope::cluster; }},
      {"gpu", [](Modifiers &m) { m.scope = Scope::gpu; }},
      {"gl", [](Modifiers &m) { m.scope = Scope::gpu; }},
      {"sys", [](Modifiers &m) { m.scope = Scope::system; }}};
  if (auto it = table.find(s); it != table.end()) it->second(m);
  if (Type type = typeNamed(s); type != Type::none && m.typeCount < 4) m.types[m.typeCount++] = type;
  if (Space space = spaceNamed(s); space != Space::generic) {
    (m.hasSpace ? m.space2 : m.space) = space;
    m.hasSpace = true;
  }
}

/// Does `form` (without the opcode) accept exactly these suffixes?
bool matches(std::string_view form, const std::vector<std::string> &suffixes, Modifiers &modifiers) {
  size_t at = 0;
  while (!form.empty()) {
    std::string_view segment = takeUntil(form, '.');
    bool optional = segment.back() == '?', found = false;
    if (optional) segment.remove_suffix(1);
    while (at < suffixes.size() && !found && !segment.empty()) {
      std::string_view choice = takeUntil(segment, '|');
      found = choice == suffixes[at] ||
              (choice.back() == '*' && suffixes[at].rfind(choice.substr(0, choice.size() - 1), 0) == 0);
    }
    if (found)
      applySuffix(modifiers, suffixes[at++]);
    else if (!optional)
      return false;
  }
  return at == suffixes.size();
}

using Index = std::unordered_map<std::string_view, std::vector<const Row *>>;

const Index &index() {
  static const Index built = [] {
    Index index;
    for (const Row *row : allRows()) {
      std::string_view form = row->form;
      index[takeUntil(form, '.')].push_back(row);
    }
    return index;
  }();
  return built;
}

} // namespace

std::vector<const Row *> allRows() {
  std::vector<const Row *> rows;
  for (const Rows &list : opcodeTables())
    for (size_t i = 0; i < list.count; ++i) rows.push_back(list.first + i);
  return rows;
}

namespace {

/// The suffixes of an atomic with semantics, scope and state space in front, in this order: texts have them anywhere.
std::vector<std::string> inOrder(const std::vector<std::string> &suffixes) {
  auto rank = [](const std::string &s) {
    if (s == "relaxed" || s == "acquire" || s == "release" || s == "acq_rel") return 0;
    if (s == "cta" || s == "cluster" || s == "gpu" || s == "sys") return 1;
    return spaceNamed(s) != Space::generic ? 2 : 3;
  };
  std::vector<std::string> ordered = suffixes;
  std::stable_sort(ordered.begin(), ordered.end(), [&](const auto &a, const auto &b) { return rank(a) < rank(b); });
  return ordered;
}

} // namespace

const Row *findRow(const std::string &opcode, const std::vector<std::string> &written, Modifiers &modifiers) {
  bool atomic = (opcode == "atom" || opcode == "red") && !written.empty() && written[0] != "async";
  const std::vector<std::string> suffixes = atomic ? inOrder(written) : written;
  auto it = index().find(opcode);
  if (it == index().end()) return nullptr;
  for (const Row *row : it->second) {
    std::string_view form = row->form;
    takeUntil(form, '.');
    Modifiers filled;
    if (!matches(form, suffixes, filled)) continue;
    modifiers = filled;
    return row;
  }
  return nullptr;
}

} // namespace stator::sim
