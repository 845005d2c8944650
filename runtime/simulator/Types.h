// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The few enumerations that every part of the simulator speaks: PTX types, state spaces, rounding modes, memory scopes.
#pragma once

#include <cstdint>
#include <string_view>

namespace stator::sim {

/// Lanes of a warp, on every chip.
inline constexpr unsigned kLanes = 32;
inline constexpr uint32_t kAllLanes = 0xffffffffu;

/// Types that appear as suffixes of opcodes and in declarations.
enum class Type : uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  u4,
  s4,
  b1,
  u16x2,
  s16x2,
  f32x2,
  ue8m0x2,
  e2m1,
  e2m3,
  e3m2
};

/// State spaces. `generic` addresses are resolved at run time by the windows of AddressSpace.h.
enum class Space : uint8_t { generic, global, shared, sharedCluster, local, param, constant, reg };

enum class Rounding : uint8_t { none, nearestEven, zero, down, up, nearestAway, stochastic };

/// Ordering of a memory operation; `weak` takes part in no synchronisation.
enum class Order : uint8_t { weak, relaxed, acquire, release, acqRel, seqCst, isVolatile, mmio };

enum class Scope : uint8_t { none, cta, cluster, gpu, system };

/// Bytes of one element of `type` in memory (packed pairs count as one element); 0 for predicates and sub-byte types.
constexpr unsigned sizeOf(Type type) {
  switch (type) {
  case Type::b8:
  case Type::u8:
  case Type::s8:
  case Type::e4m3:
  case Type::e5m2:
  case Type::e2m1:
  case Type::e2m3:
  case Type::e3m2: return 1;
  case Type::b16:
  case Type::u16:
  case Type::s16:
  case Type::f16:
  case Type::bf16:
  case Type::e4m3x2:
  case Type::e5m2x2:
  case Type::ue8m0x2: return 2;
  case Type::b32:
  case Type::u32:
  case Type::s32:
  case Type::f32:
  case Type::tf32:
  case Type::f16x2:
  case Type::bf16x2:
  case Type::u16x2:
  case Type::s16x2: return 4;
  case Type::b64:
  case Type::u64:
  case Type::s64:
  case Type::f64:
  case Type::f32x2: return 8;
  case Type::b128: return 16;
  default: return 0;
  }
}

constexpr bool isSigned(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64 || t == Type::s4 || t == Type::s16x2;
}
constexpr bool isFloat(Type t) {
  return t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64 || t == Type::f16x2 ||
         t == Type::bf16x2 || t == Type::tf32;
}

/// The type whose PTX spelling (without the dot) is `text`, or Type::none.
Type typeNamed(std::string_view text);
/// The state space whose spelling (without the dot) is `text`, e.g. "shared::cta"; Space::generic where it is none.
Space spaceNamed(std::string_view text);

} // namespace stator::sim
