// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuTensorMapEncode* and cuTensorMapReplaceAddress.
#include "runtime/simulator/TensorMap.h"
#include "runtime/simulator/driver/Driver.h"

#include <cstdio>

using namespace stator::sim;
using namespace stator::sim::cu;

namespace {

/// Checks as the driver does and writes the opaque bytes.
Result finish(Driver &driver, void *out, const TensorMap &map) {
  ContextObject *context = driver.current();
  if (!context) return invalidContext;
  if (context->device->chip->major < 9) return notSupported;
  std::string complaint =
      reinterpret_cast<uintptr_t>(out) % 64 ? "the map is not aligned to 64 bytes" : map.complaint();
  if (!complaint.empty()) {
    if (!driver.settings.quiet) std::fprintf(stderr, "stator simulator: tensor map: %s\n", complaint.c_str());
    return invalidValue;
  }
  map.write(static_cast<uint8_t *>(out));
  return success;
}

/// What tiled and im2col maps have in common. False where an argument is missing or cannot be represented.
bool fill(TensorMap &map, int type, unsigned rank, void *address, const uint64_t *dims, const uint64_t *strides,
          const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
  if (!address || !dims || !steps || rank == 0 || rank > TensorMap::kMostRank || (rank > 1 && !strides)) return false;
  if (type < 0 || type > 15 || interleave < 0 || interleave > 2 || swizzle < 0 || swizzle > TensorMap::atom64 ||
      promotion < 0 || promotion > 3 || fill < 0 || fill > 1)
    return false;
  map.type = static_cast<uint8_t>(type);
  map.rank = static_cast<uint8_t>(rank);
  map.interleave = static_cast<uint8_t>(interleave);
  map.swizzle = static_cast<uint8_t>(swizzle);
  map.fillNan = fill == 1;
  map.address = reinterpret_cast<uintptr_t>(address);
  for (unsigned i = 0; i < rank; ++i) {
    map.dims[i] = dims[i];
    map.steps[i] = steps[i];
    if (i + 1 < rank) map.strides[i] = strides[i];
  }
  return true;
}

} // namespace

STATOR_CUDA_EXPORT Result cuTensorMapEncodeTiled(void *out, int type, unsigned rank, void *address,
                                                 const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                                 const uint32_t *steps, int interleave, int swizzle, int promotion,
                                                 int oobFill) {
  STATOR_CUDA_LOCK;
  TensorMap map;
  if (!out || !box || !fill(map, type, rank, address, dims, strides, steps, interleave, swizzle, promotion, oobFill))
    return invalidValue;
  for (unsigned i = 0; i < rank; ++i) map.box[i] = box[i];
  return finish(driver, out, map);
}

STATOR_CUDA_EXPORT Result cuTensorMapEncodeIm2col(void *out, int type, unsigned rank, void *address,
                                                  const uint64_t *dims, const uint64_t *strides, const int *lower,
                                                  const int *upper, uint32_t channels, uint32_t pixels,
                                                  const uint32_t *steps, int interleave, int swizzle, int promotion,
                                                  int oobFill) {
  STATOR_CUDA_LOCK;
  TensorMap map;
  map.im2col = true;
  if (!out || !lower || !upper || rank < 3 ||
      !fill(map, type, rank, address, dims, strides, steps, interleave, swizzle, promotion, oobFill))
    return invalidValue;
  for (unsigned i = 0; i + 2 < rank; ++i) map.lower[i] = lower[i], map.upper[i] = upper[i];
  map.channels = channels;
  map.pixels = pixels;
  return finish(driver, out, map);
}

STATOR_CUDA_EXPORT Result cuTensorMapReplaceAddress(void *out, void *address) {
  STATOR_CUDA_LOCK;
  TensorMap map;
  if (!out || !address || !map.read(static_cast<const uint8_t *>(out))) return invalidValue;
  map.address = reinterpret_cast<uintptr_t>(address);
  return finish(driver, out, map);
}
