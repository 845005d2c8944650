// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every op that the graph dialect registers is complete: summary, a way to code, evaluation, a row of the conformance
// table, a round trip through text.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/conformance/Case.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include <filesystem>
#include <gtest/gtest.h>

using namespace mlir;
using namespace stator;

/// How ops get to code that answer none of the interfaces for it.
static const std::map<std::string, std::string> loweredOtherwise = {
    {"yield", "ends a region"},
    {"if", "a branch of the plan"},
    {"while", "a loop of the plan"},
    {"fusion", "is the kernel"},
    {"constant", "a weight of the artifact, or a literal in a kernel"},
    {"bind_symbol", "a step of the plan"},
    {"assert", "a step of the plan"},
    {"write", "gone after normalize"},
    {"scatter", "a kernel template of its own"},
    {"index_put", "a kernel template of its own"},
    {"cumsum", "the template of lines"},
    {"cumprod", "the template of lines"},
    {"cummax", "the template of lines"},
    {"cummin", "the template of lines"},
    {"sort", "the template of lines"},
    {"topk", "the template of lines"},
};
/// Ops that the evaluator runs itself, or that never reach it.
static const std::map<std::string, std::string> evaluatedOtherwise = {
    {"yield", "ends a region"},           {"if", "the evaluator's frames"},  {"while", "the evaluator's frames"},
    {"fusion", "the evaluator's frames"}, {"write", "gone after normalize"},
};

static std::string contentOf(const std::filesystem::path &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path.string());
  return buffer ? (*buffer)->getBuffer().str() : "";
}

static std::string filesOf(const std::string &folder, bool (*wanted)(const std::filesystem::path &)) {
  std::string text;
  for (auto &entry : std::filesystem::directory_iterator(folder))
    if (wanted(entry.path())) text += contentOf(entry.path());
  return text;
}

/// Whether the definition of the op, or the class it is made from, has a summary.
static bool hasSummary(const std::string &definitions, const std::string &op) {
  size_t at = definitions.find("<\"" + op + "\"");
  if (at == std::string::npos) return false;
  size_t begin = definitions.rfind("def ", at), end = definitions.find("\ndef ", at);
  std::string definition = definitions.substr(begin, end == std::string::npos ? end : end - begin);
  if (definition.find("summary = ") != std::string::npos) return true;
  std::string parent = definition.substr(definition.find(": ") + 2);
  parent = parent.substr(0, parent.find('<'));
  at = definitions.find("class " + parent + "<");
  return at != std::string::npos &&
         definitions.substr(at, definitions.find("\n}", at) - at).find("summary = ") != std::string::npos;
}

TEST(Completeness, EveryOpHasWhatItNeeds) {
  MLIRContext context;
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  std::string definitions =
      filesOf("dialects/graph", [](const std::filesystem::path &path) { return path.extension() == ".td"; });
  std::string examples = filesOf("tests/dialects/graph", [](const std::filesystem::path &path) {
    return path.extension() == ".mlir" && path.stem().string().find("invalid") == std::string::npos;
  });
  ASSERT_FALSE(definitions.empty());
  llvm::StringSet<> rows, roundTripped; // the latter by Conformance.ElementwiseTextRoundTrips
  for (const conformance::Row &row : conformance::elementwiseRows()) roundTripped.insert(row.op);
  for (auto family :
       {conformance::elementwiseRows, conformance::reduceRows, conformance::shapeRows, conformance::gatherRows,
        conformance::scanRows, conformance::windowRows, conformance::controlRows})
    for (const conformance::Row &row : family()) {
      rows.insert(row.op);
      EXPECT_TRUE(RegisteredOperationName::lookup("graph." + row.op, &context))
          << "a row for an op that is not there: " << row.op;
    }
  size_t count = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "graph") continue;
    ++count;
    std::string op = name.stripDialect().str();
    bool lowered = name.hasInterface<ScalarOpInterface>() || name.hasInterface<ElementalOpInterface>() ||
                   name.hasInterface<ReductionOpInterface>() || name.hasInterface<DecomposableOpInterface>();
    EXPECT_NE(lowered, loweredOtherwise.count(op) > 0)
        << op << ": a way to code, either by an interface or by a reason listed here";
    EXPECT_NE(name.hasInterface<EvaluableOpInterface>(), evaluatedOtherwise.count(op) > 0)
        << op << ": how it is evaluated";
    EXPECT_TRUE(hasSummary(definitions, op)) << op << " has no summary in dialects/graph";
    EXPECT_TRUE(rows.contains(op)) << op << " has no row in tests/conformance";
    EXPECT_TRUE(roundTripped.contains(op) || examples.find("graph." + op + " ") != std::string::npos ||
                examples.find("graph." + op + "\n") != std::string::npos)
        << op << " has no round trip in tests/dialects/graph";
  }
  EXPECT_GT(count, 100u);
}
