// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/ops/Tables.h"

namespace stator::sim {

namespace {

template <class... F> void add(std::vector<Rows> &tables, F... table) { (tables.push_back(table()), ...); }

#define STATOR_SIM_ADD_LEVEL(level)                                                                                    \
  add(tables, level::integerRows, level::bitRows, level::floatRows, level::approximateRows, level::compareRows,        \
      level::moveRows, level::convertRows, level::halfRows)

} // namespace

const std::vector<Rows> &opcodeTables() {
  static const std::vector<Rows> all = [] {
    std::vector<Rows> tables;
#ifdef STATOR_SIM_HAS_V3
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
      STATOR_SIM_ADD_LEVEL(v3);
    else
#endif
      STATOR_SIM_ADD_LEVEL(baseline);
    add(tables, memoryRows, controlRows, barrierRows, collectiveRows, atomicRows, asyncRows, matrixRows, mmaRows,
        mbarrierRows, clusterRows, bulkRows, bulkTensorRows, storeAsyncRows, wgmmaRows, wmmaRows, videoRows, cachePolicyRows);
    return tables;
  }();
  return all;
}

} // namespace stator::sim
