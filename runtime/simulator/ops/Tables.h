// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The opcode tables of this folder, one a file. Those of lane arithmetic are declared in LaneTables.h.
#pragma once

#include "runtime/simulator/ops/LaneTables.h"

namespace stator::sim {

namespace ptx {
struct Operand;
}

Rows memoryRows();
Rows controlRows();
Rows barrierRows();
Rows collectiveRows();
Rows atomicRows();
Rows asyncRows();
Rows matrixRows();
Rows mmaRows();
Rows mbarrierRows();
Rows clusterRows();
Rows bulkRows();
Rows bulkTensorRows();
Rows storeAsyncRows();
Rows wgmmaRows();
Rows wmmaRows();
Rows videoRows();
Rows cachePolicyRows();
/// A call of vprintf.
void decodePrint(Decoder &decoder, const ptx::Operand *results, const ptx::Operand *arguments, Instr &instr);
bool isWgmma(const Instr &instr);

/// Every table, lane arithmetic at the best level this machine has.
const std::vector<Rows> &opcodeTables();

/// Rows that no text names: a jump that closes a gap in the block order, and the refresh of a changing register.
const Row &jumpRow();
const Row &refreshRow();
bool isReturn(const Instr &instr);
bool isExit(const Instr &instr);
bool isJump(const Instr &instr);

} // namespace stator::sim
