// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/simulator/RandomProgram.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>

namespace stator::sim::test {

namespace {

constexpr unsigned kWords = 10, kLongs = 4, kFloats = 6, kInput = 256;

/// A thread's registers: 32-bit %r, 64-bit %d, floats %f as bits.
struct Thread {
  uint32_t block = 0, id = 0;
  uint32_t r[kWords] = {}, f[kFloats] = {};
  uint64_t d[kLongs] = {};
};

/// What a block shares, and the input.
struct World {
  std::vector<Thread> threads; ///< of one block
  std::vector<uint32_t> shared;
  const std::vector<uint32_t> *input = nullptr;
};

float toFloat(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
uint32_t toBits(float x) {
  if (x != x) return 0x7fffffff; // arithmetic gives this NaN only
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}

using ThreadAction = std::function<void(Thread &, World &)>;
using BlockAction = std::function<void(World &)>;

/// A node: PTX text and its meaning, for one thread or for a whole block.
struct Node {
  std::string text;
  ThreadAction each;
  BlockAction together;
};

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  RandomProgram run() {
    program.threads = 32 * (1 + pick(4)) - (pick(3) == 0 ? 5 : 0);
    program.blocks = 1 + pick(3);
    for (unsigned i = 0; i < kInput; ++i) program.input.push_back(interesting());
    std::vector<Node> nodes;
    nodes.push_back(start());
    for (unsigned i = 0, n = 12 + pick(20); i < n; ++i) nodes.push_back(pick(4) ? statement(2) : collective());
    print(nodes);
    interpret(nodes);
    return program;
  }

private:
  unsigned pick(unsigned n) { return static_cast<unsigned>(random() % n); }
  uint32_t interesting() {
    static const uint32_t special[] = {0,          1,          2,    31,         32,         0x7fffffff,
                                       0x80000000, 0xffffffff, 0xff, 0x8000,     0x3f800000, 0xbf800000,
                                       0x7f800000, 0x7fc00000, 1,    0x00800000, 0x80000001};
    unsigned which = pick(3);
    if (which == 0) return special[pick(sizeof special / 4)];
    return which == 1 ? pick(100) : static_cast<uint32_t>(random());
  }
  static std::string reg(char file, unsigned i) { return std::string("%") + file + std::to_string(i); }

  Node start() {
    // Every register begins with a value that depends on the thread.
    Node n;
    std::vector<unsigned> at;
    for (unsigned i = 0; i < kWords + 2 * kLongs + kFloats; ++i) at.push_back(pick(kInput));
    auto load = [&](unsigned index, const std::string &to) {
      n.text += "  add.u32 %t1, %thread, " + std::to_string(at[index]) + ";\n  and.b32 %t1, %t1, " +
                std::to_string(kInput - 1) +
                ";\n  mul.wide.u32 %q1, %t1, 4;\n  add.u64 %q1, %in, %q1;\n  ld.global.b32 " + to + ", [%q1];\n";
    };
    for (unsigned i = 0; i < kWords; ++i) load(i, reg('r', i));
    for (unsigned i = 0; i < kLongs; ++i) {
      load(kWords + 2 * i, "%t2");
      load(kWords + 2 * i + 1, "%t3");
      n.text += "  mov.b64 " + reg('d', i) + ", {%t2, %t3};\n";
    }
    for (unsigned i = 0; i < kFloats; ++i) load(kWords + 2 * kLongs + i, reg('f', i));
    n.each = [at](Thread &t, World &w) {
      auto in = [&](unsigned i) { return (*w.input)[(t.id + at[i]) & (kInput - 1)]; };
      for (unsigned i = 0; i < kWords; ++i) t.r[i] = in(i);
      for (unsigned i = 0; i < kLongs; ++i) t.d[i] = in(kWords + 2 * i) | uint64_t{in(kWords + 2 * i + 1)} << 32;
      for (unsigned i = 0; i < kFloats; ++i) t.f[i] = in(kWords + 2 * kLongs + i);
    };
    return n;
  }

  Node statement(unsigned depth) {
    unsigned what = pick(depth ? 12 : 9);
    if (what < 4) return word();
    if (what < 6) return wide();
    if (what < 9) return floating();
    return what < 11 ? branch(depth) : loop(depth);
  }

  /// d = op(a, b, c) on words; b may be a constant.
  Node word() {
    struct Op {
      const char *name;
      unsigned operands;
      uint32_t (*run)(uint32_t, uint32_t, uint32_t);
    };
    static const Op ops[] = {
        {"add.u32", 2, [](uint32_t a, uint32_t b, uint32_t) { return a + b; }},
        {"sub.s32", 2, [](uint32_t a, uint32_t b, uint32_t) { return a - b; }},
        {"mul.lo.s32", 2, [](uint32_t a, uint32_t b, uint32_t) { return a * b; }},
        {"mul.hi.u32", 2,
         [](uint32_t a, uint32_t b, uint32_t) { return static_cast<uint32_t>(uint64_t{a} * b >> 32); }},
        {"mul.hi.s32", 2,
         [](uint32_t a, uint32_t b, uint32_t) {
           return static_cast<uint32_t>(int64_t{static_cast<int32_t>(a)} * static_cast<int32_t>(b) >> 32);
         }},
        {"mad.lo.u32", 3, [](uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }},
        {"and.b32", 2, [](uint32_t a, uint32_t b, uint32_t) { return a & b; }},
        {"or.b32", 2, [](uint32_t a, uint32_t b, uint32_t) { return a | b; }},
        {"xor.b32", 2, [](uint32_t a, uint32_t b, uint32_t) { return a ^ b; }},
        {"not.b32", 1, [](uint32_t a, uint32_t, uint32_t) { return ~a; }},
        {"shl.b32", 2, [](uint32_t a, uint32_t b, uint32_t) { return b > 31 ? 0 : a << b; }},
        {"shr.u32", 2, [](uint32_t a, uint32_t b, uint32_t) { return b > 31 ? 0 : a >> b; }},
        {"shr.s32", 2,
         [](uint32_t a, uint32_t b, uint32_t) {
           return static_cast<uint32_t>(static_cast<int32_t>(a) >> (b > 31 ? 31 : b));
         }},
        {"min.u32", 2, [](uint32_t a, uint32_t b, uint32_t) { return a < b ? a : b; }},
        {"max.s32", 2,
         [](uint32_t a, uint32_t b, uint32_t) { return static_cast<int32_t>(a) > static_cast<int32_t>(b) ? a : b; }},
        {"abs.s32", 1, [](uint32_t a, uint32_t, uint32_t) { return a >> 31 ? 0 - a : a; }},
        {"neg.s32", 1, [](uint32_t a, uint32_t, uint32_t) { return 0 - a; }},
        {"popc.b32", 1,
         [](uint32_t a, uint32_t, uint32_t) {
           uint32_t n = 0;
           for (; a; a >>= 1) n += a & 1;
           return n;
         }},
        {"clz.b32", 1,
         [](uint32_t a, uint32_t, uint32_t) {
           uint32_t n = 0;
           for (; n < 32 && !(a >> (31 - n) & 1); ++n) {
           }
           return n;
         }},
        {"brev.b32", 1,
         [](uint32_t a, uint32_t, uint32_t) {
           uint32_t out = 0;
           for (unsigned i = 0; i < 32; ++i) out |= (a >> i & 1) << (31 - i);
           return out;
         }},
        {"bfe.u32", 3,
         [](uint32_t a, uint32_t b, uint32_t c) {
           uint32_t out = 0;
           b &= 255, c &= 255;
           for (uint32_t i = 0; i < c && i < 32; ++i)
             if (b + i < 32) out |= (a >> (b + i) & 1) << i;
           return out;
         }},
        {"prmt.b32", 3,
         [](uint32_t a, uint32_t b, uint32_t c) {
           uint32_t out = 0;
           for (unsigned i = 0; i < 4; ++i) {
             uint32_t select = c >> 4 * i & 15;
             uint32_t byte = ((select & 4 ? b : a) >> 8 * (select & 3)) & 255;
             if (select & 8) byte = byte & 128 ? 255 : 0;
             out |= byte << 8 * i;
           }
           return out;
         }},
        {"shf.l.wrap.b32", 3,
         [](uint32_t a, uint32_t b, uint32_t c) {
           return static_cast<uint32_t>(((uint64_t{b} << 32 | a) << (c & 31)) >> 32);
         }},
        {"sad.u32", 3, [](uint32_t a, uint32_t b, uint32_t c) { return c + (a > b ? a - b : b - a); }},
        {"lop3.b32", 4, // the table is added below
         [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | (~a & c); }},
    };
    const Op &op = ops[pick(sizeof ops / sizeof ops[0])];
    unsigned d = pick(kWords), a = pick(kWords), b = pick(kWords), c = pick(kWords);
    bool constant = op.operands >= 2 && pick(3) == 0;
    uint32_t value = interesting();
    Node n;
    n.text = "  " + std::string(op.name) + " " + reg('r', d) + ", " + reg('r', a);
    if (op.operands >= 2) n.text += ", " + (constant ? std::to_string(value) : reg('r', b));
    if (op.operands >= 3) n.text += ", " + reg('r', c);
    if (op.operands == 4) n.text += ", 0xCA";
    n.text += ";\n";
    auto run = op.run;
    n.each = [=](Thread &t, World &) { t.r[d] = run(t.r[a], constant ? value : t.r[b], t.r[c]); };
    return n;
  }

  Node wide() {
    unsigned d = pick(kLongs), a = pick(kLongs), b = pick(kLongs), r = pick(kWords), s = pick(kWords);
    Node n;
    switch (pick(8)) {
    case 0:
      n.text = "  add.s64 " + reg('d', d) + ", " + reg('d', a) + ", " + reg('d', b) + ";\n";
      n.each = [=](Thread &t, World &) { t.d[d] = t.d[a] + t.d[b]; };
      break;
    case 1:
      n.text = "  mul.lo.u64 " + reg('d', d) + ", " + reg('d', a) + ", " + reg('d', b) + ";\n";
      n.each = [=](Thread &t, World &) { t.d[d] = t.d[a] * t.d[b]; };
      break;
    case 2:
      n.text = "  mul.wide.s32 " + reg('d', d) + ", " + reg('r', r) + ", " + reg('r', s) + ";\n";
      n.each = [=](Thread &t, World &) {
        t.d[d] = static_cast<uint64_t>(int64_t{static_cast<int32_t>(t.r[r])} * static_cast<int32_t>(t.r[s]));
      };
      break;
    case 3:
      n.text = "  shr.s64 " + reg('d', d) + ", " + reg('d', a) + ", " + reg('r', r) + ";\n";
      n.each = [=](Thread &t, World &) {
        t.d[d] = static_cast<uint64_t>(static_cast<int64_t>(t.d[a]) >> (t.r[r] > 63 ? 63 : t.r[r]));
      };
      break;
    case 4:
      n.text = "  cvt.u32.u64 " + reg('r', r) + ", " + reg('d', a) + ";\n";
      n.each = [=](Thread &t, World &) { t.r[r] = static_cast<uint32_t>(t.d[a]); };
      break;
    case 5:
      n.text = "  cvt.s64.s32 " + reg('d', d) + ", " + reg('r', r) + ";\n";
      n.each = [=](Thread &t, World &) { t.d[d] = static_cast<uint64_t>(int64_t{static_cast<int32_t>(t.r[r])}); };
      break;
    case 6:
      n.text = "  cvt.s32.s8 " + reg('r', r) + ", " + reg('r', s) + ";\n";
      n.each = [=](Thread &t, World &) {
        t.r[r] = static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(t.r[s] & 255)));
      };
      break;
    default:
      n.text = "  xor.b64 " + reg('d', d) + ", " + reg('d', a) + ", " + reg('d', b) + ";\n";
      n.each = [=](Thread &t, World &) { t.d[d] = t.d[a] ^ t.d[b]; };
    }
    return n;
  }

  Node floating() {
    unsigned d = pick(kFloats), a = pick(kFloats), b = pick(kFloats), c = pick(kFloats), r = pick(kWords);
    Node n;
    auto three = [&](const char *name) {
      return "  " + std::string(name) + " " + reg('f', d) + ", " + reg('f', a) + ", " + reg('f', b);
    };
    switch (pick(10)) {
    case 0:
      n.text = three("add.rn.f32") + ";\n";
      n.each = [=](Thread &t, World &) { t.f[d] = toBits(toFloat(t.f[a]) + toFloat(t.f[b])); };
      break;
    case 1:
      n.text = three("mul.rn.f32") + ";\n";
      n.each = [=](Thread &t, World &) { t.f[d] = toBits(toFloat(t.f[a]) * toFloat(t.f[b])); };
      break;
    case 2:
      n.text = three("fma.rn.f32") + ", " + reg('f', c) + ";\n";
      n.each = [=](Thread &t, World &) {
        t.f[d] = toBits(std::fma(toFloat(t.f[a]), toFloat(t.f[b]), toFloat(t.f[c])));
      };
      break;
    case 3:
      n.text = three("div.rn.f32") + ";\n";
      n.each = [=](Thread &t, World &) { t.f[d] = toBits(toFloat(t.f[a]) / toFloat(t.f[b])); };
      break;
    case 4:
      n.text = three("max.f32") + ";\n";
      n.each = [=](Thread &t, World &) {
        float x = toFloat(t.f[a]), y = toFloat(t.f[b]);
        bool second = x != x || x < y || (x == y && std::signbit(x) && !std::signbit(y));
        t.f[d] = toBits(second ? y : x);
        if (y != y) t.f[d] = toBits(x);
      };
      break;
    case 5:
      n.text = "  sqrt.rn.f32 " + reg('f', d) + ", " + reg('f', a) + ";\n";
      n.each = [=](Thread &t, World &) { t.f[d] = toBits(std::sqrt(toFloat(t.f[a]))); };
      break;
    case 6:
      n.text = "  cvt.rn.f32.s32 " + reg('f', d) + ", " + reg('r', r) + ";\n";
      n.each = [=](Thread &t, World &) { t.f[d] = toBits(static_cast<float>(static_cast<int32_t>(t.r[r]))); };
      break;
    case 7:
      n.text = "  cvt.rzi.s32.f32 " + reg('r', r) + ", " + reg('f', a) + ";\n";
      n.each = [=](Thread &t, World &) {
        float x = toFloat(t.f[a]);
        t.r[r] = x != x               ? 0
                 : x >= 2147483648.f  ? 0x7fffffff
                 : x <= -2147483648.f ? 0x80000000
                                      : static_cast<uint32_t>(static_cast<int32_t>(x));
      };
      break;
    case 8:
      n.text = "  mov.b32 " + reg('f', d) + ", " + reg('r', r) + ";\n";
      n.each = [=](Thread &t, World &) { t.f[d] = t.r[r]; };
      break;
    default:
      n.text = "  mov.b32 " + reg('r', r) + ", " + reg('f', a) + ";\n";
      n.each = [=](Thread &t, World &) { t.r[r] = t.f[a]; };
    }
    return n;
  }

  /// A condition in predicate %p0.
  std::function<bool(const Thread &)> condition(std::string &text) {
    unsigned a = pick(kWords), b = pick(kWords);
    uint32_t constant = interesting();
    switch (pick(4)) {
    case 0:
      text += "  setp.lt.s32 %p0, " + reg('r', a) + ", " + reg('r', b) + ";\n";
      return [=](const Thread &t) { return static_cast<int32_t>(t.r[a]) < static_cast<int32_t>(t.r[b]); };
    case 1:
      text += "  setp.ge.u32 %p0, " + reg('r', a) + ", " + std::to_string(constant) + ";\n";
      return [=](const Thread &t) { return t.r[a] >= constant; };
    case 2: {
      unsigned x = a % kFloats, y = b % kFloats;
      text += "  setp.geu.f32 %p0, " + reg('f', x) + ", " + reg('f', y) + ";\n";
      return [=](const Thread &t) { return !(toFloat(t.f[x]) < toFloat(t.f[y])); };
    }
    default: {
      unsigned mask = 1 + pick(31);
      text += "  and.b32 %t1, %thread, " + std::to_string(mask) + ";\n  setp.eq.u32 %p0, %t1, 0;\n";
      return [=](const Thread &t) { return (t.id & mask) == 0; };
    }
    }
  }

  std::vector<Node> body(unsigned depth) {
    std::vector<Node> nodes;
    for (unsigned i = 0, n = 1 + pick(4); i < n; ++i) nodes.push_back(statement(depth - 1));
    return nodes;
  }
  static std::string textOf(const std::vector<Node> &nodes) {
    std::string text;
    for (const Node &n : nodes) text += n.text;
    return text;
  }
  static void runAll(const std::vector<Node> &nodes, Thread &t, World &w) {
    for (const Node &n : nodes) n.each(t, w);
  }

  Node branch(unsigned depth) {
    Node n;
    auto test = condition(n.text);
    auto yes = std::make_shared<std::vector<Node>>(body(depth)), no = std::make_shared<std::vector<Node>>();
    if (pick(2)) *no = body(depth);
    std::string label = std::to_string(labels++);
    n.text += "  @!%p0 bra ELSE" + label + ";\n" + textOf(*yes) + "  bra END" + label + ";\nELSE" + label + ":\n" +
              textOf(*no) + "END" + label + ":\n";
    n.each = [=](Thread &t, World &w) { runAll(test(t) ? *yes : *no, t, w); };
    return n;
  }

  /// Each thread goes round 0 to 7 times.
  Node loop(unsigned depth) {
    Node n;
    unsigned a = pick(kWords);
    std::string label = std::to_string(labels++), counter = "%n" + std::to_string(loops++);
    auto inner = std::make_shared<std::vector<Node>>(body(depth));
    n.text = "  and.b32 " + counter + ", " + reg('r', a) + ", 7;\nLOOP" + label + ":\n  setp.eq.u32 %p0, " + counter +
             ", 0;\n  @%p0 bra OUT" + label + ";\n" + textOf(*inner) + "  sub.u32 " + counter + ", " + counter +
             ", 1;\n  bra LOOP" + label + ";\nOUT" + label + ":\n";
    n.each = [=](Thread &t, World &w) {
      for (uint32_t i = t.r[a] & 7; i; --i) runAll(*inner, t, w);
    };
    return n;
  }

  /// What threads do together. Every thread of the block comes here.
  Node collective() {
    unsigned d = pick(kWords), a = pick(kWords), b = pick(kWords), k = pick(32);
    Node n;
    auto warpOf = [](World &w, size_t i) {
      return std::make_pair(i / 32 * 32, std::min(w.threads.size(), i / 32 * 32 + 32));
    };
    switch (pick(4)) {
    case 0: {
      // The source lane stays inside the warp's threads.
      n.text = "  xor.b32 %t1, %lane, " + std::to_string(k) + ";\n  shfl.sync.bfly.b32 %t2|%p1, " + reg('r', a) + ", " +
               std::to_string(k) +
               ", 31, %members;\n  shr.u32 %t3, %members, %t1;\n  and.b32 %t3, %t3, 1;\n"
               "  setp.eq.u32 %p1, %t3, 0;\n  selp.b32 " +
               reg('r', d) + ", " + reg('r', b) + ", %t2, %p1;\n";
      n.together = [=](World &w) {
        std::vector<uint32_t> result(w.threads.size());
        for (size_t i = 0; i < w.threads.size(); ++i) {
          size_t from = i ^ k;
          result[i] = from < w.threads.size() ? w.threads[from].r[a] : w.threads[i].r[b];
        }
        for (size_t i = 0; i < w.threads.size(); ++i) w.threads[i].r[d] = result[i];
      };
      return n;
    }
    case 1:
      n.text = "  shfl.sync.up.b32 " + reg('r', d) + ", " + reg('r', a) + ", " + std::to_string(k) + ", 0, %members;\n";
      n.together = [=](World &w) {
        std::vector<uint32_t> result(w.threads.size());
        for (size_t i = 0; i < w.threads.size(); ++i) result[i] = w.threads[i % 32 >= k ? i - k : i].r[a];
        for (size_t i = 0; i < w.threads.size(); ++i) w.threads[i].r[d] = result[i];
      };
      return n;
    case 2: {
      auto test = condition(n.text);
      n.text += "  vote.sync.ballot.b32 " + reg('r', d) + ", %p0, %members;\n";
      n.together = [=](World &w) {
        std::vector<uint32_t> result(w.threads.size(), 0);
        for (size_t i = 0; i < w.threads.size(); ++i)
          for (auto [j, end] = warpOf(w, i); j < end; ++j) result[i] |= uint32_t{test(w.threads[j])} << (j % 32);
        for (size_t i = 0; i < w.threads.size(); ++i) w.threads[i].r[d] = result[i];
      };
      return n;
    }
    default: {
      // Through shared memory: store, barrier, another thread's value, barrier; and a counter that all add to.
      uint32_t factor = 2 * pick(64) + 1, threads = program.threads;
      n.text =
          "  shl.b32 %t1, %thread, 2;\n  add.u32 %t1, %smem, %t1;\n  st.shared.b32 [%t1], " + reg('r', a) +
          ";\n  setp.eq.u32 %p1, %thread, 0;\n  @%p1 st.shared.b32 [counter], 0;\n  bar.sync 0;\n  mul.lo.u32 %t2, "
          "%thread, " +
          std::to_string(factor) + ";\n  rem.u32 %t2, %t2, " + std::to_string(threads) +
          ";\n  shl.b32 %t2, %t2, 2;\n  add.u32 %t2, %smem, %t2;\n  ld.shared.b32 " + reg('r', d) +
          ", [%t2];\n  atom.shared.add.u32 %t3, [counter], " + reg('r', d) + ";\n  bar.sync 0;\n  ld.shared.b32 " +
          reg('r', b) + ", [counter];\n  bar.sync 0;\n";
      n.together = [=](World &w) {
        std::vector<uint32_t> stored;
        for (const Thread &t : w.threads) stored.push_back(t.r[a]);
        uint32_t sum = 0;
        for (Thread &t : w.threads) sum += t.r[d] = stored[t.id * factor % threads];
        for (Thread &t : w.threads) t.r[b] = sum;
      };
      return n;
    }
    }
  }

  void print(const std::vector<Node> &nodes) {
    std::string &t = program.text;
    t = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel(.param .u64 in, .param .u64 out)\n{\n"
        "  .reg .pred %p<2>;\n  .reg .b32 %r<10>;\n  .reg .b32 %t<5>;\n  .reg .b32 %n<" +
        std::to_string(loops + 1) +
        ">;\n  .reg .b32 %thread, %lane, %smem, %members;\n  .reg .f32 %f<6>;\n  .reg .b64 %d<4>;\n  .reg .b64 %q<2>;\n"
        "  .reg .b64 %in, %out;\n  .shared .align 4 .b32 slots[128];\n  .shared .align 4 .b32 counter;\n"
        "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  mov.u32 %thread, %tid.x;\n  mov.u32 %lane, "
        "%laneid;\n"
        "  mov.u32 %smem, slots;\n"
        // Lanes beyond the block's last thread are in no mask.
        "  and.b32 %t1, %thread, -32;\n  mov.u32 %t2, %ntid.x;\n  sub.u32 %t2, %t2, %t1;\n  min.u32 %t2, %t2, 32;\n"
        "  sub.u32 %t2, 32, %t2;\n  shr.u32 %members, -1, %t2;\n";
    t += textOf(nodes);
    // Every register goes out.
    t += "  mov.u32 %t1, %ctaid.x;\n  mov.u32 %t2, %ntid.x;\n  mad.lo.u32 %t1, %t1, %t2, %thread;\n  mul.wide.u32 %q1, "
         "%t1, " +
         std::to_string(4 * kOut) + ";\n  add.u64 %out, %out, %q1;\n";
    unsigned at = 0;
    for (unsigned i = 0; i < kWords; ++i, at += 4)
      t += "  st.global.b32 [%out+" + std::to_string(at) + "], " + reg('r', i) + ";\n";
    for (unsigned i = 0; i < kFloats; ++i, at += 4)
      t += "  st.global.b32 [%out+" + std::to_string(at) + "], " + reg('f', i) + ";\n";
    for (unsigned i = 0; i < kLongs; ++i, at += 8)
      t += "  st.global.b64 [%out+" + std::to_string(at) + "], " + reg('d', i) + ";\n";
    t += "  ret;\n}\n";
  }

  void interpret(const std::vector<Node> &nodes) {
    for (uint32_t block = 0; block < program.blocks; ++block) {
      World w;
      w.input = &program.input;
      w.threads.resize(program.threads);
      for (uint32_t i = 0; i < program.threads; ++i) w.threads[i].id = i, w.threads[i].block = block;
      for (const Node &n : nodes) {
        if (n.together)
          n.together(w);
        else
          for (Thread &t : w.threads) n.each(t, w);
      }
      for (const Thread &t : w.threads) {
        program.expected.insert(program.expected.end(), t.r, t.r + kWords);
        program.expected.insert(program.expected.end(), t.f, t.f + kFloats);
        for (uint64_t d : t.d) {
          program.expected.push_back(static_cast<uint32_t>(d));
          program.expected.push_back(static_cast<uint32_t>(d >> 32));
        }
      }
    }
  }

  static constexpr unsigned kOut = kWords + kFloats + 2 * kLongs;
  std::mt19937_64 random;
  RandomProgram program;
  unsigned labels = 0, loops = 0;
};

} // namespace

RandomProgram randomProgram(uint64_t seed) { return Generator(seed).run(); }

} // namespace stator::sim::test
