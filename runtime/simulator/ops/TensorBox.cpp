// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/ops/TensorBox.h"

#include <algorithm>

namespace stator::sim {

namespace {

unsigned elementsAlong(const TensorMap &map, unsigned dim) {
  unsigned step = dim == 0 ? 1 : map.steps[dim];
  return (map.box[dim] + step - 1) / step;
}
uint64_t rowBytes(const TensorMap &map) {
  return uint64_t{map.im2col ? map.channels : elementsAlong(map, 0)} * map.elementBytes();
}
/// Rows narrower than the swizzle's span take the whole span.
uint64_t pitch(const TensorMap &map) { return std::max<uint64_t>(rowBytes(map), map.swizzleBytes()); }
uint64_t rows(const TensorMap &map) {
  if (map.im2col) return map.pixels;
  uint64_t count = 1;
  for (unsigned d = 1; d < map.rank; ++d) count *= elementsAlong(map, d);
  return count;
}

/// One row: `outer` are the coordinates of dimensions 1 and up.
bool walkRow(const TensorMap &map, int64_t first, const int64_t *outer, uint64_t shared,
             const std::function<bool(const BoxRun &)> &visit) {
  unsigned element = map.elementBytes();
  auto count = static_cast<int64_t>(rowBytes(map) / element);
  bool inside = true;
  uint64_t address = map.address;
  for (unsigned d = 1; d < map.rank; ++d) {
    inside &= outer[d] >= 0 && outer[d] < static_cast<int64_t>(map.dims[d]);
    address += static_cast<uint64_t>(outer[d]) * map.strides[d - 1];
  }
  // Elements [low, high) of the row are in the tensor.
  int64_t low = std::clamp<int64_t>(-first, 0, count);
  int64_t high = std::clamp<int64_t>(static_cast<int64_t>(map.dims[0]) - first, low, count);
  if (!inside) low = high = 0;
  // Swizzling keeps 16 bytes together (8 where halves are flipped).
  int64_t unit = map.swizzle == TensorMap::none          ? count
                 : map.swizzle == TensorMap::atom32Flip8 ? std::max<int64_t>(8 / element, 1)
                                                         : 16 / element;
  for (int64_t at = 0; at < count; at += unit) {
    int64_t end = std::min(at + unit, count), cuts[] = {at, std::clamp(low, at, end), std::clamp(high, at, end), end};
    uint64_t place = map.swizzled(shared + static_cast<uint64_t>(at) * element);
    for (unsigned part = 0; part < 3; ++part) {
      if (cuts[part] == cuts[part + 1]) continue;
      BoxRun run;
      run.shared = place + static_cast<uint64_t>(cuts[part] - at) * element;
      run.address = address + static_cast<uint64_t>(first + cuts[part]) * element;
      run.bytes = static_cast<uint32_t>(cuts[part + 1] - cuts[part]) * element;
      run.inside = part == 1;
      if (!visit(run)) return false;
    }
  }
  return true;
}

void walkTile(const TensorMap &map, const BoxPlace &place, const std::function<bool(const BoxRun &)> &visit) {
  unsigned index[TensorMap::kMostRank] = {};
  uint64_t count = rows(map);
  for (uint64_t row = 0; row < count; ++row) {
    int64_t outer[TensorMap::kMostRank] = {};
    for (unsigned d = 1; d < map.rank; ++d) outer[d] = int64_t{place.coordinates[d]} + int64_t{index[d]} * map.steps[d];
    if (!walkRow(map, place.coordinates[0], outer, place.shared + row * pitch(map), visit)) return;
    for (unsigned d = 1; d < map.rank; ++d) {
      if (++index[d] < elementsAlong(map, d)) break;
      index[d] = 0;
    }
  }
}

/// Pixels follow each other through their box, the innermost dimension fastest; the filter's offsets are added to each.
void walkColumn(const TensorMap &map, const BoxPlace &place, const std::function<bool(const BoxRun &)> &visit) {
  unsigned spatial = map.rank - 2;
  int64_t at[TensorMap::kMostRank] = {};
  for (unsigned d = 1; d < map.rank; ++d) at[d] = place.coordinates[d];
  for (uint64_t pixel = 0; pixel < map.pixels; ++pixel) {
    int64_t outer[TensorMap::kMostRank] = {};
    for (unsigned d = 1; d < map.rank; ++d) outer[d] = at[d] + (d <= spatial ? int64_t{place.offsets[d - 1]} : 0);
    if (!walkRow(map, place.coordinates[0], outer, place.shared + pixel * pitch(map), visit)) return;
    for (unsigned d = 1; d < map.rank; ++d) {
      if (d > spatial) {
        ++at[d];
        break;
      }
      at[d] += map.steps[d];
      if (at[d] <= static_cast<int64_t>(map.dims[d]) - 1 + map.upper[d - 1]) break;
      at[d] = map.lower[d - 1];
    }
  }
}

} // namespace

uint64_t boxBytes(const TensorMap &map) { return rows(map) * rowBytes(map); }
uint64_t boxSpan(const TensorMap &map) { return rows(map) * pitch(map); }

void walkBox(const TensorMap &map, const BoxPlace &place, const std::function<bool(const BoxRun &)> &visit) {
  if (map.im2col)
    walkColumn(map, place, visit);
  else
    walkTile(map, place, visit);
}

} // namespace stator::sim
