// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the steps of one plan.
#ifndef STATOR_RUNTIME_ARTIFACT_STEPREADER_H
#define STATOR_RUNTIME_ARTIFACT_STEPREADER_H

#include "runtime/src/artifact/Plan.h"

namespace stator::runtime {

/// An *expr* of the format page: an integer or a string.
ExprId readExpression(Plan &plan, const Json &json);
stator_dtype readDtype(const Json &json);

/// Fills `plan.steps` and numbers the steps; buffers and symbols must be known already.
class StepReader {
public:
  StepReader(Plan &plan, const std::vector<Symbol> &symbols) : plan(plan), symbols(symbols) {}

  Block readBlock(const Json &json, uint32_t depth);

private:
  Step readStep(const Json &json, uint32_t depth);
  LaunchStep readLaunch(const Json &json);
  LibraryStep readLibrary(const Json &json, uint32_t depth);
  Operand readOperand(const Json &json);
  PostOp readPostOp(const Json &json);
  FillStep readFill(const Json &json);
  ReadSymbolStep readReadSymbol(const Json &json);

  BufferId buffer(const Json &json, const char *key, bool written);
  ExprId expression(const Json &json, const char *key, int64_t missing);
  std::optional<ExprId> optionalExpression(const Json &json, const char *key);
  std::vector<ExprId> expressions(const Json &json, const char *key);
  void readTriple(const Json &json, const char *key, ExprId (&out)[3]);

  Plan &plan;
  const std::vector<Symbol> &symbols;
  uint32_t next = 0;
};

} // namespace stator::runtime
#endif
