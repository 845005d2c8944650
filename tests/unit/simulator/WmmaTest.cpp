// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wmma against host arithmetic on small integers: all shapes, types and layouts; packed integers against arithmetic on
// their parts.
#include "tests/unit/simulator/OpcodeBench.h"

#include <algorithm>
#include <random>

namespace stator::sim::test {
namespace {

struct Shape {
  const char *name;
  unsigned m, n, k;
};

unsigned bytesOf(const std::string &type) {
  return type == "f32" || type == "tf32" || type == "s32" ? 4 : type == "f16" || type == "bf16" ? 2 : 1;
}

uint32_t encode(const std::string &type, int value) {
  if (type == "s8" || type == "u8") return static_cast<uint8_t>(value);
  if (type == "s32") return static_cast<uint32_t>(value);
  auto bits = static_cast<uint32_t>(f32(static_cast<float>(value)));
  if (type == "f32" || type == "tf32") return bits;
  if (type == "bf16") return bits >> 16;
  return value == 0 ? 0 : bits >> 31 << 15 | ((bits >> 23 & 255) - 112) << 10 | (bits & 0x7fffff) >> 13;
}

/// A stride of `unit` elements' multiple, larger than the run.
unsigned strideOf(unsigned run, unsigned unit) { return (run / unit + 1) * unit; }

std::string registers(const std::string &prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += (i ? ", %" : "%") + prefix + std::to_string(i);
  return text + "}";
}

void run(const Shape &s, const std::string &type, const std::string &c, const std::string &d, bool aCol, bool bCol,
         bool cCol, bool dCol) {
  SCOPED_TRACE(std::string(s.name) + " " + type + " " + c + " " + d + (aCol ? " col" : " row") +
               (bCol ? " col" : " row"));
  std::mt19937 random(s.m + s.n * 3 + aCol * 2 + bCol);
  auto matrix = [&](unsigned rows, unsigned columns, const std::string &t, bool col, unsigned pad,
                    std::vector<uint8_t> &image) {
    std::vector<int> values(rows * columns);
    unsigned stride = strideOf(col ? rows : columns, pad), bytes = bytesOf(t);
    image.assign(size_t{stride} * (col ? columns : rows) * bytes, 0);
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned x = 0; x < columns; ++x) {
        int v = values[r * columns + x] = static_cast<int>(random() % 8) - (t == "u8" ? 0 : 4);
        uint32_t bits = encode(t, v);
        std::memcpy(image.data() + (col ? x * stride + r : r * stride + x) * bytes, &bits, bytes);
      }
    return values;
  };
  std::vector<uint8_t> ia, ib, ic, id;
  auto a = matrix(s.m, s.k, type, aCol, 16, ia), b = matrix(s.k, s.n, type, bCol, 16, ib),
       in = matrix(s.m, s.n, c, cCol, 8, ic);
  matrix(s.m, s.n, d, dCol, 8, id);
  auto count = [&](const std::string &t, unsigned elements, bool operand) {
    return operand && t == "f16" ? 8 : std::max(1u, elements / 32 * bytesOf(t) / 4);
  };
  unsigned na = count(type, s.m * s.k, true), nb = count(type, s.k * s.n, true), nc = count(c, s.m * s.n, false),
           nd = count(d, s.m * s.n, false);
  auto name = [](bool col) { return std::string(col ? "col" : "row"); };
  std::string shape = s.name, types = type == "f16" ? d + "." + c : d + "." + type + "." + type + "." + c;
  std::string text = ".version 8.6\n.target sm_90a\n.address_size 64\n"
                     ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{\n"
                     ".reg .b32 %a<8>, %b<8>, %c<8>, %d<8>; .reg .b64 %x<4>;\n"
                     "ld.param.u64 %x0, [a]; ld.param.u64 %x1, [b]; ld.param.u64 %x2, [c]; ld.param.u64 %x3, [d];\n"
                     "wmma.load.a.sync.aligned." +
                     name(aCol) + "." + shape + ".global." + type + " " + registers("a", na) + ", [%x0], " +
                     std::to_string(strideOf(aCol ? s.m : s.k, 16)) +
                     ";\n"
                     "wmma.load.b.sync.aligned." +
                     name(bCol) + "." + shape + ".global." + type + " " + registers("b", nb) + ", [%x1], " +
                     std::to_string(strideOf(bCol ? s.k : s.n, 16)) +
                     ";\n"
                     "wmma.load.c.sync.aligned." +
                     name(cCol) + "." + shape + ".global." + c + " " + registers("c", nc) + ", [%x2], " +
                     std::to_string(strideOf(cCol ? s.m : s.n, 8)) +
                     ";\n"
                     "wmma.mma.sync.aligned." +
                     name(aCol) + "." + name(bCol) + "." + shape + "." + types + " " + registers("d", nd) + ", " +
                     registers("a", na) + ", " + registers("b", nb) + ", " + registers("c", nc) +
                     ";\nwmma.store.d.sync.aligned." + name(dCol) + "." + shape + ".global." + d + " [%x3], " +
                     registers("d", nd) + ", " + std::to_string(strideOf(dCol ? s.m : s.n, 8)) + ";\nret;\n}\n";
  Machine machine("h100");
  uint64_t out = machine.upload(id);
  LaunchResult result =
      machine.run(text, {1, 1, 1}, {32, 1, 1}, machine.upload(ia), machine.upload(ib), machine.upload(ic), out);
  ASSERT_EQ(kindsOf(result), "");
  auto got = machine.download<uint8_t>(out, id.size());
  unsigned stride = strideOf(dCol ? s.m : s.n, 8), bytes = bytesOf(d);
  for (unsigned r = 0; r < s.m; ++r)
    for (unsigned x = 0; x < s.n; ++x) {
      int sum = in[r * s.n + x];
      for (unsigned k = 0; k < s.k; ++k) sum += a[r * s.k + k] * b[k * s.n + x];
      uint32_t bits = 0;
      std::memcpy(&bits, got.data() + (dCol ? x * stride + r : r * stride + x) * bytes, bytes);
      ASSERT_EQ(bits, encode(d, sum)) << "row " << r << " column " << x;
    }
}

TEST(Wmma, ShapesTypesAndLayouts) {
  for (Shape s : {Shape{"m16n16k16", 16, 16, 16}, Shape{"m8n32k16", 8, 32, 16}, Shape{"m32n8k16", 32, 8, 16}})
    for (unsigned layout = 0; layout < 16; ++layout) {
      bool aCol = layout & 1, bCol = layout & 2, cCol = layout & 4, dCol = layout & 8;
      run(s, "f16", "f32", "f32", aCol, bCol, cCol, dCol);
      run(s, "f16", "f16", "f16", aCol, bCol, cCol, dCol);
      run(s, "f16", "f16", "f32", aCol, bCol, cCol, dCol);
      run(s, "f16", "f32", "f16", aCol, bCol, cCol, dCol);
      run(s, "bf16", "f32", "f32", aCol, bCol, cCol, dCol);
      run(s, "s8", "s32", "s32", aCol, bCol, cCol, dCol);
      run(s, "u8", "s32", "s32", aCol, bCol, cCol, dCol);
    }
  for (unsigned layout = 0; layout < 16; ++layout)
    run({"m16n16k8", 16, 16, 8}, "tf32", "f32", "f32", layout & 1, layout & 2, layout & 4, layout & 8);
}

TEST(Mma, AccumulatorAndResultHaveOneType) {
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<10>; .reg .f32 %f<4>;\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
      "{%r6,%r7};\nret;\n}\n";
  Machine machine("a100");
  EXPECT_THROW(machine.run(text, {1, 1, 1}, {32, 1, 1}), DecodeError);
}

TEST(PackedIntegers, PartByPart) {
  expectRows("add.u16x2 $d, $a, $b", "ww>w",
             {{0xffff0001, 0x00020003, 0x00010004}, {0x80007fff, 0x80000001, 0x00008000}});
  expectRows("min.s16x2 $d, $a, $b", "ww>w", {{0x80000005, 0x0001fffe, 0x8000fffe}});
  expectRows("max.u16x2 $d, $a, $b", "ww>w", {{0x80000005, 0x0001fffe, 0x8000fffe}});
  expectRows("max.relu.s16x2 $d, $a, $b", "ww>w", {{0x80000005, 0x8001fffe, 0x00000005}});
  expectRows("vabsdiff4.u32.u32.u32 $d, $a, $b, $c", "www>w", {{0x01ff0a00, 0x02000a80, 9, 0x01ff0080}});
  expectRows("vabsdiff4.u32.u32.u32.add $d, $a, $b, $c", "www>w", {{0x01ff0a00, 0x02000a80, 9, 1 + 255 + 128 + 9}});
  expectRows("vadd4.s32.s32.s32.sat $d, $a, $b, $c", "www>w", {{0x7f80ff01, 0x01ff0101, 0, 0x7f800002}});
  expectRows("vavrg4.u32.u32.u32 $d, $a, $b, $c", "www>w", {{0x01ff0003, 0x02ff0104, 0, 0x02ff0104}});
  expectRows("vset4.u32.u32.lt $d, $a, $b, $c", "www>w", {{0x01020304, 0x02020403, 0, 0x01000100}});
  expectRows("vsub2.s32.s32.s32 $d, $a, $b, $c", "www>w", {{0x00050001, 0x00030002, 0, 0x0002ffff}});
}

} // namespace
} // namespace stator::sim::test
