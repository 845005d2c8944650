// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether two function types take and give values of the same kinds and sizes, whatever their types are called.
#ifndef STATOR_TESTS_UNIT_RUNTIME_SAMESIGNATURE_H
#define STATOR_TESTS_UNIT_RUNTIME_SAMESIGNATURE_H

#include <type_traits>

namespace stator::test {

template <typename A, typename B>
constexpr bool sameKind = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
                          std::is_floating_point_v<A> == std::is_floating_point_v<B>;

template <typename A, typename B> struct SameSignature : std::false_type {};
template <typename ResultA, typename... A, typename ResultB, typename... B>
struct SameSignature<ResultA (*)(A...), ResultB (*)(B...)> {
  static constexpr bool compare() {
    if constexpr (sizeof...(A) == sizeof...(B))
      return sameKind<ResultA, ResultB> && (sameKind<A, B> && ...);
    else
      return false;
  }
  static constexpr bool value = compare();
};

} // namespace stator::test
#endif
