// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler as a library, for C++17 programs. It knows nothing of the libraries that the compiler is made of: a
// program that uses it includes this header and links Stator::compiler (CMake) or stator-compiler (pkg-config), and
// needs no LLVM headers.
//
//   stator::compiler::Result result = stator::compiler::compileFile("model.pt2");
//   if (!result) std::cerr << result.diagnostics[0].text;
//   else model = stator::Model(result.artifact.data(), result.artifact.size()); // stator/runtime.hpp
#ifndef STATOR_COMPILER_HPP
#define STATOR_COMPILER_HPP

#include <string>
#include <vector>

#if defined(__GNUC__)
#define STATOR_COMPILER_API __attribute__((visibility("default")))
#else
#define STATOR_COMPILER_API
#endif

namespace stator::compiler {

struct Options {
  /// Code for CPUs of this level: x86-64-v2, x86-64-v3, x86-64-v4, native.
  bool host = true;
  std::string cpu = "x86-64-v3";
  /// PTX for each of these ("sm_80", "sm_90", ...), and cubins where ptxas is installed.
  std::vector<std::string> cudaArchitectures;
  bool cubins = true;
  /// Allows contraction and approximations beyond the documented error bounds.
  bool fastMath = false;
  /// Which of an archive's models; empty: the only one.
  std::string model;
};

struct Diagnostic {
  enum class Severity { Error, Warning, Remark, Note };
  Severity severity;
  std::string text;
  /// "model.py:12", innermost first, and names of nodes.
  std::vector<std::string> places;
};

struct Result {
  /// The bytes of a .stator file (docs/artifact-format.md); empty where compilation failed.
  std::string artifact;
  std::vector<Diagnostic> diagnostics;
  explicit operator bool() const { return !artifact.empty(); }
};

/// Compiles a .pt2, .json (docs/graph-json.md) or .mlir file. Throws nothing of its own; several threads may compile at
/// once.
STATOR_COMPILER_API Result compileFile(const std::string &path, const Options &options = {});

/// Translates a program into graph JSON at `jsonPath`, with its weights beside it. Success is a list without errors.
STATOR_COMPILER_API std::vector<Diagnostic> importFile(const std::string &path, const std::string &jsonPath,
                                                       const std::string &model = "");

/// "0.1.0".
STATOR_COMPILER_API const char *version();

} // namespace stator::compiler

#endif // STATOR_COMPILER_HPP
