// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lays tensors out as a safetensors file whose data the runtime can use in place.
#ifndef STATOR_COMPILER_ARTIFACT_WEIGHTSWRITER_H
#define STATOR_COMPILER_ARTIFACT_WEIGHTSWRITER_H

#include "stator/abi.h"

#include <string>
#include <string_view>
#include <vector>

namespace stator::artifact {

struct WeightTensor {
  std::string name;
  stator_dtype dtype;
  std::vector<int64_t> shape;
  std::string_view data; // dense, row-major; lives until the file is written
};

/// Every tensor begins at a multiple of STATOR_ALIGNMENT bytes of the file. The format allows no gaps, so the space
/// between two tensors is a tensor of its own, U8 and named `.pad0`, `.pad1`, ...
class WeightsWriter {
public:
  /// Names must be unique. The order of the calls is the order in the file.
  void add(WeightTensor tensor) { tensors.push_back(std::move(tensor)); }
  bool empty() const { return tensors.empty(); }

  /// The file as pieces for ArtifactWriter::add; they point into this object and into the tensors.
  std::vector<std::string_view> pieces();

private:
  std::vector<WeightTensor> tensors;
  std::string header, zeros;
};

} // namespace stator::artifact
#endif
