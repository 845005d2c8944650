// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/conformance/SemanticsCases.h"
#include <cmath>

namespace stator::conformance {

static constexpr double inf = INFINITY, nan = NAN;

static std::vector<double> counting(int from, int to, int step = 1) {
  std::vector<double> values;
  for (int i = from; step > 0 ? i < to : i > to; i += step) values.push_back(i);
  return values;
}

/// x over its last dimension: e^(x - max) / sum.
static const char *softmax =
    "%m = graph.reduce_max %x dims = [1] : $x\n%m1 = graph.reshape %m : $v to $c\n"
    "%mb = graph.broadcast %m1 : $c to $x\n%d = graph.sub %x, %mb : $x\n%e = graph.exp %d : $x\n"
    "%s = graph.sum %e dims = [1] : $x\n%s1 = graph.reshape %s : $v to $c\n"
    "%sb = graph.broadcast %s1 : $c to $x\n%r = graph.div %e, %sb : $x";
static const char *layerNorm =
    "%n = graph.constant dense<4.0> : $v1\n%nb = graph.broadcast %n : $v1 to $v\n"
    "%s = graph.sum %x dims = [1] : $x\n%a = graph.div %s, %nb : $v\n%a1 = graph.reshape %a : $v to $c\n"
    "%ab = graph.broadcast %a1 : $c to $x\n%d = graph.sub %x, %ab : $x\n%q = graph.mul %d, %d : $x\n"
    "%t = graph.sum %q dims = [1] : $x\n%w = graph.div %t, %nb : $v\n"
    "%p = graph.constant dense<1.0e-5> : $v1\n%pb = graph.broadcast %p : $v1 to $v\n"
    "%wp = graph.add %w, %pb : $v\n%i = graph.rsqrt %wp : $v\n%i1 = graph.reshape %i : $v to $c\n"
    "%ib = graph.broadcast %i1 : $c to $x\n%r = graph.mul %d, %ib : $x";

static void addArithmetic(std::vector<SemanticsCase> &t) {
  // 2: floor division by a full tensor, a number of every element, and a 0-d tensor rounds toward minus infinity.
  t.push_back({2,
               "floor_divide",
               "i64",
               "x[N=7], y[N] -> [N]",
               "%r = graph.floor_divide %x, %y : $x",
               {{-7, -3, -1, 0, 1, 3, 7}, {3}},
               {{-3, -1, -1, 0, 0, 1, 2}}});
  t.push_back({2,
               "floor_divide",
               "i64",
               "x[N=7], y[] -> [N]",
               "%b = graph.broadcast %y : $y to $x\n%r = graph.floor_divide %x, %b : $x",
               {{-7, -3, -1, 0, 1, 3, 7}, {3}},
               {{-3, -1, -1, 0, 0, 1, 2}}});
  t.push_back(
      {2,
       "floor_divide",
       "i64",
       "x[N=5] -> [N] where y[]",
       "%y = graph.constant dense<-3> : $y\n%b = graph.broadcast %y : $y to $x\n%r = graph.floor_divide %x, %b : $x",
       {{-7, -3, -1, 1, 7}},
       {{2, 1, 0, -1, -3}}});
  // 7: int8 wraps in the middle of a fusion.
  t.push_back({7,
               "where",
               "i8",
               "b[N=5] -> p[N], w[N] where z[], c[N]:i1",
               "%p = graph.mul %b, %b : $b\n%z = graph.constant dense<0> : $z\n%zb = graph.broadcast %z : $z to $b\n"
               "%c = graph.lt %p, %zb : $b\n%a = graph.abs %p : $b\n%w = graph.where %c, %a, %p : $c, $b",
               {{12, 7, 20, 15, 11}},
               {{-112, 49, -112, -31, 121}, {112, 49, 112, 31, 121}}});
  t.push_back({7, "abs", "i8", "x[N=3] -> [N]", "%r = graph.abs %x : $x", {{-128, -127, 127}}, {{-128, 127, 127}}});
  t.push_back({7, "neg", "i8", "x[N=3] -> [N]", "%r = graph.neg %x : $x", {{-128, -127, 127}}, {{-128, 127, -127}}});
  // 10: casts are merged only where nothing is lost between them.
  t.push_back({10,
               "cast",
               "f32",
               "x[N=5] -> [N]:i1 where i[N]:i32",
               "%i = graph.cast %x : $x to $i\n%r = graph.cast %i : $i to $0",
               {{-.2, -.1, 0, .1, .2}},
               {{0}}});
  t.push_back({10,
               "cast",
               "f32",
               "x[N=7] -> [N]:i1",
               "%r = graph.cast %x : $x to $0",
               {{-.2, -.1, 0, .1, .2, nan, -0.0}},
               {{1, 1, 0, 1, 1, 1, 0}}});
  // 20: no contraction into a fused multiply-add, which would keep the product's 25th bit.
  t.push_back({20,
               "sub",
               "f32",
               "a[N=2], b[N], c[N], d[N] -> [N]",
               "%p = graph.mul %a, %b : $a\n%q = graph.mul %c, %d : $a\n%r = graph.sub %p, %q : $a",
               {{2396747}, {7}, {2396747}, {7}},
               {{0}}});
  t.push_back({20,
               "sub",
               "f32",
               "a[N=9], b[N] -> [N]",
               "%p = graph.mul %a, %b : $a\n%q = graph.mul %b, %a : $a\n%r = graph.sub %p, %q : $a",
               {{2396747}, {7}},
               {{0}}});
  // 25: floor division of floats comes from the exact remainder.
  for (const char *element : {"f32", "f64"}) {
    t.push_back({25,
                 "floor_divide",
                 element,
                 "x[N=3], y[N] -> [N]",
                 "%r = graph.floor_divide %x, %y : $x",
                 {{1, .5, 6}, {.1, .1, .2}},
                 {{9, 4, 29}}});
    t.push_back({25,
                 "floor",
                 element,
                 "x[N=3], y[N] -> [N]",
                 "%q = graph.div %x, %y : $x\n%r = graph.floor %q : $x",
                 {{1, .5, 6}, {.1, .1, .2}},
                 {{10, 5, 30}}});
    t.push_back({25,
                 "floor_divide",
                 element,
                 "x[N=1], y[N] -> [N]",
                 "%q = graph.div %x, %y : $x\n%r = graph.floor_divide %x, %q : $x",
                 {{1}, {3}},
                 {{std::string(element) == "f32" ? 2.0 : 3.0}}});
  }
  // 29: a quotient in bf16 is rounded before each of its uses, inside a fusion too.
  t.push_back({29,
               "sum",
               "bf16",
               "x[N=2, 2] -> [N]:i64 where k[], v[N], c[N, 1], b[N, 2]:i1, i[N, 2]:i64",
               "%k = graph.constant dense<1.7> : $k\n%kb = graph.broadcast %k : $k to $x\n%q = graph.div %x, %kb : $x\n"
               "%m = graph.reduce_max %q dims = [1] : $x\n%m1 = graph.reshape %m : $v to $c\n%mb = graph.broadcast %m1 "
               ": $c to $x\n"
               "%e = graph.eq %q, %mb : $x\n%i = graph.cast %e : $b to $i\n%r = graph.sum %i dims = [1] : $i",
               {{3, 1, 3, 3}},
               {{1, 2}}});
  // 32, 33: NaN and -0 in relu, extrema, clamp.
  t.push_back(
      {32, "relu", "f32", "x[N=4] -> [N]", "%r = graph.relu %x : $x", {{0, -0.0, nan, -1}}, {{0, -0.0, nan, 0}}});
  for (const char *op : {"maximum", "minimum"})
    t.push_back({33,
                 op,
                 "f32",
                 "x[N=2], y[N] -> [N]",
                 std::string("%r = graph.") + op + " %x, %y : $x",
                 {{nan, 1}, {1, nan}},
                 {{nan}}});
  for (const char *op : {"fmax", "fmin"})
    t.push_back({33,
                 op,
                 "f32",
                 "x[N=3], y[N] -> [N]",
                 std::string("%r = graph.") + op + " %x, %y : $x",
                 {{nan, 1, nan}, {1, nan, nan}},
                 {{1, 1, nan}}});
  t.push_back({33,
               "minimum",
               "f32",
               "x[N=3], low[N], high[N] -> [N]",
               "%a = graph.maximum %x, %low : $x\n%r = graph.minimum %a, %high : $x",
               {{nan, 1, 2}, {0, nan, 3}, {1, 2, 1}},
               {{nan, nan, 1}}});
}

static void addReductions(std::vector<SemanticsCase> &t) {
  // 37: nothing but negative zeros.
  for (const char *size : {"1025", "8191", "8192", "8193"}) {
    std::string signature = "x[N=" + std::string(size) + "] -> []";
    t.push_back({37, "reduce_max", "f32", signature, "%r = graph.reduce_max %x dims = [0] : $x", {{-0.0}}, {{-0.0}}});
    t.push_back({37, "reduce_min", "f32", signature, "%r = graph.reduce_min %x dims = [0] : $x", {{-0.0}}, {{-0.0}}});
    t.push_back({37, "argmax", "f32", signature + ":i64", "%r = graph.argmax %x dims = [0] : $x", {{-0.0}}, {{0}}});
    t.push_back({37, "argmin", "f32", signature + ":i64", "%r = graph.argmin %x dims = [0] : $x", {{-0.0}}, {{0}}});
  }
  // 39: the first of equal elements, whichever lane, warp or block holds it.
  for (const char *element : {"i16", "f32"}) {
    t.push_back({39,
                 "argmax",
                 element,
                 "x[N=2, 3] -> [N]:i64",
                 "%r = graph.argmax %x dims = [1] : $x",
                 {{1, 5, 5, 7, 7, 2}},
                 {{1, 0}}});
    t.push_back({39, "argmax", element, "x[N=3] -> []:i64", "%r = graph.argmax %x dims = [0] : $x", {{4}}, {{0}}});
    for (int size : {33, 1025}) {
      std::vector<double> row(size, 0.0);
      row[size - 2] = row[size - 1] = row[size / 2] = 5;
      t.push_back({39,
                   "argmax",
                   element,
                   "x[1, N=" + std::to_string(size) + "] -> [1]:i64",
                   "%r = graph.argmax %x dims = [1] : $x",
                   {row},
                   {{double(size / 2)}}});
    }
  }
  t.push_back({39, "argmax", "f32", "x[N=2] -> []:i64", "%r = graph.argmax %x dims = [0] : $x", {{0, -0.0}}, {{0}}});
  t.push_back({39, "argmax", "f32", "x[N=2] -> []:i64", "%r = graph.argmax %x dims = [0] : $x", {{-0.0, 0}}, {{0}}});
  // 40: positions count in the view's order, not in storage order.
  std::vector<double> marked(35, 0.0);
  marked[13] = 1;
  t.push_back({40, "argmax", "f32", "x[5, 7] -> []:i64", "%r = graph.argmax %x dims = [0, 1] : $x", {marked}, {{13}}});
  t.push_back({40,
               "argmax",
               "f32",
               "x[5, 7] -> []:i64 where t[7, 5]",
               "%t = graph.transpose %x [1, 0] : $x\n%r = graph.argmax %t dims = [0, 1] : $t",
               {marked},
               {{31}}});
  t.push_back({40,
               "argmax",
               "f32",
               "x[5, 7] -> []:i64 where t[5, 4]",
               "%t = graph.slice %x starts <0, 0> steps [1, 2] : $x to $t\n%r = graph.argmax %t dims = [0, 1] : $t",
               {marked},
               {{7}}});
  t.push_back({40,
               "argmax",
               "f32",
               "x[5, 7] -> []:i64 where t[7, 5], s[4, 5]",
               "%t = graph.transpose %x [1, 0] : $x\n%s = graph.slice %t starts <0, 0> steps [2, 1] : $t to $s\n"
               "%w = graph.sin %s : $s\n%r = graph.argmax %w dims = [0, 1] : $s",
               {marked},
               {{16}}});
  // 43: a constant row has no variance.
  t.push_back({43, "mul", "f32", "x[N=2, 4] -> [N, 4] where v[N], c[N, 1], v1[]", layerNorm, {{30000}}, {{0}}});
  // 47: softmax of infinities, of what overflows, of NaN, of nothing.
  auto soft = [&](std::vector<double> x, std::vector<double> y, int columns) {
    std::string k = std::to_string(columns);
    t.push_back({47,
                 "div",
                 "f32",
                 "x[N=" + std::to_string(x.size() / columns) + ", " + k + "] -> [N, " + k + "] where v[N], c[N, 1]",
                 softmax,
                 {x},
                 {y}});
  };
  soft({-inf, -inf, -inf, 0, inf, 0, nan, 1}, {nan, nan, 0, 1, nan, nan, nan, nan}, 2);
  soft({88, 89, 1000}, {0, 0, 1}, 3);
  t.push_back({47, "div", "f32", "x[N=0, 3] -> [N, 3] where v[N], c[N, 1]", softmax, {{}}, {{}}});
  // 49: lanes without an element must not bring one.
  for (int width = 1; width <= 33; width += width < 12 ? 1 : 7) {
    std::string signature = "x[2, N=" + std::to_string(width) + "] -> [2]";
    std::vector<double> x;
    for (int row = 0; row < 2; ++row)
      for (int i = 1; i <= width; ++i) x.push_back(-i);
    t.push_back({49, "reduce_max", "f32", signature, "%r = graph.reduce_max %x dims = [1] : $x", {x}, {{-1}}});
    t.push_back({49, "argmax", "f32", signature + ":i64", "%r = graph.argmax %x dims = [1] : $x", {x}, {{0}}});
    t.push_back(
        {49, "sum", "f32", signature, "%r = graph.sum %x dims = [1] : $x", {x}, {{-width * (width + 1) / 2.0}}});
    for (double &value : x) value = -value;
    t.push_back({49, "reduce_min", "f32", signature, "%r = graph.reduce_min %x dims = [1] : $x", {x}, {{1}}});
  }
}

static void addPrograms(std::vector<SemanticsCase> &t) {
  // 56: what is in the middle is a result too; a value twice, an input, a constant, a view of another result.
  t.push_back({56,
               "exp",
               "f32",
               "x[N=3] -> a[N], a[N], x[N], e[N], k[2], v[N]",
               "%a = graph.add %x, %x : $x\n%e = graph.exp %a : $x\n%k = graph.constant dense<[1.5, -0.0]> : $4\n"
               "%v = graph.reverse %a dims = [0] : $x",
               {{1, 2, 3}},
               {{2, 4, 6}, {2, 4, 6}, {1, 2, 3}, {std::exp(2), std::exp(4), std::exp(6)}, {1.5, -0.0}, {6, 4, 2}},
               ulps(1)});
  // 57: a copy keeps its elements when the source is written.
  t.push_back({57,
               "copy",
               "f32",
               "x[2, 3] -> d[2, 3], s[2, 3] where k[]",
               "%d = graph.copy %x : $x\n%s = graph.copy %x : $x\n%k = graph.constant dense<1.0> : $k\n%kb = "
               "graph.broadcast %k : $k to $x\n"
               "%a = graph.add %s, %kb : $x\ngraph.write %s, %a : $x",
               {counting(0, 6)},
               {counting(0, 6), counting(1, 7)}});
  // 58: the whole right side is read before any of it is overwritten.
  t.push_back({58,
               "write",
               "i64",
               "x[3, 2] -> [3, 2]",
               "%r = graph.copy %x : $x\n%f = graph.reverse %r dims = [0] : $x\n%a = graph.add %r, %f : "
               "$x\ngraph.write %r, %a : $x",
               {counting(0, 6)},
               {{4, 6, 4, 6, 4, 6}}});
  // 67: every element of a result is written, also where padding and odd sizes leave room for mistakes.
  t.push_back({67,
               "pad",
               "f32",
               "x[N=3], v[] -> [N + 4]",
               "%r = graph.pad %x, %v low <3> high <1> : $x, $v",
               {{1, 2, 3}, {-0.0}},
               {{-0.0, -0.0, -0.0, 1, 2, 3, -0.0}}});
  t.push_back(
      {67, "matmul", "f32", "x[3, K=0], y[K, 5] -> [3, 5]", "%r = graph.matmul %x, %y : $x, $y", {{}, {}}, {{0}}});
  t.push_back({67, "sum", "f32", "x[5, N=0] -> [5]", "%r = graph.sum %x dims = [1] : $x", {{}}, {{0}}});
  // 81: the overhang of ceil_mode never counts; padding counts if asked.
  const std::string pool = "%r = graph.avg_pool %x kernel = [3, 3] strides = [2, 2] padding = [1, 1] ceil_mode";
  t.push_back(
      {81,
       "avg_pool",
       "f32",
       "x[N=1, 1, 6, 6] -> [N, 1, 4, 4]",
       pool + " : $x",
       {counting(0, 36)},
       {{14 / 9., 30 / 9., 42 / 9., 16 / 6., 75 / 9., 14, 16, 8.5, 147 / 9., 26, 28, 87 / 6., 61 / 6., 16, 17, 8.75}},
       ulps(1)});
  t.push_back({81,
               "avg_pool",
               "f32",
               "x[N=1, 1, 6, 6] -> [N, 1, 4, 4]",
               pool + " exclude_padding : $x",
               {counting(0, 36)},
               {{3.5, 5, 7, 8, 12.5, 14, 16, 17, 24.5, 26, 28, 29, 30.5, 32, 34, 35}}});
}

const std::vector<SemanticsCase> &semanticsCases() {
  static const std::vector<SemanticsCase> table = [] {
    std::vector<SemanticsCase> t;
    addArithmetic(t);
    addReductions(t);
    addPrograms(t);
    return t;
  }();
  return table;
}

const std::map<unsigned, std::string> &semanticsElsewhere() {
  static const std::map<unsigned, std::string> elsewhere = {
      {88, "addmm and baddbmm are composites of the importer: tests/models/semantics.pt2"}};
  return elsewhere;
}

} // namespace stator::conformance
