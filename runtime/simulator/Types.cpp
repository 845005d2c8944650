// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Types.h"

#include <utility>

namespace stator::sim {

Type typeNamed(std::string_view text) {
  static constexpr std::pair<std::string_view, Type> names[] = {
      {"pred", Type::pred},     {"b8", Type::b8},         {"b16", Type::b16},     {"b32", Type::b32},
      {"b64", Type::b64},       {"b128", Type::b128},     {"u8", Type::u8},       {"u16", Type::u16},
      {"u32", Type::u32},       {"u64", Type::u64},       {"s8", Type::s8},       {"s16", Type::s16},
      {"s32", Type::s32},       {"s64", Type::s64},       {"f16", Type::f16},     {"f16x2", Type::f16x2},
      {"bf16", Type::bf16},     {"bf16x2", Type::bf16x2}, {"tf32", Type::tf32},   {"f32", Type::f32},
      {"f64", Type::f64},       {"e4m3", Type::e4m3},     {"e5m2", Type::e5m2},   {"e4m3x2", Type::e4m3x2},
      {"e5m2x2", Type::e5m2x2}, {"u4", Type::u4},         {"s4", Type::s4},       {"b1", Type::b1},
      {"u16x2", Type::u16x2},   {"s16x2", Type::s16x2},   {"f32x2", Type::f32x2}, {"ue8m0x2", Type::ue8m0x2},
      {"e2m1", Type::e2m1},     {"e2m3", Type::e2m3},     {"e3m2", Type::e3m2}};
  for (const auto &[name, type] : names)
    if (name == text) return type;
  return Type::none;
}

Space spaceNamed(std::string_view text) {
  static constexpr std::pair<std::string_view, Space> names[] = {
      {"global", Space::global},      {"shared", Space::shared},
      {"shared::cta", Space::shared}, {"shared::cluster", Space::sharedCluster},
      {"local", Space::local},        {"param", Space::param},
      {"param::entry", Space::param}, {"param::func", Space::param},
      {"const", Space::constant},     {"reg", Space::reg}};
  for (const auto &[name, space] : names)
    if (name == text) return space;
  return Space::generic;
}

} // namespace stator::sim
