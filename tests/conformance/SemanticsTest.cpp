// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small programs that compilers have got wrong, with the right answers: by the evaluator, as one program, op by op,
// with every input a constant, with static and with symbolic sizes, and as PTX on the simulated device.
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/conformance/Harness.h"
#include "tests/conformance/SemanticsCases.h"
#include <gtest/gtest.h>
#include <regex>

using namespace mlir;
using namespace stator;
using namespace stator::conformance;

/// `N=7` declares a size. Static: every N is 7. Symbolic: N is a symbol whose value in the run is 7.
static Form formOf(const SemanticsCase &c, bool isStatic) {
  Form form{c.signature, c.body};
  static const std::regex declaration("([A-Z])=([0-9]+)");
  std::smatch match;
  std::vector<int64_t> sizes;
  while (std::regex_search(form.signature, match, declaration)) {
    std::string name = match[1], size = match[2];
    form.signature = match.prefix().str() + (isStatic ? size : name) + match.suffix().str();
    if (!isStatic) {
      sizes.push_back(std::stoll(size));
      continue;
    }
    std::regex word("\\b" + name + "\\b");
    form.signature = std::regex_replace(form.signature, word, size);
    form.body = std::regex_replace(form.body, std::regex("<" + name + ">"), "<" + size + ">");
  }
  if (!sizes.empty()) form.sizes = {sizes};
  return form;
}

static HostTensor tensorOf(MLIRContext &context, const Slot &slot, const std::vector<double> &values,
                           const std::map<std::string, int64_t> &sizes) {
  SmallVector<int64_t> shape;
  for (const std::string &dim : slot.dims) {
    std::string error;
    graph::DimExpr expr = graph::DimExpr::parse(&context, dim, error);
    shape.push_back(*expr.evaluate([&](StringRef name) { return std::optional<int64_t>(sizes.at(name.str())); }));
  }
  HostTensor tensor(parseType(slot.element, &context), shape);
  // One value stands for all of a tensor.
  EXPECT_TRUE(int64_t(values.size()) == tensor.size() || values.size() == 1) << slot.name;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double value = values.size() == 1 ? values[0] : values.at(i);
    tensor.isFloat() ? tensor.setDouble(i, value) : tensor.setInt(i, int64_t(value));
  }
  return tensor;
}

namespace {
class Semantics : public ::testing::TestWithParam<Route> {};
} // namespace

static std::vector<Case> casesOf(MLIRContext &context, bool isStatic) {
  std::vector<Case> cases;
  for (auto [i, c] : llvm::enumerate(semanticsCases())) {
    bool isSymbolic = c.signature.find('=') != std::string::npos;
    if (!isStatic && !isSymbolic) continue;
    Row row{c.op, {c.element}, c.tolerance, {}};
    Form form = formOf(c, isStatic);
    Case made = makeCase(context, row, form, c.element, "case" + std::to_string(c.number) + "_" + std::to_string(i));
    std::map<std::string, int64_t> sizes;
    for (auto [j, symbol] : llvm::enumerate(made.symbols)) sizes[symbol] = made.sizes.at(0).at(j);
    EXPECT_EQ(made.inputs.size(), c.inputs.size()) << made.name;
    EXPECT_EQ(made.results.size(), c.results.size()) << made.name;
    for (auto [slot, values] : llvm::zip_equal(made.inputs, c.inputs))
      made.knownInputs.push_back(tensorOf(context, slot, values, sizes));
    for (auto [slot, values] : llvm::zip_equal(made.results, c.results))
      made.knownResults.push_back(tensorOf(context, slot, values, sizes));
    cases.push_back(std::move(made));
  }
  return cases;
}

TEST_P(Semantics, StaticSizes) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  Tally tally = runCases(context, casesOf(context, true), GetParam());
  EXPECT_EQ(tally.functions, semanticsCases().size());
}
TEST_P(Semantics, SymbolicSizes) {
  if (GetParam() == Route::Folded) return; // Constants have sizes.
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  Tally tally = runCases(context, casesOf(context, false), GetParam());
  EXPECT_GT(tally.functions, 20u);
}
static std::string nameOf(const ::testing::TestParamInfo<Route> &info) {
  static const char *const names[] = {"Host", "HostBare", "Folded", "Cuda"};
  return names[int(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Every, Semantics, ::testing::Values(Route::Host, Route::HostBare, Route::Folded, Route::Cuda), nameOf);

TEST(SemanticsTable, SaysWhatIsCovered) {
  std::map<unsigned, size_t> programs;
  for (const SemanticsCase &c : semanticsCases()) ++programs[c.number];
  for (auto &[number, count] : programs) std::printf("case %u: %zu programs\n", number, count);
  for (auto &[number, where] : semanticsElsewhere()) {
    std::printf("case %u: %s\n", number, where.c_str());
    EXPECT_FALSE(programs.count(number)) << number << " is here and elsewhere";
  }
  // The cases that are known; one that is neither a program here nor said to be elsewhere is forgotten.
  for (unsigned number : {2, 7, 10, 20, 25, 29, 32, 33, 37, 39, 40, 43, 47, 49, 56, 57, 58, 67, 81, 88})
    EXPECT_TRUE(programs.count(number) || semanticsElsewhere().count(number)) << number;
  std::printf("%zu cases as programs here, %zu elsewhere\n", programs.size(), semanticsElsewhere().size());
}
