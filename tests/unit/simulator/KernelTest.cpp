// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Real kernels, as nvcc compiled them, on several sizes, schedules and modes of asynchronous copies: right, and without
// a finding. Then mutants of them, each with one defect in its PTX: all are caught.
#include "tests/unit/simulator/KernelBench.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace stator::sim::test {
namespace {

std::string nameOf(const Configuration &c) {
  return "size " + std::to_string(c.size) + " schedule " + std::to_string(c.schedule) + " async " +
         std::to_string(static_cast<int>(c.async));
}

class Kernels : public testing::TestWithParam<KernelCase> {};

TEST_P(Kernels, AreRightAndClean) {
  std::string text = kernelText(GetParam().file);
  for (const Configuration &c : configurationsOf(GetParam())) {
    SCOPED_TRACE(nameOf(c));
    Session session(text, GetParam().chip, c);
    bool right = GetParam().isRight(session);
    for (const Finding &f : session.findings) ADD_FAILURE() << toText(f);
    EXPECT_TRUE(right);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::ValuesIn(kernelCases()),
                         [](const auto &info) { return std::string(info.param.file); });

// --- mutants ---

/// A named change of a kernel's text, and how it is caught: the kind of a finding, or `result`.
struct Mutant {
  std::string name, file, caught;
  std::vector<std::pair<std::string, std::string>> changes; ///< lines: what stands there, what replaces it
  size_t occurrence = 1;                                    ///< which of several places that look alike
};

/// mutants.txt: blocks of `mutant NAME`, `of FILE`, `caught KIND`, `place N` (default 1), then lines beginning with `-`
/// that stand in the PTX one behind the other and lines with `+` that replace them.
std::vector<Mutant> readMutants() {
  std::vector<Mutant> mutants;
  std::ifstream in("tests/simulator/kernels/mutants.txt");
  bool removing = false;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::string word = line.substr(0, line.find(' ')),
                rest = line.size() > word.size() ? line.substr(word.size() + 1) : "";
    if (word == "mutant") {
      mutants.emplace_back();
      mutants.back().name = rest;
      removing = false;
    } else if (mutants.empty()) {
      throw std::runtime_error("mutants.txt begins with " + line);
    } else if (word == "of") {
      mutants.back().file = rest;
    } else if (word == "caught") {
      mutants.back().caught = rest;
    } else if (word == "place") {
      mutants.back().occurrence = std::stoul(rest);
    } else if (line[0] == '-') {
      if (!removing) mutants.back().changes.emplace_back();
      removing = true;
      mutants.back().changes.back().first += line.substr(1) + "\n";
    } else if (line[0] == '+') {
      if (mutants.back().changes.empty())
        throw std::runtime_error("mutant " + mutants.back().name + " removes nothing");
      removing = false;
      mutants.back().changes.back().second += line.substr(1) + "\n";
    } else {
      throw std::runtime_error("mutants.txt: " + line);
    }
  }
  return mutants;
}

/// The text with single blanks and without line information, so that patches can be written by hand.
std::string trimLines(const std::string &text) {
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::string trimmed;
    for (char c : line) {
      if (c == '\t') c = ' ';
      if (c != ' ' || (!trimmed.empty() && trimmed.back() != ' ')) trimmed += c;
    }
    if (!trimmed.empty() && trimmed.rfind(".loc", 0) != 0 && trimmed.rfind("//", 0) != 0) out += trimmed + "\n";
  }
  return out;
}

std::string mutate(const Mutant &mutant, const std::string &original) {
  std::string text = trimLines(original);
  for (auto [from, to] : mutant.changes) {
    from = "\n" + trimLines(from);
    size_t at = 0;
    for (size_t i = 0; i < mutant.occurrence; ++i) {
      at = text.find(from, i ? at + 1 : 0);
      if (at == std::string::npos) throw std::runtime_error("mutant " + mutant.name + ": the PTX does not hold" + from);
    }
    text.replace(at, from.size(), "\n" + to);
  }
  return text;
}

/// What the configurations of a kernel show of a text: kinds of errors, and `result` where it is wrong.
std::set<std::string> judge(const KernelCase &kernel, const std::string &text, const std::string &until) {
  std::set<std::string> seen;
  for (const Configuration &c : configurationsOf(kernel)) {
    Session session(text, kernel.chip, c);
    bool right = kernel.isRight(session);
    for (const Finding &f : session.findings)
      if (f.severity == Severity::error) seen.insert(spell(f.kind));
    if (!right && !session.failed) seen.insert("result");
    if (seen.count(until)) break;
  }
  return seen;
}

void PrintTo(const Mutant &mutant, std::ostream *out) { *out << mutant.name; }

class Mutants : public testing::TestWithParam<Mutant> {};

TEST_P(Mutants, AreCaught) {
  const Mutant &mutant = GetParam();
  for (const KernelCase &kernel : kernelCases()) {
    if (kernel.file != mutant.file) continue;
    std::set<std::string> seen = judge(kernel, mutate(mutant, kernelText(mutant.file)), mutant.caught);
    std::string all;
    for (const std::string &kind : seen) all += " " + kind;
    EXPECT_TRUE(seen.count(mutant.caught))
        << mutant.name << " was to be caught by " << mutant.caught << ", seen:" << all;
    return;
  }
  FAIL() << "no kernel " << mutant.file;
}

INSTANTIATE_TEST_SUITE_P(All, Mutants, testing::ValuesIn(readMutants()), [](const auto &info) {
  std::string name = info.param.name;
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

TEST(MutantList, HoldsAtLeastThirty) { EXPECT_GE(readMutants().size(), 30u); }

} // namespace
} // namespace stator::sim::test
