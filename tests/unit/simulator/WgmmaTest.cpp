// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma against host arithmetic on small integers, which every type holds exactly: all types, widths, layouts of both
// operands, A from registers, scales and transposes; and a tile that a tensor copy has swizzled.
#include "runtime/simulator/TensorMap.h"
#include "tests/unit/simulator/Machine.h"
#include "tests/unit/simulator/TensorModel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace stator::sim::test {
namespace {

struct Case {
  const char *d, *a, *b; ///< types
  unsigned n;
  unsigned swizzle = 0; ///< bytes: 0, 32, 64, 128
  bool transA = false, transB = false, aRegisters = false, scaleD = true, negateA = false, negateB = false;
};

unsigned bytesOf(const std::string &type) {
  return type == "f32" || type == "tf32" || type == "s32" ? 4 : type == "f16" || type == "bf16" ? 2 : 1;
}

/// The bits of a small integer.
uint32_t encode(const std::string &type, int value) {
  if (type == "s8" || type == "u8") return static_cast<uint8_t>(value);
  if (type == "s32") return static_cast<uint32_t>(value);
  auto f = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  if (type == "f32" || type == "tf32") return bits;
  if (type == "bf16") return bits >> 16;
  if (value == 0) return 0;
  uint32_t sign = bits >> 31, exponent = bits >> 23 & 255, fraction = bits & 0x7fffff;
  if (type == "f16") return sign << 15 | (exponent - 112) << 10 | fraction >> 13;
  if (type == "e4m3") return sign << 7 | (exponent - 120) << 3 | fraction >> 20;
  return sign << 7 | (exponent - 112) << 2 | fraction >> 21; // e5m2
}

/// Byte offset of element (row or column `outer`, k) by the canonical layouts, K-major atoms of eight rows one after
/// the other, MN-major ones along the outer dimension first.
struct Layout {
  unsigned element, swizzle, extent; ///< extent: rows or columns
  bool transposed;

  unsigned t() const { return 16 / element; }
  unsigned span() const { return swizzle ? swizzle : 16; }
  unsigned leading() const {
    if (!transposed) return extent * 16; // without swizzle: from one k group to the next
    return swizzle ? 2 * 8 * swizzle : extent / t() * 128;
  }
  unsigned stride() const {
    if (!transposed) return 8 * span();
    return swizzle ? 8 * swizzle : 128;
  }
  unsigned offset(unsigned outer, unsigned k) const {
    unsigned at;
    if (!transposed)
      at =
          outer % 8 * span() + outer / 8 * stride() + (swizzle ? k * element : k / t() * leading() + k % t() * element);
    else if (swizzle) {
      unsigned perSpan = swizzle / element;
      at = k % 8 * swizzle + k / 8 * stride() + outer / perSpan * leading() + outer % perSpan * element;
    } else
      at = k % 8 * 16 + k / 8 * leading() + outer / t() * stride() + outer % t() * element;
    unsigned phase = swizzle == 128 ? at >> 7 & 7 : swizzle == 64 ? at >> 7 & 3 : swizzle == 32 ? at >> 7 & 1 : 0;
    return at ^ phase << 4;
  }
  unsigned long long descriptor() const {
    unsigned long long mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return static_cast<unsigned long long>(leading() / 16) << 16 |
           static_cast<unsigned long long>(stride() / 16) << 32 | mode << 62;
  }
};

constexpr unsigned kOperandBytes = 32768;

std::string vectorOf(const char *prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += (i ? ", " : "") + std::string(prefix) + std::to_string(i);
  return text + "}";
}

/// Copies an image of shared memory in, multiplies, stores each thread's registers.
std::string kernelFor(const Case &c, const Layout &a, const Layout &b) {
  unsigned registers = bytesOf(c.d) == 2 ? c.n / 4 : c.n / 2, k = 32 / bytesOf(c.a);
  bool integer = std::string(c.d) == "s32", sixteen = bytesOf(c.a) == 2;
  std::string n = std::to_string(registers);
  std::string text =
      ".version 8.6\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 image, .param .u64 in, .param .u64 out, .param .u64 aRegs)\n{\n"
      ".reg .b32 %d<" +
      n +
      ">, %a<4>, %t, %i, %o, %v; .reg .b64 %x<8>, %da, %db; .reg .pred %p, %q;\n"
      ".shared .align 1024 .b8 s[" +
      std::to_string(2 * kOperandBytes) +
      "];\n"
      "ld.param.u64 %x0, [image]; ld.param.u64 %x1, [in]; ld.param.u64 %x2, [out]; ld.param.u64 %x6, [aRegs];\n"
      "mov.u32 %t, %tid.x; shl.b32 %o, %t, 2; mov.u32 %v, s; add.u32 %v, %v, %o;\n"
      "cvt.u64.u32 %x3, %o; add.u64 %x0, %x0, %x3; mov.u32 %i, 0;\n"
      "copy: ld.global.u32 %a0, [%x0]; st.shared.u32 [%v], %a0; add.u32 %v, %v, 512; add.u64 %x0, %x0, 512;\n"
      "add.u32 %i, %i, 512; setp.lt.u32 %q, %i, " +
      std::to_string(2 * kOperandBytes) +
      "; @%q bra copy;\n"
      "fence.proxy.async.shared::cta; bar.sync 0;\n"
      "mul.lo.u32 %i, %t, " +
      std::to_string(4 * registers) +
      "; cvt.u64.u32 %x3, %i;\n"
      "add.u64 %x1, %x1, %x3; add.u64 %x2, %x2, %x3;\n";
  for (unsigned r = 0; r < registers; ++r)
    text += "ld.global.u32 %d" + std::to_string(r) + ", [%x1+" + std::to_string(4 * r) + "];\n";
  if (c.aRegisters) {
    text += "mul.wide.u32 %x4, %t, 16; add.u64 %x6, %x6, %x4;\n";
    for (unsigned r = 0; r < 4; ++r)
      text += "ld.global.u32 %a" + std::to_string(r) + ", [%x6+" + std::to_string(4 * r) + "];\n";
  }
  text += "mov.u64 %da, s; shr.u64 %da, %da, 4; mov.u64 %db, s+" + std::to_string(kOperandBytes) +
          "; shr.u64 %db, %db, 4;\n"
          "or.b64 %da, %da, " +
          std::to_string(a.descriptor()) + "U; or.b64 %db, %db, " + std::to_string(b.descriptor()) +
          "U;\nsetp.ne.u32 %p, " + std::string(c.scaleD ? "1" : "0") +
          ", 0;\nwgmma.fence.sync.aligned;\n"
          "wgmma.mma_async.sync.aligned.m64n" +
          std::to_string(c.n) + "k" + std::to_string(k) + "." + c.d + "." + c.a + "." + c.b + " " +
          vectorOf("%d", registers) + ", " + (c.aRegisters ? vectorOf("%a", 4) : "%da") + ", %db, %p";
  if (!integer) text += std::string(c.negateA ? ", -1" : ", 1") + (c.negateB ? ", -1" : ", 1");
  if (sixteen) text += (c.aRegisters ? "" : c.transA ? ", 1" : ", 0") + std::string(c.transB ? ", 1" : ", 0");
  text += ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  for (unsigned r = 0; r < registers; ++r)
    text += "st.global.u32 [%x2+" + std::to_string(4 * r) + "], %d" + std::to_string(r) + ";\n";
  return text + "ret;\n}\n";
}

void run(const Case &c, Settings::Async mode) {
  SCOPED_TRACE(std::string(c.d) + "." + c.a + "." + c.b + " n " + std::to_string(c.n) + " swizzle " +
               std::to_string(c.swizzle) + (c.transA ? " transA" : "") + (c.transB ? " transB" : "") +
               (c.aRegisters ? " registers" : ""));
  unsigned element = bytesOf(c.a), k = 32 / element;
  Layout la{element, c.swizzle, 64, c.transA}, lb{element, c.swizzle, c.n, c.transB};
  std::mt19937 random(c.n * 7 + c.swizzle);
  bool isUnsigned = std::string(c.a) == "u8";
  auto value = [&] { return static_cast<int>(random() % 8) - (isUnsigned ? 0 : 4); };
  std::vector<int> a(64 * k), b(c.n * k), in(64 * c.n);
  std::vector<uint8_t> image(2 * kOperandBytes);
  auto put = [&](size_t at, const char *type, int v) {
    uint32_t bits = encode(type, v);
    std::memcpy(image.data() + at, &bits, element);
  };
  for (unsigned r = 0; r < 64; ++r)
    for (unsigned x = 0; x < k; ++x) put(la.offset(r, x), c.a, a[r * k + x] = value());
  for (unsigned col = 0; col < c.n; ++col)
    for (unsigned x = 0; x < k; ++x) put(kOperandBytes + lb.offset(col, x), c.b, b[col * k + x] = value());
  // Registers: element i of thread t of warp w is row 16w + t/4 + 8 (i/2 % 2), column 2 (t%4) + i%2 + 8 (i/4).
  unsigned width = bytesOf(c.d);
  std::vector<uint8_t> start(128 * c.n / 2 * width), regs(128 * 16);
  auto place = [&](unsigned t, unsigned i) {
    unsigned lane = t % 32, row = 16 * (t / 32) + lane / 4 + 8 * (i / 2 % 2),
             col = 2 * (lane % 4) + i % 2 + 8 * (i / 4);
    return row * c.n + col;
  };
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned i = 0; i < c.n / 2; ++i) {
      uint32_t bits = encode(c.d, in[place(t, i)] = value());
      std::memcpy(start.data() + (t * (c.n / 2) + i) * width, &bits, width);
    }
  for (unsigned t = 0; t < 128 && c.aRegisters; ++t)
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned x = 0; x < 4 / element; ++x) {
        unsigned e = 4 / element, row = 16 * (t / 32) + t % 32 / 4 + 8 * (r & 1),
                 at = e * (t % 4) + x + 4 * e * (r >> 1);
        uint32_t bits = encode(c.a, a[row * k + at]);
        std::memcpy(regs.data() + 16 * t + 4 * r + x * element, &bits, element);
      }
  Machine machine("h100");
  machine.settings.async = mode;
  uint64_t out = machine.allocate(start.size());
  LaunchResult result = machine.run(kernelFor(c, la, lb), {1, 1, 1}, {128, 1, 1}, machine.upload(image),
                                    machine.upload(start), out, machine.upload(regs));
  std::string details;
  for (const Finding &f : result.findings) details += toText(f) + "\n";
  ASSERT_EQ(kindsOf(result), "") << details;
  auto got = machine.download<uint8_t>(out, start.size());
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned i = 0; i < c.n / 2; ++i) {
      unsigned row = place(t, i) / c.n, col = place(t, i) % c.n;
      int sum = 0;
      for (unsigned x = 0; x < k; ++x) sum += a[row * k + x] * b[col * k + x];
      if (c.negateA != c.negateB) sum = -sum;
      if (c.scaleD) sum += in[place(t, i)];
      uint32_t bits = 0;
      std::memcpy(&bits, got.data() + (t * (c.n / 2) + i) * width, width);
      ASSERT_EQ(bits, encode(c.d, sum)) << "row " << row << " column " << col;
    }
}

TEST(Wgmma, Layouts) {
  for (unsigned swizzle : {0u, 32u, 64u, 128u})
    for (bool transA : {false, true})
      for (bool transB : {false, true})
        run({"f32", "f16", "f16", 128, swizzle, transA, transB}, Settings::Async::early);
}

TEST(Wgmma, TypesAndWidths) {
  const char *types[][3] = {{"f32", "f16", "f16"},   {"f16", "f16", "f16"},   {"f32", "bf16", "bf16"},
                            {"f32", "tf32", "tf32"}, {"f32", "e4m3", "e4m3"}, {"f32", "e4m3", "e5m2"},
                            {"f32", "e5m2", "e4m3"}, {"f16", "e5m2", "e5m2"}, {"s32", "s8", "s8"},
                            {"s32", "u8", "u8"}};
  for (auto &t : types)
    for (unsigned n : {8u, 64u, 256u}) run({t[0], t[1], t[2], n, n == 64 ? 32u : 0u}, Settings::Async::late);
  for (unsigned n = 16; n < 256; n += 8) run({"f16", "f16", "f16", n}, Settings::Async::random);
}

TEST(Wgmma, RegistersScalesAndSigns) {
  for (const char *type : {"f16", "bf16", "tf32", "e4m3"}) {
    Case c{"f32", type, type, 32};
    c.aRegisters = true;
    run(c, Settings::Async::late);
    c.negateA = true;
    run(c, Settings::Async::early);
    c.negateB = c.scaleD = false;
    c.negateA = false, c.negateB = true;
    run(c, Settings::Async::random);
  }
  Case c{"s32", "s8", "s8", 32};
  c.aRegisters = true;
  run(c, Settings::Async::late);
}

/// A random finite number's bits: wide exponents, but none whose products overflow; zeros and subnormals among them.
uint32_t randomBits(std::mt19937 &random, const std::string &type) {
  if (random() % 16 == 0) return 0;
  if (bytesOf(type) == 1) {
    auto bits = static_cast<uint32_t>(random() & 0xff);
    bool special = type == "e4m3" ? (bits & 0x7f) == 0x7f : (bits & 0x7c) == 0x7c;
    return special ? bits & 0xbf : bits;
  }
  if (type == "f16") return (random() & 0x83ff) | (random() % 19) << 10; // below 2^4
  auto bits = static_cast<uint32_t>((random() & 0x807fffff) | (127 - 20 + random() % 40) << 23);
  return type == "bf16" ? bits >> 16 : bits;
}

/// A 64x64 tile of random bits, every element against the tensor core's model.
void compareWithModel(const char *d, const char *type, uint64_t seed) {
  SCOPED_TRACE(std::string(d) + "." + type + " seed " + std::to_string(seed));
  Case c{d, type, type, 64};
  unsigned element = bytesOf(type), k = 32 / element, width = bytesOf(d);
  Layout la{element, 0, 64, false}, lb{element, 0, c.n, false};
  std::mt19937 random(seed);
  std::vector<std::vector<uint32_t>> a(64, std::vector<uint32_t>(k)), b(c.n, std::vector<uint32_t>(k));
  std::vector<uint8_t> image(2 * kOperandBytes), start(128 * c.n / 2 * width);
  auto fill = [&](std::vector<std::vector<uint32_t>> &matrix, const Layout &layout, size_t base) {
    for (unsigned r = 0; r < matrix.size(); ++r)
      for (unsigned x = 0; x < k; ++x) {
        matrix[r][x] = randomBits(random, type);
        std::memcpy(image.data() + base + layout.offset(r, x), &matrix[r][x], element);
        // The model takes the 19 bits of tf32; what lies below them in the register is ignored.
        if (typeNamed(type) == Type::tf32) matrix[r][x] >>= 13;
      }
  };
  fill(a, la, 0);
  fill(b, lb, kOperandBytes);
  for (size_t at = 0; at < start.size(); at += width) {
    uint32_t bits = randomBits(random, d);
    std::memcpy(start.data() + at, &bits, width);
  }
  Machine machine("h100");
  uint64_t out = machine.allocate(start.size());
  LaunchResult result = machine.run(kernelFor(c, la, lb), {1, 1, 1}, {128, 1, 1}, machine.upload(image),
                                    machine.upload(start), out, machine.upload(std::vector<uint8_t>(2048)));
  ASSERT_EQ(kindsOf(result), "");
  auto got = machine.download<uint8_t>(out, start.size());
  bool half = width == 2;
  ModelRules rules;
  ASSERT_TRUE(modelRules("h100", typeNamed(type), half, rules));
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned i = 0; i < c.n / 2; ++i) {
      unsigned lane = t % 32, row = 16 * (t / 32) + lane / 4 + 8 * (i / 2 % 2),
               col = 2 * (lane % 4) + i % 2 + 8 * (i / 4);
      uint32_t before = 0, after = 0;
      std::memcpy(&before, start.data() + (t * (c.n / 2) + i) * width, width);
      std::memcpy(&after, got.data() + (t * (c.n / 2) + i) * width, width);
      ASSERT_EQ(after, modelDot(rules, typeNamed(type), a[row], b[col], before, half))
          << "row " << row << " column " << col;
    }
}

TEST(Wgmma, MatchesTheModelBitByBit) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    for (const char *type : {"f16", "bf16", "tf32", "e4m3", "e5m2"}) compareWithModel("f32", type, seed);
    compareWithModel("f16", "f16", seed);
  }
}

} // namespace
} // namespace stator::sim::test
