// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs one instruction over a table of operands, 32 rows a warp, and compares the results bit by bit.
#pragma once

#include "tests/unit/simulator/Machine.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace stator::sim::test {

/// Operands, then the expected result; as bits.
using Row5 = std::vector<uint64_t>;

inline uint64_t f32(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
inline uint64_t f64(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, 8);
  return bits;
}

/// PTX that loads operands by `shape`, executes `instr`, and stores the result. `shape`: one letter an operand (h w d
/// for 16, 32, 64 bits, p for a predicate), '>', the result's letter. In `instr`, $d $a $b $c $e stand for the
/// operands.
inline std::string kernelFor(const std::string &instr, const std::string &shape, const char *target = "sm_90a") {
  auto type = [](char c) {
    return std::string(c == 'h' ? "b16" : c == 'w' || c == 'p' ? "b32" : c == 'b' ? "b8" : "b64");
  };
  size_t inputs = shape.find('>');
  char out = shape[inputs + 1];
  std::string text =
      ".version 8.6\n.target " + std::string(target) +
      "\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
      ".reg .b64 %in, %out, %t, %x<5>, %rd; .reg .b32 %w<5>, %rw, %l; .reg .b16 %h<5>, %rh; .reg .pred %p<5>, %rp;\n"
      "ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\nmov.u32 %l, %tid.x;\n"
      "mul.wide.u32 %t, %l, 64; add.u64 %in, %in, %t; mul.wide.u32 %t, %l, 8; add.u64 %out, %out, %t;\n";
  auto name = [](char c, size_t i) {
    return std::string(c == 'd' ? "%x" : c == 'w' ? "%w" : c == 'p' ? "%p" : "%h") + std::to_string(i);
  };
  for (size_t i = 0; i < inputs; ++i) {
    std::string at = "[%in+" + std::to_string(8 * i) + "];\n";
    if (shape[i] == 'p') text += "ld.global.b32 %w0, " + at + "setp.ne.u32 %p" + std::to_string(i) + ", %w0, 0;\n";
  }
  for (size_t i = 0; i < inputs; ++i)
    if (shape[i] != 'p')
      text += "ld.global." + type(shape[i]) + " " + name(shape[i], i) + ", [%in+" + std::to_string(8 * i) + "];\n";
  std::string body = instr;
  auto replace = [&](const std::string &from, const std::string &to) {
    for (size_t at; (at = body.find(from)) != std::string::npos;) body.replace(at, from.size(), to);
  };
  static const char *const names[] = {"$a", "$b", "$c", "$e"};
  for (size_t i = 0; i < inputs; ++i) replace(names[i], name(shape[i], i));
  std::string result = out == 'd' ? "%rd" : out == 'w' ? "%rw" : out == 'p' ? "%rp" : "%rh";
  replace("$d", result);
  text += body + ";\n";
  if (out == 'p') text += "selp.b32 %rw, 1, 0, %rp;\n", result = "%rw";
  text += "st.global." + type(out) + " [%out], " + result + ";\nret;\n}\n";
  return text;
}

/// Each row: operands and the expected bits.
inline void expectRows(const std::string &instr, const std::string &shape, const std::vector<Row5> &rows) {
  SCOPED_TRACE(instr);
  size_t inputs = shape.find('>');
  Machine machine("h100");
  std::vector<uint64_t> in(8 * rows.size(), 0);
  for (size_t r = 0; r < rows.size(); ++r) {
    ASSERT_EQ(rows[r].size(), inputs + 1);
    for (size_t i = 0; i < inputs; ++i) in[8 * r + i] = rows[r][i];
  }
  uint64_t input = machine.upload(in), output = machine.upload(std::vector<uint64_t>(rows.size(), 0));
  LaunchResult result;
  try {
    result = machine.run(kernelFor(instr, shape), {1, 1, 1}, {static_cast<uint32_t>(rows.size()), 1, 1}, input, output);
  } catch (const std::exception &e) {
    FAIL() << e.what();
  }
  EXPECT_EQ(kindsOf(result), "");
  auto got = machine.download<uint64_t>(output, rows.size());
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string operands;
    char buffer[32];
    for (size_t i = 0; i < inputs; ++i) {
      std::snprintf(buffer, sizeof buffer, " %llx", static_cast<unsigned long long>(rows[r][i]));
      operands += buffer;
    }
    EXPECT_EQ(got[r], rows[r][inputs]) << "operands" << operands << std::hex << " got " << got[r] << " want "
                                       << rows[r][inputs];
  }
}

} // namespace stator::sim::test
