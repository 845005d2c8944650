// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor copies against an element-by-element walk: random shapes of one to five dimensions, boxes that reach outside,
// traversal strides, swizzles, im2col; loads, stores and reductions.
#include "runtime/simulator/TensorMap.h"
#include "tests/unit/simulator/Machine.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace stator::sim::test {
namespace {

constexpr unsigned kShared = 65536;

std::string coordinateList(unsigned count, unsigned first) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += (i ? ", " : "") + ("%c" + std::to_string(first + i));
  return text + "}";
}

/// One thread moves a box; before that (stores) or afterwards (loads) all threads copy the whole of shared memory.
std::string kernelFor(const TensorMap &map, bool load, const std::string &reduction) {
  std::string rank = std::to_string(map.rank);
  std::string text =
      ".version 8.6\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 image, .param .u64 place, .param .u32 bytes)\n{\n"
      ".reg .b32 %t, %o, %v, %bar, %bytes, %c<8>, %s; .reg .b16 %h<3>; .reg .b64 %x<6>; .reg .pred %p, %q, %w;\n"
      ".shared .align 1024 .b8 s[" +
      std::to_string(kShared) +
      "]; .shared .align 8 .b64 barrier;\n"
      "mov.b64 %x0, map; cvta.param.u64 %x0, %x0; ld.param.u64 %x1, [image]; ld.param.u64 %x2, [place];\n"
      "ld.param.u32 %bytes, [bytes]; mov.u32 %t, %tid.x; mov.u32 %s, s; mov.u32 %bar, barrier;\n"
      "setp.eq.u32 %p, %t, 0;\n";
  for (unsigned d = 0; d < 8; ++d)
    text += "ld.global.u32 %c" + std::to_string(d) + ", [%x2+" + std::to_string(4 * d) + "];\n";
  for (unsigned d = 0; d < 3; ++d)
    text += "cvt.u16.u32 %h" + std::to_string(d) + ", %c" + std::to_string(5 + d) + ";\n";
  std::string copy = "shl.b32 %o, %t, 2; cvt.u64.u32 %x3, %o; add.u64 %x3, %x1, %x3; add.u32 %v, %s, %o;\n";
  auto loop = [&](const std::string &body) {
    return copy + "L: " + body +
           " add.u32 %o, %o, 512; add.u32 %v, %v, 512; add.u64 %x3, %x3, 512; setp.lt.u32 %w, %o, " +
           std::to_string(kShared) + "; @%w bra L;\n";
  };
  std::string mode = map.im2col ? load ? ".im2col" : ".im2col_no_offs" : ".tile";
  std::string tensor = "[%x0, " + coordinateList(map.rank, 0) + "]";
  std::string fill =
      loop("ld.global.u32 %bytes, [%x3]; st.shared.u32 [%v], %bytes;") + "fence.proxy.async.shared::cta; bar.sync 0;\n";
  if (load) {
    text += fill +
            "ld.param.u32 %bytes, [bytes];\n@%p mbarrier.init.shared.b64 [%bar], 1; bar.sync 0;\n"
            "@%p mbarrier.arrive.expect_tx.shared.b64 _, [%bar], %bytes;\n"
            "@%p cp.async.bulk.tensor." +
            rank + "d.shared::cluster.global" + mode + ".mbarrier::complete_tx::bytes [%s], " + tensor + ", [%bar]";
    if (map.im2col) {
      text += ", {";
      for (unsigned d = 0; d + 2 < map.rank; ++d) text += (d ? ", %h" : "%h") + std::to_string(d);
      text += "}";
    }
    text += ";\nW: mbarrier.try_wait.parity.shared.b64 %q, [%bar], 0; @!%q bra W;\n";
    text += "M: " + copy.substr(0, copy.size() - 1) +
            "\nN: ld.shared.u32 %bytes, [%v]; st.global.u32 [%x3], %bytes; add.u32 %o, %o, 512; "
            "add.u32 %v, %v, 512; add.u64 %x3, %x3, 512; setp.lt.u32 %w, %o, " +
            std::to_string(kShared) + "; @%w bra N;\n";
  } else {
    text += fill + "@%p " + std::string(reduction.empty() ? "cp" : "cp.reduce") + ".async.bulk.tensor." + rank +
            "d.global.shared::cta" + reduction + mode + ".bulk_group " + tensor +
            ", [%s];\n"
            "@%p cp.async.bulk.commit_group; @%p cp.async.bulk.wait_group 0;\n";
  }
  return text + "ret;\n}\n";
}

/// Calls f(position in the box's rows, element in the row, coordinates) for every element of the box.
void walk(const TensorMap &m, const std::vector<int> &at, const std::vector<int> &offsets,
          const std::function<void(unsigned, unsigned, const std::vector<int64_t> &)> &f) {
  if (!m.im2col) {
    unsigned row = 0;
    std::function<void(unsigned, std::vector<int64_t>)> down = [&](unsigned d, std::vector<int64_t> c) {
      if (d == 0) {
        for (unsigned e = 0; e < m.box[0]; ++e) c[0] = at[0] + int(e), f(row, e, c);
        ++row;
        return;
      }
      for (unsigned i = 0; i < m.box[d]; i += m.steps[d]) c[d] = at[d] + int(i), down(d - 1, c);
    };
    return down(m.rank - 1, std::vector<int64_t>(m.rank));
  }
  // Pixels one after the other: a counter over the box, with the filter's offset added.
  std::vector<int64_t> base(at.begin(), at.begin() + m.rank);
  for (unsigned p = 0; p < m.pixels; ++p) {
    std::vector<int64_t> c = base;
    for (unsigned d = 1; d + 1 < m.rank; ++d) c[d] += offsets[d - 1];
    for (unsigned e = 0; e < m.channels; ++e) c[0] = base[0] + e, f(p, e, c);
    unsigned d = 1;
    for (; d + 1 < m.rank; ++d) {
      base[d] += m.steps[d];
      if (base[d] < static_cast<int64_t>(m.dims[d]) + m.upper[d - 1]) break;
      base[d] = m.lower[d - 1];
    }
    if (d + 1 == m.rank) ++base[d];
  }
}

/// The swizzles as the programming guide draws them: within lines of 128 bytes, units change places by the line's
/// number.
unsigned swizzled(const TensorMap &m, unsigned at) {
  unsigned line = at / 128, inLine = at % 128;
  switch (m.swizzle) {
  case TensorMap::bytes32: return line * 128 + inLine / 32 * 32 + ((inLine / 16 % 2) ^ (line % 2)) * 16 + inLine % 16;
  case TensorMap::bytes64: return line * 128 + inLine / 64 * 64 + ((inLine / 16 % 4) ^ (line % 4)) * 16 + inLine % 16;
  case TensorMap::bytes128: return line * 128 + ((inLine / 16) ^ (line % 8)) * 16 + inLine % 16;
  case TensorMap::atom32: return line * 128 + ((inLine / 32) ^ (line % 4)) * 32 + inLine % 32;
  case TensorMap::atom32Flip8:
    return line * 128 + ((inLine / 32) ^ (line % 4)) * 32 + ((inLine % 32) ^ (line % 2 ? 8 : 0));
  case TensorMap::atom64: return line * 128 + ((inLine / 64) ^ (line % 2)) * 64 + inLine % 64;
  default: return at;
  }
}

TensorMap randomMap(std::mt19937 &random, bool im2col) {
  auto pick = [&](unsigned low, unsigned high) { return low + static_cast<unsigned>(random() % (high - low + 1)); };
  TensorMap m;
  static constexpr uint8_t types[] = {0, 6, 2, 8, 9}; // u8, f16, u32, f64, bf16
  m.type = types[random() % 5];
  m.im2col = im2col;
  m.rank = static_cast<uint8_t>(im2col ? pick(3, 5) : pick(1, 5));
  m.swizzle = static_cast<uint8_t>(pick(0, 6));
  unsigned element = m.elementBytes(), unit = 16 / element;
  unsigned most = m.swizzle ? m.swizzleBytes() / element : 64;
  uint64_t stride = 0;
  for (unsigned d = 0; d < m.rank; ++d) {
    m.dims[d] = d == 0 ? pick(1, 40) : pick(1, 7);
    m.steps[d] = d == 0 ? 1 : pick(1, 2);
    m.box[d] = d == 0 ? pick(1, std::max(1u, most / unit)) * unit : pick(1, 4);
    if (d == 0)
      stride = (m.dims[0] * element + 15) / 16 * 16;
    else
      m.strides[d - 1] = stride, stride = stride * m.dims[d] + 16 * pick(0, 1);
  }
  if (im2col) {
    m.channels = m.box[0];
    m.pixels = pick(1, 20);
    for (unsigned i = 0; i + 2 < m.rank; ++i) {
      m.lower[i] = -static_cast<int>(pick(0, 2));
      m.upper[i] = -static_cast<int>(pick(0, 1));
    }
  }
  return m;
}

void run(std::mt19937 &random, bool im2col, bool load, Settings::Async mode) {
  TensorMap m = randomMap(random, im2col);
  if (!m.complaint().empty()) return;
  unsigned element = m.elementBytes();
  m.fillNan = m.type >= 6 && random() & 1;
  uint64_t size = (m.rank == 1 ? m.dims[0] * element : m.strides[m.rank - 2] * m.dims[m.rank - 1]);
  unsigned rowBytes = (im2col ? m.channels : m.box[0]) * element, pitch = std::max(rowBytes, m.swizzleBytes());
  uint64_t rows = im2col ? m.pixels : 1;
  for (unsigned d = 1; d < m.rank && !im2col; ++d) rows *= (m.box[d] + m.steps[d] - 1) / m.steps[d];
  if (rows * pitch > kShared) return;
  SCOPED_TRACE("rank " + std::to_string(m.rank) + " type " + std::to_string(m.type) + " swizzle " +
               std::to_string(m.swizzle) + (im2col ? " im2col" : "") + (load ? " load" : " store"));
  std::vector<uint8_t> tensor(size), image(kShared);
  for (uint8_t &b : tensor) b = static_cast<uint8_t>(random());
  for (uint8_t &b : image) b = static_cast<uint8_t>(random());
  std::vector<int> at(8), offsets(3);
  for (unsigned d = 0; d < m.rank; ++d) {
    bool spatial = im2col && d > 0 && d + 1 < m.rank;
    at[d] = spatial ? m.lower[d - 1] : static_cast<int>(random() % (m.dims[d] + 4)) - 2;
    if (im2col && d + 1 == m.rank) at[d] = 0;
  }
  for (unsigned i = 0; i < 3; ++i) at[5 + i] = offsets[i] = load ? static_cast<int>(random() % 3) : 0;
  Machine machine("h100");
  machine.settings.async = mode;
  m.address = machine.upload(tensor);
  uint64_t imageAt = machine.upload(image), placeAt = machine.upload(at);
  std::vector<uint8_t> params(148);
  m.write(params.data());
  auto bytes = static_cast<uint32_t>(rows * rowBytes);
  std::memcpy(params.data() + 128, &imageAt, 8);
  std::memcpy(params.data() + 136, &placeAt, 8);
  std::memcpy(params.data() + 144, &bytes, 4);
  LaunchResult result = machine.runBytes(kernelFor(m, load, ""), {1, 1, 1}, {128, 1, 1}, params);
  std::string details;
  for (const Finding &f : result.findings) details += toText(f) + "\n";
  ASSERT_EQ(kindsOf(result), "") << details;
  walk(m, at, offsets, [&](unsigned row, unsigned e, const std::vector<int64_t> &c) {
    bool inside = true;
    uint64_t place = 0;
    for (unsigned d = 0; d < m.rank; ++d) {
      inside &= c[d] >= 0 && c[d] < static_cast<int64_t>(m.dims[d]);
      place += static_cast<uint64_t>(c[d]) * (d == 0 ? element : m.strides[d - 1]);
    }
    unsigned in = swizzled(m, row * pitch + e * element);
    if (load) {
      uint64_t nan = element == 2 ? 0x7fff : 0x7fffffff7fffffff, fill = m.fillNan ? nan : 0;
      std::memcpy(image.data() + in, inside ? tensor.data() + place : reinterpret_cast<uint8_t *>(&fill), element);
    } else if (inside) {
      std::memcpy(tensor.data() + place, image.data() + in, element);
    }
  });
  if (load)
    ASSERT_EQ(machine.download<uint8_t>(imageAt, kShared), image);
  else
    ASSERT_EQ(machine.download<uint8_t>(m.address, size), tensor);
}

TEST(TensorCopies, RandomBoxes) {
  std::mt19937 random(5);
  constexpr Settings::Async modes[] = {Settings::Async::early, Settings::Async::late, Settings::Async::random};
  for (unsigned i = 0; i < 160 && !testing::Test::HasFailure(); ++i) run(random, false, i % 2 == 0, modes[i % 3]);
}

TEST(TensorCopies, RandomColumns) {
  std::mt19937 random(7);
  for (unsigned i = 0; i < 80 && !testing::Test::HasFailure(); ++i)
    run(random, true, i % 4 != 0, Settings::Async::late);
}

// What the driver refuses, one thing at a time.
TEST(TensorMaps, MalformedOnesAreRefused) {
  TensorMap good;
  good.type = 6;
  good.rank = 2;
  good.address = 4096;
  good.dims[0] = good.dims[1] = 64;
  good.strides[0] = 128;
  good.box[0] = good.box[1] = 64;
  good.steps[0] = good.steps[1] = 1;
  good.swizzle = TensorMap::bytes128;
  ASSERT_EQ(good.complaint(), "");
  uint8_t bytes[TensorMap::kBytes];
  good.write(bytes);
  TensorMap back;
  ASSERT_TRUE(back.read(bytes));
  EXPECT_EQ(back.dims[1], 64u);
  bytes[20] ^= 1;
  EXPECT_FALSE(back.read(bytes));
  auto refused = [&](const char *what, const std::function<void(TensorMap &)> &change) {
    TensorMap bad = good;
    change(bad);
    EXPECT_NE(bad.complaint(), "") << what;
  };
  refused("type", [](TensorMap &m) { m.type = 16; });
  refused("rank 0", [](TensorMap &m) { m.rank = 0; });
  refused("rank 6", [](TensorMap &m) { m.rank = 6; });
  refused("address", [](TensorMap &m) { m.address += 8; });
  refused("empty dimension", [](TensorMap &m) { m.dims[1] = 0; });
  refused("dimension beyond 2^32", [](TensorMap &m) { m.dims[1] = (uint64_t{1} << 32) + 1; });
  refused("stride of 8", [](TensorMap &m) { m.strides[0] = 136; });
  refused("stride of 2^40", [](TensorMap &m) { m.strides[0] = uint64_t{1} << 40; });
  refused("box of 257", [](TensorMap &m) { m.box[1] = 257; });
  refused("empty box", [](TensorMap &m) { m.box[1] = 0; });
  refused("row of 24 bytes", [](TensorMap &m) { m.box[0] = 12; });
  refused("row beyond the swizzle", [](TensorMap &m) { m.box[0] = 128; });
  refused("step 9", [](TensorMap &m) { m.steps[1] = 9; });
  refused("step 0", [](TensorMap &m) { m.steps[1] = 0; });
  refused("interleave of rank 2", [](TensorMap &m) { m.interleave = 1; });
  refused("NaN for integers", [](TensorMap &m) { m.type = 1, m.fillNan = true; });
  refused("32-byte interleave, 128-byte swizzle", [](TensorMap &m) {
    m.rank = 3, m.dims[2] = m.box[2] = m.steps[2] = 1, m.strides[1] = 8192, m.interleave = 2;
  });
}

} // namespace
} // namespace stator::sim::test
