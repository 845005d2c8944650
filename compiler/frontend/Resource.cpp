// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/Resource.h"
#include "mlir/IR/BuiltinDialect.h"

using namespace mlir;

namespace stator {

std::optional<DenseResourceElementsHandle> makeResource(MLIRContext *context, StringRef name, io::Buffer data,
                                                        size_t elementBytes) {
  if (reinterpret_cast<uintptr_t>(data.data()) % elementBytes != 0) {
    data = io::Buffer::copyOf(data.view());
    if (!data.ok()) return std::nullopt;
  }
  ArrayRef<char> view(data.data(), data.size());
  AsmResourceBlob blob(view, elementBytes, [data](void *, size_t, size_t) {}, /*dataIsMutable=*/false);
  return DenseResourceElementsHandle::getManagerInterface(context).insert(name, std::move(blob));
}

} // namespace stator
