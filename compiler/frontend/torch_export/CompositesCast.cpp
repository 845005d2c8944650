// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions, copies, assertions, and reads of sizes and scalars.
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

/// A cast; where nothing changes eager PyTorch gives the tensor itself, unless `copy` is asked for.
Results convert(Call &c, Value x, Type type, bool copy) {
  if (GraphBuilder::element(x) != type) return c.b.cast(x, type);
  return copy && c.programWrites() ? c.b.copy(x) : x;
}

Results toType(Call &c) {
  Value x = c.tensor("self");
  return convert(c, x, c.dtype("dtype", GraphBuilder::element(x)), c.flag("copy"));
}

Results copyOf(Call &c) {
  Value x = c.tensor("self");
  return c.programWrites() ? c.b.copy(x) : x;
}

Results alias(Call &c) { return c.tensor("self"); }
Results nothing(Call &) { return {}; }
/// A symbolic integer: the program states its expression.
Results stated(Call &) { return {Value()}; }

/// The source as the new content of self.
Results copySource(Call &c) {
  Value self = c.tensor("self"), source = c.tensor("src");
  Value value = c.b.broadcastTo(c.b.cast(source, GraphBuilder::element(self)), GraphBuilder::dims(self));
  return c.programWrites() ? c.b.copy(value) : value;
}

Results fill(Call &c) {
  Value self = c.tensor("self");
  return c.b.broadcastTo(c.b.reshape(c.b.as(c.operand("value"), GraphBuilder::element(self)), {}),
                         GraphBuilder::dims(self));
}

Results item(Call &c) {
  Value x = c.tensor("self");
  return c.b.reshape(x, {});
}

} // namespace

void addCastComposites(CompositeTable &t) {
  t.add({"to.dtype", "to.dtype_layout", "to.device"}, toType);
  t.add({"to.other"},
        [](Call &c) { return convert(c, c.tensor("self"), GraphBuilder::element(c.tensor("other")), c.flag("copy")); });
  t.add({"to.prim_Device", "to.prim_dtype", "to.prim_other"}, [](Call &c) {
    // The element type is an integer here; what the program says of the result is the same fact.
    Value x = c.tensor("self");
    Type type = c.declaredType();
    return convert(c, x, type ? type : GraphBuilder::element(x), c.flag("copy"));
  });
  t.add({"_to_copy.default"}, [](Call &c) {
    Value x = c.tensor("self");
    return convert(c, x, c.dtype("dtype", GraphBuilder::element(x)), true);
  });
  t.add({"type_as.default"}, [](Call &c) {
    c.aliasesAnyway();
    return convert(c, c.tensor("self"), GraphBuilder::element(c.tensor("other")), false);
  });
  t.add({"view.dtype"}, [](Call &c) {
    Value x = c.tensor("self");
    Type type = c.dtype("dtype", {});
    if (type != GraphBuilder::element(x)) Call::fail("reading a tensor's bits as another element type");
    return Results(x);
  });
  t.add({"contiguous.default"}, [](Call &c) -> Results {
    Value x = c.tensor("self");
    return c.programWrites() && !c.isContiguous("self") ? c.b.copy(x) : x;
  });
  t.add({"clone.default", "lift_fresh_copy.default", "detach_copy.default", "alias_copy.default"}, copyOf);
  t.add({"alias.default", "detach.default", "detach_.default", "lift_fresh.default", "lift.default", "data.default",
         "conj.default", "_conj.default", "resolve_conj.default", "resolve_neg.default", "conj_physical.default",
         "real.default", "requires_grad_.default", "pin_memory.default"},
        alias);
  t.add({"copy.default"}, copySource);
  t.add({"fill.Scalar", "fill.Tensor"}, fill);
  t.add({"zero.default"}, [](Call &c) -> Results {
    Value x = c.tensor("self");
    return c.b.full(Number::of(int64_t(0)), GraphBuilder::dims(x), GraphBuilder::element(x));
  });
  t.add({"_assert_tensor_metadata.default", "_assert_scalar.default", "sym_constrain_range.default",
         "sym_constrain_range_for_size.default"},
        nothing);
  t.add({"_functional_assert_scalar.default", "_functional_sym_constrain_range.default",
         "_functional_sym_constrain_range_for_size.default"},
        [](Call &c) -> Results { return c.tensor("dep_token"); });
  t.add({"_assert_async.msg", "_assert_async.default"}, [](Call &c) -> Results {
    Value condition = c.b.reshape(c.b.cast(c.tensor("self"), c.b.i1()), {});
    StringRef message = c.has("assert_msg") ? c.string("assert_msg") : "an assertion of the program does not hold";
    graph::AssertOp::create(c.b.b, c.b.loc, condition, message);
    return {};
  });
  t.add({"sym_size.int", "sym_stride.int", "sym_numel.default", "sym_storage_offset.default"}, stated);
  t.add({"item.default", "_local_scalar_dense.default"}, item);
}

} // namespace stator::torch_export
