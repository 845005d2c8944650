// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/TensorMap.h"

#include <cstring>

namespace stator::sim {

namespace {

constexpr uint64_t kMagic = 0x70614d726f736e65; // "ensorMap"
constexpr uint8_t kPacked8 = 13, kPacked16 = 14, kPacked6 = 15;

/// Reads or writes fields one behind the other.
class Fields {
public:
  Fields(uint8_t *bytes, bool reads) : at(bytes), reads(reads) {}
  template <class Wire, class T> void field(T &value) {
    auto wire = static_cast<Wire>(value);
    if (reads)
      std::memcpy(&wire, at, sizeof wire), value = static_cast<T>(wire);
    else
      std::memcpy(at, &wire, sizeof wire);
    at += sizeof wire;
  }

private:
  uint8_t *at;
  bool reads;
};

void layOut(TensorMap &m, Fields f) {
  f.field<uint64_t>(m.address);
  f.field<uint8_t>(m.type);
  f.field<uint8_t>(m.rank);
  f.field<uint8_t>(m.interleave);
  f.field<uint8_t>(m.swizzle);
  f.field<uint8_t>(m.fillNan);
  f.field<uint8_t>(m.im2col);
  for (uint64_t &d : m.dims) f.field<uint32_t>(--d), ++d; // 1 to 2^32
  for (uint64_t &s : m.strides) f.field<uint64_t>(s);
  for (uint32_t &b : m.box) f.field<uint16_t>(b);
  for (uint32_t &s : m.steps) f.field<uint8_t>(s);
  for (int32_t &c : m.lower) f.field<int16_t>(c);
  for (int32_t &c : m.upper) f.field<int16_t>(c);
  f.field<uint16_t>(m.channels);
  f.field<uint16_t>(m.pixels);
}

uint64_t digest(const uint8_t *bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < TensorMap::kBytes - 8; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}

} // namespace

unsigned TensorMap::elementBytes() const {
  static constexpr uint8_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type < sizeof sizes ? sizes[type] : 0;
}

Type TensorMap::elementType() const {
  static constexpr Type types[] = {Type::u8,  Type::u16, Type::u32,  Type::s32, Type::u64, Type::s64, Type::f16,
                                   Type::f32, Type::f64, Type::bf16, Type::f32, Type::f32, Type::f32};
  return type < sizeof types / sizeof types[0] ? types[type] : Type::none;
}

unsigned TensorMap::swizzleBytes() const {
  return swizzle == none ? 0 : swizzle == bytes32 ? 32 : swizzle == bytes64 ? 64 : 128;
}

uint64_t TensorMap::swizzled(uint64_t o) const {
  switch (swizzle) {
  case bytes32: return o ^ (o >> 3 & 0x10);
  case bytes64: return o ^ (o >> 3 & 0x30);
  case bytes128: return o ^ (o >> 3 & 0x70);
  case atom32: return o ^ (o >> 2 & 0x60);
  case atom32Flip8: return o ^ (o >> 2 & 0x60) ^ (o >> 4 & 8);
  case atom64: return o ^ (o >> 1 & 0x40);
  default: return o;
  }
}

void TensorMap::write(uint8_t *bytes) const {
  TensorMap copy = *this;
  std::memset(bytes, 0, kBytes);
  layOut(copy, Fields(bytes + 8, false));
  std::memcpy(bytes, &kMagic, 8);
  uint64_t hash = digest(bytes);
  std::memcpy(bytes + kBytes - 8, &hash, 8);
}

bool TensorMap::read(const uint8_t *bytes) {
  uint8_t copy[kBytes];
  std::memcpy(copy, bytes, kBytes);
  uint64_t magic, hash;
  std::memcpy(&magic, copy, 8);
  std::memcpy(&hash, copy + kBytes - 8, 8);
  if (magic != kMagic || hash != digest(copy)) return false;
  layOut(*this, Fields(copy + 8, true));
  return complaint().empty();
}

std::string TensorMap::complaint() const {
  bool packed16 = type == kPacked16 || type == kPacked6, floats = type >= 6 && type <= 12;
  if (type > kPacked6) return "unknown data type";
  if (interleave > 2 || swizzle > atom64) return "unknown interleave or swizzle";
  if (rank == 0 || rank > kMostRank || ((im2col || interleave) && rank < 3)) return "rank out of range";
  uint64_t align = interleave == 2 || packed16 ? 32 : 16;
  if (address % align) return "the global address is not aligned";
  for (unsigned i = 0; i < rank; ++i)
    if (dims[i] == 0 || dims[i] > uint64_t{1} << 32) return "a dimension is outside 1..2^32";
  if (packed16 && dims[0] % 128) return "the innermost dimension is no multiple of 128";
  if (type == kPacked8 && dims[0] % 2) return "the innermost dimension is odd";
  for (unsigned i = 0; i + 1 < rank; ++i)
    if (strides[i] % align || strides[i] >= uint64_t{1} << 40) return "a stride is not aligned, or too large";
  for (unsigned i = interleave ? 0 : 1; i < rank; ++i)
    if (steps[i] == 0 || steps[i] > 8) return "an element stride is outside 1..8";
  uint64_t inner = im2col ? channels : box[0];
  if (im2col) {
    if (channels == 0 || channels > 256 || pixels == 0 || pixels > 1024) return "channels or pixels out of range";
    if (packed16 && channels != 128) return "packed types need 128 channels";
    int32_t most = rank == 3 ? 32767 : rank == 4 ? 127 : 15;
    for (unsigned i = 0; i + 2 < rank; ++i) {
      if (lower[i] < -most - 1 || lower[i] > most || upper[i] < -most - 1 || upper[i] > most)
        return "a corner of the pixel box is out of range";
      if (static_cast<int64_t>(dims[i + 1]) - 1 + upper[i] < lower[i]) return "the pixel box is empty";
    }
  } else {
    for (unsigned i = 0; i < rank; ++i)
      if (box[i] == 0 || box[i] > 256) return "a box dimension is outside 1..256";
    if (packed16 && box[0] != 128) return "packed types need a box of 128";
  }
  uint64_t bits = type == kPacked8 || type == kPacked16 ? 4 : type == kPacked6 ? 6 : 8 * elementBytes();
  uint64_t innerBytes = packed16 ? 128 : inner * bits / 8;
  if (interleave == 0 && innerBytes % 16) return "the box's rows are no multiple of 16 bytes";
  if (interleave == 0 && swizzle != none && innerBytes > swizzleBytes())
    return "the box's rows exceed the swizzle span";
  if (interleave == 2 && swizzle != bytes32) return "a 32-byte interleave needs a 32-byte swizzle";
  if (type == kPacked6 && interleave) return "6-bit types cannot be interleaved";
  bool swizzlePacked =
      swizzle == none || swizzle == bytes128 || swizzle == atom32 || (type == kPacked6 && swizzle == atom64);
  if (packed16 && !swizzlePacked) return "this packed type does not support the swizzle";
  if (fillNan && !floats) return "NaN fills need a floating-point type";
  return "";
}

} // namespace stator::sim
