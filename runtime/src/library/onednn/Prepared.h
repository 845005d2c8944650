// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A primitive for one set of sizes, with everything it needs to run again and again.
//
// Operands keep the layout the plan gave them where a fast implementation takes it. Weights that are constants are
// packed once into the layout that the implementation likes best. Where no fast implementation takes the activations
// as they are, they are reordered into scratch memory before and after; a plan that lets neighbouring convolutions
// hand over blocked activations would begin here: it would name the buffers whose layout the library may choose.
#ifndef STATOR_RUNTIME_LIBRARY_ONEDNN_PREPARED_H
#define STATOR_RUNTIME_LIBRARY_ONEDNN_PREPARED_H

#include "runtime/src/execute/Frame.h"
#include "runtime/src/library/onednn/Session.h"

#include <optional>

namespace stator::runtime::dnnl {

/// An operand with the sizes of one call.
struct View {
  BufferId buffer = 0;
  int type = 0; // oneDNN's; 0: it has none for this dtype
  int ndims = 0;
  Dims dims = {}, strides = {};
  int64_t offset = 0;                  // bytes
  int64_t extent = 0;                  // bytes of the buffer that are reached
  const std::string *weight = nullptr; // name of the constant, if it is one

  bool empty() const;
};

/// What to compute, in oneDNN's terms. The views' dims are as oneDNN wants them.
struct Problem {
  enum class Kind { Matmul, Convolution, Deconvolution } kind;
  View source, weights, out;
  std::optional<View> bias;
  Dims stride = {}, dilation = {}, low = {}, high = {};
  struct Post {
    int algorithm = 0; // 0: sum
    float alpha = 0, beta = 0;
    std::optional<View> operand;
  };
  std::vector<Post> post;
};

class Prepared {
public:
  /// nullptr if oneDNN has no (or only a reference) implementation of it.
  static std::unique_ptr<Prepared> make(Session &session, const Problem &problem);

  void execute(Session &session, Frame &frame);

  /// Name of oneDNN's implementation.
  const std::string &implementation() const { return name; }

private:
  struct Reorder {
    Owned<Primitive> primitive;
    Owned<Memory> from, to;
  };
  /// One operand: used in place (memory follows the buffer), through scratch memory, or packed once.
  struct Operand {
    int argument; // 0: the residual, which is only laid into the result's place
    Owned<Memory> memory;
    BufferId buffer = 0;
    int64_t offset = 0, extent = 0;
    char *data = nullptr;  // what `memory` points at now
    std::string packedKey; // of a constant that is packed, "" otherwise
    std::optional<Reorder> before, after;
    int64_t scratch = -1;
  };

  Prepared() = default;
  bool choose(Session &session, const Problem &problem, bool anyLayout, int residual);
  void addOperand(Session &session, int argument, const View &view, const MemoryDesc *wanted, bool read, bool written);
  void addPacked(Session &session, const View &view, const MemoryDesc *wanted);
  Reorder makeReorder(Session &session, const MemoryDesc *from, const MemoryDesc *to);
  int64_t reserve(int64_t bytes);
  char *locate(Frame &frame, const Operand &operand) const;
  void setResidual(Session &session, const View &view, const MemoryDesc *out);
  void pack(Session &session, Operand &operand, char *from);
  void run(Session &session, Reorder &reorder, char *from, char *to);

  std::string name;
  Owned<PrimitiveDesc> desc;
  Owned<Primitive> primitive;
  std::vector<Operand> operands;
  size_t outOperand = 0;
  Owned<Memory> scratchpad;
  int64_t scratchpadOffset = 0, scratchBytes = 0;
  std::vector<Argument> arguments;
};

} // namespace stator::runtime::dnnl
#endif
