// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Library steps that oneDNN does.
#ifndef STATOR_RUNTIME_LIBRARY_ONEDNN_CALL_H
#define STATOR_RUNTIME_LIBRARY_ONEDNN_CALL_H

#include "runtime/src/library/Library.h"
#include "runtime/src/library/onednn/Session.h"

namespace stator::runtime::dnnl {

/// See Library::prepare. `session` outlives the call.
std::unique_ptr<LibraryCall> prepareCall(Session &session, const LibraryStep &step, const Plan &plan);

} // namespace stator::runtime::dnnl
#endif
