// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_COMPILER_FRONTEND_JSON_PRINT_H
#define STATOR_COMPILER_FRONTEND_JSON_PRINT_H

#include <nlohmann/json.hpp>
#include <string>

namespace stator::graph_json {

/// JSON for people: one op, input, location or weight a line. The values' text is UTF-8 and their nesting bounded by
/// the caller.
std::string print(const nlohmann::ordered_json &document);

} // namespace stator::graph_json

#endif // STATOR_COMPILER_FRONTEND_JSON_PRINT_H
