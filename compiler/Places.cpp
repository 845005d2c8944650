// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Places.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace stator {

static void collect(Location location, std::vector<std::string> &places, int depth) {
  if (depth > 16 || places.size() >= 8) return;
  auto add = [&](const std::string &text) {
    if (!text.empty() && !llvm::is_contained(places, text)) places.push_back(text);
  };
  if (auto file = dyn_cast<FileLineColLoc>(location)) {
    std::string text = file.getFilename().str();
    if (file.getLine()) text += ":" + std::to_string(file.getLine());
    if (file.getColumn()) text += ":" + std::to_string(file.getColumn());
    add(text);
  } else if (auto name = dyn_cast<NameLoc>(location)) {
    add(name.getName().str());
    collect(name.getChildLoc(), places, depth + 1);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location inner : fused.getLocations()) collect(inner, places, depth + 1);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    collect(call.getCallee(), places, depth + 1);
    collect(call.getCaller(), places, depth + 1);
  }
}

std::vector<std::string> placesOf(Location location) {
  std::vector<std::string> places;
  collect(location, places, 0);
  return places;
}

} // namespace stator
