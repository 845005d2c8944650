// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands behind `library` steps.
#ifndef STATOR_RUNTIME_LIBRARY_LIBRARY_H
#define STATOR_RUNTIME_LIBRARY_LIBRARY_H

#include "runtime/src/artifact/Plan.h"
#include "runtime/src/device/host/Parallel.h"

#include <memory>

namespace stator::runtime {

class Frame;

/// One library step of one session, with what it keeps between runs.
class LibraryCall {
public:
  virtual ~LibraryCall() = default;

  /// Does the step with the frame's sizes and addresses. False, with nothing written, if the library declines these
  /// sizes or types: the step's fallback then runs. Throws a Failure when the library fails in the middle.
  virtual bool run(Frame &frame) = 0;
};

/// An opened library.
class Library {
public:
  virtual ~Library() = default;

  virtual std::string name() const = 0;

  /// nullptr if the library does not know the operation. A step it knows but whose operands are missing or do not fit
  /// each other is a Failure (STATOR_BAD_ARTIFACT).
  virtual std::unique_ptr<LibraryCall> prepare(const LibraryStep &step, const Plan &plan) = 0;

  /// The loops of the session, if the library's own threads should do them; else nullptr.
  virtual std::unique_ptr<Parallel> parallel(int threads) { return nullptr; }

  /// Packed weights and scratch memory so far.
  virtual uint64_t bytes() const { return 0; }
};

} // namespace stator::runtime
#endif
