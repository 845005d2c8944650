// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Chips.h"

namespace stator::sim {

namespace {
constexpr int64_t GiB = int64_t{1} << 30, MiB = int64_t{1} << 20;
constexpr int KiB = 1024;
constexpr TensorCore volta{4, 0, 0, 0, -1000, -1000, 0, 0, false};
constexpr TensorCore ampere{8, 4, 16, 1, -132, -20, 0, 0, false};
constexpr TensorCore ada{8, 4, 16, 1, -132, -20, 13, 14, false};
constexpr TensorCore hopper{16, 8, 32, 2, -133, -21, 13, 0, false};
constexpr TensorCore blackwell{16, 8, 32, 2, -133, -21, 0, 0, true};
} // namespace

const std::vector<Chip> &allChips() {
  static const std::vector<Chip> chips = {{"a100", "NVIDIA A100-SXM4-80GB (simulated)", 8, 0, 108, 2048, 32, 65536,
                                           164 * KiB, 163 * KiB, 80 * GiB, 40 * MiB, 1410000, 1593000, 5120, ampere},
                                          {"h100", "NVIDIA H100 80GB HBM3 (simulated)", 9, 0, 132, 2048, 32, 65536,
                                           228 * KiB, 227 * KiB, 80 * GiB, 50 * MiB, 1980000, 2619000, 5120, hopper},
                                          {"h200", "NVIDIA H200 (simulated)", 9, 0, 132, 2048, 32, 65536, 228 * KiB,
                                           227 * KiB, 141 * GiB, 50 * MiB, 1980000, 3201000, 6144, hopper},
                                          {"b200", "NVIDIA B200 (simulated)", 10, 0, 148, 2048, 32, 65536, 228 * KiB,
                                           227 * KiB, 180 * GiB, 126 * MiB, 1965000, 3996000, 8192, blackwell},
                                          {"l40s", "NVIDIA L40S (simulated)", 8, 9, 142, 1536, 24, 65536, 100 * KiB,
                                           99 * KiB, 48 * GiB, 96 * MiB, 2520000, 9001000, 384, ada},
                                          {"t4", "Tesla T4 (simulated)", 7, 5, 40, 1024, 16, 65536, 64 * KiB, 64 * KiB,
                                           16 * GiB, 4 * MiB, 1590000, 5001000, 256, volta},
                                          {"a10", "NVIDIA A10 (simulated)", 8, 6, 72, 1536, 16, 65536, 100 * KiB,
                                           99 * KiB, 24 * GiB, 6 * MiB, 1695000, 6251000, 384, ampere},
                                          {"rtx5090", "NVIDIA GeForce RTX 5090 (simulated)", 12, 0, 170, 1536, 24,
                                           65536, 100 * KiB, 99 * KiB, 32 * GiB, 96 * MiB, 2407000, 14001000, 512,
                                           blackwell}};
  return chips;
}

const Chip *findChip(std::string_view name) {
  for (const Chip &chip : allChips())
    if (name == chip.name) return &chip;
  return nullptr;
}

} // namespace stator::sim
