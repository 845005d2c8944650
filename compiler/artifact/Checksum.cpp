// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/Checksum.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace stator::artifact {
namespace {

/// Row r: what a byte contributes that is followed by r zero bytes, so that eight bytes are done at a time.
constexpr std::array<std::array<uint32_t, 256>, 8> crcTables = [] {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0xEDB88320u : 0);
    tables[0][i] = value;
  }
  for (int row = 1; row < 8; ++row)
    for (uint32_t i = 0; i < 256; ++i) tables[row][i] = (tables[row - 1][i] >> 8) ^ tables[0][tables[row - 1][i] & 255];
  return tables;
}();

uint64_t rotate(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

template <typename T> uint64_t load(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

} // namespace

void Crc32::update(std::string_view data) {
  while (data.size() >= 8) {
    uint64_t word = load<uint64_t>(data.data()) ^ value;
    value = 0;
    for (int i = 0; i < 8; ++i) value ^= crcTables[7 - i][word >> (8 * i) & 255];
    data.remove_prefix(8);
  }
  for (unsigned char byte : data) value = (value >> 8) ^ crcTables[0][(value ^ byte) & 255];
}

void Xxh64::stripe(const char *data) {
  for (int i = 0; i < 4; ++i) lanes[i] = rotate(lanes[i] + load<uint64_t>(data + 8 * i) * prime2, 31) * prime1;
}

void Xxh64::update(std::string_view data) {
  total += data.size();
  if (restSize != 0 || data.size() < sizeof rest) {
    size_t taken = std::min(data.size(), sizeof rest - restSize);
    if (taken != 0) std::memcpy(rest + restSize, data.data(), taken);
    restSize += taken;
    data.remove_prefix(taken);
    if (restSize < sizeof rest) return;
    stripe(rest);
    restSize = 0;
  }
  for (; data.size() >= sizeof rest; data.remove_prefix(sizeof rest)) stripe(data.data());
  if (!data.empty()) std::memcpy(rest, data.data(), data.size());
  restSize = data.size();
}

uint64_t Xxh64::finish() const {
  auto round = [](uint64_t input) { return rotate(input * prime2, 31) * prime1; };
  uint64_t hash = prime5;
  if (total >= 32) {
    hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (uint64_t lane : lanes) hash = (hash ^ round(lane)) * prime1 + prime4;
  }
  hash += total;
  const char *at = rest, *end = rest + restSize;
  for (; end - at >= 8; at += 8) hash = rotate(hash ^ round(load<uint64_t>(at)), 27) * prime1 + prime4;
  for (; end - at >= 4; at += 4) hash = rotate(hash ^ load<uint32_t>(at) * prime1, 23) * prime2 + prime3;
  for (; at != end; ++at) hash = rotate(hash ^ uint64_t(uint8_t(*at)) * prime5, 11) * prime1;
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}

std::string Xxh64::text() const {
  char digits[32];
  std::snprintf(digits, sizeof digits, "xxh64:%016llx", (unsigned long long)finish());
  return digits;
}

} // namespace stator::artifact
