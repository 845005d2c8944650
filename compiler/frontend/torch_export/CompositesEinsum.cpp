// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Einstein summation: operands are contracted from left to right, each pair as one batched matrix product.
#include "compiler/frontend/torch_export/Composites.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

/// A tensor whose dimensions have labels. Letters are themselves; the dimensions under "..." are numbered from -1 down,
/// so that the last of every operand is -1.
struct Labelled {
  Value value;
  SmallVector<int, 8> labels;
};

bool has(ArrayRef<int> labels, int label) { return llvm::is_contained(labels, label); }

SmallVector<int, 8> readLabels(StringRef text, int64_t rank) {
  SmallVector<int, 8> labels;
  text = text.trim();
  std::string letters;
  for (char ch : text)
    if (ch != ' ') letters += ch;
  StringRef rest(letters);
  auto [before, after] = rest.split("...");
  bool ellipsis = rest.contains("...");
  int64_t hidden = rank - int64_t(before.size()) - int64_t(after.size());
  if (rank >= 0 && (hidden < 0 || (!ellipsis && hidden != 0)))
    GraphBuilder::fail("the equation gives " + Twine(letters.size()) + " labels to a tensor of rank " + Twine(rank));
  auto add = [&](StringRef part) {
    for (char ch : part) {
      if (!llvm::isAlpha(ch)) GraphBuilder::fail("the equation has the character '" + Twine(ch) + "'");
      labels.push_back(ch);
    }
  };
  add(before);
  for (int64_t i = 0; ellipsis && i < hidden; ++i) labels.push_back(int(i - hidden));
  add(after);
  return labels;
}

/// Repeated labels of one operand mean its diagonal.
Labelled withoutRepeats(Call &c, Labelled x) {
  for (size_t i = 0; i < x.labels.size(); ++i)
    for (size_t j = i + 1; j < x.labels.size(); ++j) {
      if (x.labels[i] != x.labels[j]) continue;
      Dims dims = GraphBuilder::dims(x.value);
      Value on = c.b.eq(c.b.iota(dims, int64_t(i), c.b.i64()), c.b.iota(dims, int64_t(j), c.b.i64()));
      x.value = c.b.sum(c.b.where(on, x.value, c.b.scalarInt(0, GraphBuilder::element(x.value))), {int64_t(j)}, false);
      x.labels.erase(x.labels.begin() + long(j));
      --j;
    }
  return x;
}

/// Sums out labels that nobody needs any more.
Labelled reduceTo(Call &c, Labelled x, llvm::function_ref<bool(int)> needed) {
  Ints dims;
  SmallVector<int, 8> kept;
  for (auto [i, label] : llvm::enumerate(x.labels)) {
    if (needed(label))
      kept.push_back(label);
    else
      dims.push_back(int64_t(i));
  }
  if (dims.empty()) return x;
  return {c.b.sum(x.value, dims, false), kept};
}

/// Dimensions in the order of `labels`, size 1 where x lacks one.
Value arranged(Call &c, const Labelled &x, ArrayRef<int> labels) {
  Ints order;
  for (int label : labels)
    for (auto [i, mine] : llvm::enumerate(x.labels))
      if (mine == label) order.push_back(int64_t(i));
  Value y = c.b.transpose(x.value, order);
  for (auto [i, label] : llvm::enumerate(labels))
    if (!has(x.labels, label)) y = c.b.unsqueeze(y, int64_t(i));
  return y;
}

Labelled contract(Call &c, Labelled x, Labelled y, llvm::function_ref<bool(int)> needed) {
  auto later = [&](int label) { return needed(label); };
  x = reduceTo(c, x, [&](int label) { return later(label) || has(y.labels, label); });
  y = reduceTo(c, y, [&](int label) { return later(label) || has(x.labels, label); });
  SmallVector<int, 8> batch, rows, columns, inner;
  for (int label : x.labels) {
    if (!has(y.labels, label))
      rows.push_back(label);
    else if (later(label))
      batch.push_back(label);
    else
      inner.push_back(label);
  }
  for (int label : y.labels)
    if (!has(x.labels, label)) columns.push_back(label);
  auto join = [](std::initializer_list<ArrayRef<int>> lists) {
    SmallVector<int, 8> all;
    for (ArrayRef<int> list : lists) all.append(list.begin(), list.end());
    return all;
  };
  auto result = join({batch, rows, columns});
  if (inner.empty()) return {c.b.mul(arranged(c, x, result), arranged(c, y, result)), result};
  // Sizes of 1 broadcast against any; then a product and a sum say it best.
  Value left = arranged(c, x, join({batch, rows, inner})), right = arranged(c, y, join({batch, inner, columns}));
  Dims l = GraphBuilder::dims(left), r = GraphBuilder::dims(right);
  for (size_t i = 0; i < inner.size(); ++i) {
    DimExpr a = l[batch.size() + rows.size() + i], b = r[batch.size() + i];
    if (a == b || (!a.isConstant(1) && !b.isConstant(1))) continue;
    auto all = join({batch, rows, columns, inner});
    Ints last = counting(int64_t(result.size()), int64_t(all.size()));
    return {c.b.sum(c.b.mul(arranged(c, x, all), arranged(c, y, all)), last, false), result};
  }
  auto product = [&](ArrayRef<DimExpr> dims) { return graph::numElements(dims, c.b.context()); };
  ArrayRef<DimExpr> lr(l), rr(r);
  Dims batchLeft(l.begin(), l.begin() + batch.size()), batchRight(r.begin(), r.begin() + batch.size());
  auto merged = [&](Value v, Dims lead, DimExpr a, DimExpr b) {
    lead.append({a, b});
    return c.b.reshape(v, lead);
  };
  Dims rowDims(lr.slice(batch.size(), rows.size())), columnDims(rr.drop_front(batch.size() + inner.size()));
  Value z = c.b.matmul(merged(left, batchLeft, product(rowDims), product(lr.drop_front(batch.size() + rows.size()))),
                       merged(right, batchRight, product(rr.slice(batch.size(), inner.size())), product(columnDims)));
  Dims full = c.b.broadcastDims(batchLeft, batchRight);
  full.append(rowDims);
  full.append(columnDims);
  return {c.b.reshape(z, full), result};
}

Results einsum(Call &c) {
  auto [inputs, output] = c.string("equation").split("->");
  bool explicitOutput = c.string("equation").contains("->");
  SmallVector<Value> tensors = c.tensors("tensors");
  SmallVector<StringRef> parts;
  inputs.split(parts, ',');
  if (parts.size() != tensors.size() || tensors.empty())
    Call::fail("the equation has " + Twine(parts.size()) + " operands and " + Twine(tensors.size()) + " are given");
  SmallVector<Labelled> operands;
  SmallVector<int, 8> hidden;
  std::map<int, int> counts;
  for (auto [part, tensor] : llvm::zip(parts, tensors)) {
    Labelled x{tensor, readLabels(part, GraphBuilder::rank(tensor))};
    for (int label : x.labels) {
      ++counts[label];
      if (label < 0 && !has(hidden, label)) hidden.push_back(label);
    }
    operands.push_back(withoutRepeats(c, x));
  }
  llvm::sort(hidden);
  SmallVector<int, 8> wanted;
  if (explicitOutput) {
    bool ellipsis = output.contains("...");
    for (int label :
         readLabels(output, int64_t(llvm::count_if(output, llvm::isAlpha)) + (ellipsis ? int64_t(hidden.size()) : 0)))
      wanted.push_back(label);
  } else {
    wanted = hidden;
    for (auto [label, count] : counts)
      if (label > 0 && count == 1) wanted.push_back(label);
  }
  for (int label : wanted)
    if (!counts.count(label)) Call::fail("the equation's result has a label that no operand has");
  Labelled x = operands[0];
  for (size_t i = 1; i < operands.size(); ++i)
    x = contract(c, x, operands[i], [&](int label) {
      if (has(wanted, label)) return true;
      for (size_t j = i + 1; j < operands.size(); ++j)
        if (has(operands[j].labels, label)) return true;
      return false;
    });
  x = reduceTo(c, x, [&](int label) { return has(wanted, label); });
  return arranged(c, x, wanted);
}

} // namespace

void addEinsumComposites(CompositeTable &t) { t.add({"einsum.default"}, einsum); }

} // namespace stator::torch_export
