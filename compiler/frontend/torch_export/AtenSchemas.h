// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of ATen schemas: argument names, order, defaults and aliasing of every operator overload.
#ifndef STATOR_COMPILER_FRONTEND_TORCH_EXPORT_ATENSCHEMAS_H
#define STATOR_COMPILER_FRONTEND_TORCH_EXPORT_ATENSCHEMAS_H

#include "compiler/frontend/torch_export/Program.h"
#include <string_view>
#include <unordered_map>

namespace stator::torch_export {

struct SchemaArgument {
  std::string type, name;
  std::optional<Argument> defaultValue;
  /// The letter of `Tensor(a)`; 0 where it has none.
  char alias = 0;
  /// `Tensor(a!)`.
  bool written = false;
};

struct Schema {
  std::vector<SchemaArgument> arguments;
  /// Types and aliasing of the results; names are empty.
  std::vector<SchemaArgument> results;

  const SchemaArgument *find(std::string_view name) const;
  bool writes() const;
};

/// Reads one schema: `add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`, the name left out. Nothing
/// where it cannot be understood.
std::optional<Schema> parseSchema(std::string_view text);

class SchemaTable {
public:
  SchemaTable();
  /// By target: `aten.add.Tensor`. Null where there is none. The pointer lives as long as the table.
  const Schema *find(const std::string &target);

private:
  std::unordered_map<std::string, std::string_view> texts;
  std::unordered_map<std::string, Schema> parsed;
};

} // namespace stator::torch_export

#endif // STATOR_COMPILER_FRONTEND_TORCH_EXPORT_ATENSCHEMAS_H
