// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stator-tensor-exactness [TILES [SEED]]: random tiles through the tensor cores of every chip, each element compared
// with the model bit by bit. Exit status 0 where nothing differs. Default: 10000 tiles.
#include "tests/unit/simulator/TensorTiles.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

using namespace stator::sim;
using namespace stator::sim::test;

int main(int argc, char **argv) {
  uint64_t tiles = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000;
  uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  struct Kind {
    const char *name;
    Type type;
    bool half;
  };
  const Kind kinds[] = {{"f16", Type::f16, false},   {"f16 -> f16", Type::f16, true}, {"bf16", Type::bf16, false},
                        {"tf32", Type::tf32, false}, {"e4m3", Type::e4m3, false},     {"e5m2", Type::e5m2, false}};
  std::printf("%-8s %-11s %7s %9s %10s %8s %10s\n", "chip", "operands", "tiles", "elements", "subnormal", "zero",
              "mismatches");
  uint64_t wrong = 0;
  for (const Chip &chip : allChips())
    for (const Kind &kind : kinds) {
      Exactness e = compareTiles(chip, kind.type, kind.half, tiles, seed);
      if (!e.tiles) continue;
      wrong += e.mismatches;
      std::printf("%-8s %-11s %7" PRIu64 " %9" PRIu64 " %10" PRIu64 " %8" PRIu64 " %10" PRIu64 "\n", chip.name,
                  kind.name, e.tiles, e.elements, e.subnormal, e.zero, e.mismatches);
      std::fflush(stdout);
    }
  std::printf("%" PRIu64 " mismatches\n", wrong);
  return wrong ? 1 : 0;
}
