// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/artifact/Digest.h"

#include <array>
#include <cstdio>
#include <cstring>

namespace stator::runtime {
namespace {

constexpr std::array<uint32_t, 256> crcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0xEDB88320u : 0);
    table[i] = value;
  }
  return table;
}();

constexpr uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F, prime3 = 0x165667B19E3779F9,
                   prime4 = 0x85EBCA77C2B2AE63, prime5 = 0x27D4EB2F165667C5;

uint64_t rotate(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }
uint64_t round(uint64_t lane, uint64_t input) { return rotate(lane + input * prime2, 31) * prime1; }

template <typename T> uint64_t read(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

} // namespace

uint32_t crc32(std::string_view data) {
  uint32_t value = ~0u;
  for (unsigned char byte : data) value = (value >> 8) ^ crcTable[(value ^ byte) & 255];
  return ~value;
}

uint64_t xxh64(std::string_view data) {
  const char *at = data.data(), *end = at + data.size();
  uint64_t hash;
  if (data.size() >= 32) {
    uint64_t lanes[4] = {prime1 + prime2, prime2, 0, 0 - prime1};
    for (; end - at >= 32; at += 32)
      for (int i = 0; i < 4; ++i) lanes[i] = round(lanes[i], read<uint64_t>(at + 8 * i));
    hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (uint64_t lane : lanes) hash = (hash ^ round(0, lane)) * prime1 + prime4;
  } else {
    hash = prime5;
  }
  hash += data.size();
  for (; end - at >= 8; at += 8) hash = rotate(hash ^ round(0, read<uint64_t>(at)), 27) * prime1 + prime4;
  for (; end - at >= 4; at += 4) hash = rotate(hash ^ read<uint32_t>(at) * prime1, 23) * prime2 + prime3;
  for (; at != end; ++at) hash = rotate(hash ^ uint64_t(uint8_t(*at)) * prime5, 11) * prime1;
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}

std::string digestText(std::string_view data) {
  char text[32];
  std::snprintf(text, sizeof text, "xxh64:%016llx", (unsigned long long)xxh64(data));
  return text;
}

} // namespace stator::runtime
