// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// oneDNN behind its C API, opened at run time.
#ifndef STATOR_RUNTIME_LIBRARY_ONEDNN_ONEDNN_H
#define STATOR_RUNTIME_LIBRARY_ONEDNN_ONEDNN_H

#include "runtime/src/library/Library.h"

namespace stator::runtime {

class Model;

/// libdnnl.so.2 for a session of `model` that uses `threads` threads; nullptr where it is not installed. What is
/// packed is shared by all sessions of the model.
std::unique_ptr<Library> openOneDnn(Model &model, int threads);

} // namespace stator::runtime
#endif
