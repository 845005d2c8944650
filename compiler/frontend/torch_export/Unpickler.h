// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one use of pickle that old exports need: a dictionary from names to tensors, as torch.save wrote it.
#ifndef STATOR_COMPILER_FRONTEND_TORCH_EXPORT_UNPICKLER_H
#define STATOR_COMPILER_FRONTEND_TORCH_EXPORT_UNPICKLER_H

#include "compiler/frontend/torch_export/Program.h"
#include "compiler/io/Result.h"
#include <string_view>

namespace stator::torch_export {

/// Reads `data.pkl`. Nothing is ever executed: the opcodes build plain values, and the only names that they may mention
/// are OrderedDict, the tensor rebuilding functions and the storage types. Everything else is an error. A payload's
/// `record` is the storage's key (the member `data/<key>`).
io::Result<std::map<std::string, Payload>> unpickleTensors(std::string_view bytes);

} // namespace stator::torch_export

#endif // STATOR_COMPILER_FRONTEND_TORCH_EXPORT_UNPICKLER_H
