// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/DidYouMean.h"
#include <algorithm>

namespace stator {

std::string didYouMean(llvm::StringRef name, llvm::ArrayRef<std::string> known) {
  // Distances take time by the square of the length; what is longer is no mistyped name.
  if (name.size() > 256) return "";
  unsigned best = std::max<unsigned>(2, name.size() / 3) + 1;
  const std::string *nearest = nullptr;
  for (const std::string &each : known) {
    unsigned distance = name.edit_distance(each, true, best);
    if (distance < best) best = distance, nearest = &each;
  }
  return nearest ? ": did you mean '" + *nearest + "'?" : "";
}

} // namespace stator
