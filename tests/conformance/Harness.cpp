// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/conformance/Harness.h"
#include "compiler/Compile.h"
#include "dialects/graph/Evaluator.h"
#include "dialects/graph/HostElements.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "stator/runtime.h"
#include "tests/conformance/Compare.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;

namespace stator::conformance {

namespace {

stator_dtype dtypeOf(Type element) {
  std::string name = codegen::dtypeName(element);
  for (int number = 1; number <= 15; ++number)
    if (name == stator_dtype_name(stator_dtype(number))) return stator_dtype(number);
  return STATOR_DTYPE_INVALID;
}

/// An input as the caller of the runtime may hold it: dense, transposed, with step 2, at an odd address.
class LaidOut {
public:
  LaidOut(const HostTensor &tensor, unsigned layout) {
    size_t bytes = elementBytes(tensor.elementType);
    view.dtype = dtypeOf(tensor.elementType);
    view.rank = tensor.rank();
    llvm::copy(tensor.shape, view.shape);
    SmallVector<int64_t> strides = tensor.strides();
    if (layout == 1 && tensor.rank() >= 2) {
      int64_t last = tensor.rank() - 1;
      std::swap(strides[last], strides[last - 1]);
      strides[last] = std::max<int64_t>(1, tensor.shape[last - 1]), strides[last - 1] = 1;
    }
    if (layout == 2)
      for (int64_t &stride : strides) stride *= 2;
    size_t extent = 1, offset = layout == 3 ? bytes : 0;
    for (auto [size, stride] : llvm::zip_equal(tensor.shape, strides)) extent += size ? (size - 1) * stride : 0;
    memory.assign(offset + extent * bytes, char(0xEE));
    view.data = memory.data() + offset;
    view.bytes = memory.size() - offset;
    view.strided = layout == 1 || layout == 2;
    llvm::copy(strides, view.strides);
    SmallVector<int64_t> index(tensor.rank(), 0);
    for (int64_t i = 0; i < tensor.size(); ++i, nextIndex(index, tensor.shape)) {
      size_t at = 0;
      for (auto [k, stride] : llvm::zip_equal(index, strides)) at += k * stride;
      std::memcpy(memory.data() + offset + at * bytes, tensor.data() + i * bytes, bytes);
    }
  }
  stator_tensor view{};

private:
  std::vector<char> memory;
};

/// The caller's memory for an output, filled with something no program writes, and a fence behind it.
class Outgoing {
public:
  explicit Outgoing(const HostTensor &like) : like(like), memory(like.bytes() + fence, char(0xCD)) {
    view.dtype = dtypeOf(like.elementType);
    view.rank = like.rank();
    llvm::copy(like.shape, view.shape);
    view.data = memory.data();
    view.bytes = like.bytes();
  }
  bool fenceHolds() const {
    return std::all_of(memory.end() - fence, memory.end(), [](char c) { return c == char(0xCD); });
  }
  /// The tensor that was written; another shape where the run said so.
  HostTensor tensor() const {
    return HostTensor::view(like.elementType, ArrayRef(view.shape, view.rank), memory.data());
  }
  stator_tensor view{};

private:
  static constexpr size_t fence = 64;
  const HostTensor &like;
  std::vector<char> memory;
};

struct Compiled {
  Compilation compilation;
  stator_model *model = nullptr;
  ~Compiled() { stator_model_close(model); }
};

HostTensor absolute(const HostTensor &tensor) {
  HostTensor result = tensor;
  if (result.isFloat())
    for (int64_t i = 0; i < result.size(); ++i) result.setDouble(i, std::fabs(tensor.getDouble(i)));
  return result;
}

/// The function with its inputs as constants. Every result is something that was computed, so folding is what runs.
std::string withConstants(MLIRContext &context, const Case &c, ArrayRef<HostTensor> inputs) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(c.text, &context);
  if (!module) return c.text;
  auto function = *module->getOps<func::FuncOp>().begin();
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  for (auto [argument, tensor] : llvm::zip_equal(function.getArguments(), inputs))
    argument.replaceAllUsesWith(graph::ConstantOp::create(
        b, function.getLoc(), graph::elementsOf(tensor, cast<RankedTensorType>(argument.getType()))));
  (void)function.eraseArguments(llvm::BitVector(function.getNumArguments(), true));
  std::string text;
  llvm::raw_string_ostream os(text);
  function.print(os);
  return text + "\n";
}

class Run {
public:
  Run(MLIRContext &context, const std::vector<Case> &cases, Route route)
      : context(context), cases(cases), route(route) {}

  Tally run() {
    std::string text;
    for (const Case &c : cases) text += textOf(c);
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) { diagnostics += d.str() + "\n"; });
    original = parseSourceString<ModuleOp>(text, &context);
    compiled = parseSourceString<ModuleOp>(text, &context);
    if (!original) {
      oneByOne("does not parse");
      return tally;
    }
    CompileOptions options;
    options.model = "conformance";
    // The evaluator knows no writes: normalize makes values of them.
    CompileOptions values = options;
    values.stopAfter = "normalize";
    if (text.find("graph.write") != std::string::npos && failed(compile(*original, values, result.compilation))) {
      oneByOne("normalize failed");
      return tally;
    }
    options.target.host = route != Route::Cuda;
    options.target.cubins = false;
    if (route == Route::Cuda) options.target.cudaArchitectures = {"sm_80"};
    if (route == Route::HostBare) {
      CompileOptions first = options;
      first.stopAfter = "normalize";
      if (failed(compile(*compiled, first, result.compilation))) {
        oneByOne("normalize failed");
        return tally;
      }
      options.startAt = "lower";
    }
    if (failed(compile(*compiled, options, result.compilation))) {
      oneByOne("does not compile");
      return tally;
    }
    stator_error error{};
    if (stator_model_open_memory(result.compilation.artifact.data(), result.compilation.artifact.size(), nullptr,
                                 &result.model, &error) != STATOR_OK) {
      oneByOne(std::string("the artifact does not open: ") + error.message);
      return tally;
    }
    for (const Case &c : cases) runCase(c);
    return tally;
  }

private:
  std::string textOf(const Case &c) {
    return route == Route::Folded ? withConstants(context, c, inputsOf(context, c, {}, 0)) : c.text;
  }

  /// Finds which case is to blame.
  void oneByOne(const std::string &what) {
    if (cases.size() == 1) {
      ADD_FAILURE() << cases[0].name << " " << what << ": " << diagnostics << "\n" << cases[0].text;
      ++tally.wrong;
      return;
    }
    for (const Case &c : cases) {
      Tally one = Run(context, {c}, route).run();
      tally.functions += one.functions, tally.runs += one.runs, tally.elements += one.elements,
          tally.wrong += one.wrong;
    }
    if (!tally.wrong) ADD_FAILURE() << "together only: " << what << ": " << diagnostics;
  }

  void runCase(const Case &c) {
    ++tally.functions;
    auto function = original->lookupSymbol<func::FuncOp>(c.name);
    bool library = c.op == "matmul" || c.op == "convolution";
    for (bool libraries : {false, true}) {
      if (libraries && (!library || route == Route::Cuda)) continue;
      stator_session_options options{};
      options.struct_size = sizeof(options);
      options.function = c.name.c_str();
      options.threads = 2;
      options.no_libraries = !libraries;
      options.device = route == Route::Cuda ? "cuda" : "host";
#ifdef STATOR_TEST_SIMULATOR
      if (route == Route::Cuda) options.cuda_library = STATOR_TEST_SIMULATOR;
#endif
      stator_session *session = nullptr;
      stator_error error{};
      if (stator_session_create(result.model, &options, &session, &error) != STATOR_OK) {
        fail(c, error.message);
        return;
      }
      unsigned seed = unsigned(llvm::hash_value(c.name.size() * 31 + c.name[c.name.size() / 2]) % 97);
      for (auto [number, sizes] : llvm::enumerate(c.sizes)) {
        std::map<std::string, int64_t> symbols;
        for (auto [j, symbol] : llvm::enumerate(c.symbols)) symbols[symbol] = sizes.at(j);
        compareRun(c, function, session, symbols, seed + unsigned(number));
      }
      stator_session_destroy(session);
    }
  }

  void compareRun(const Case &c, func::FuncOp function, stator_session *session,
                  const std::map<std::string, int64_t> &symbols, unsigned seed) {
    std::string where;
    for (auto &[name, value] : symbols) where += " " + name + "=" + std::to_string(value);
    std::vector<HostTensor> inputs;
    if (route != Route::Folded) inputs = inputsOf(context, c, symbols, seed);
    graph::Evaluator evaluator(function);
    // What the op itself reads, for tolerances that are told by it.
    std::vector<HostTensor> operands = inputs;
    Operation *subject = nullptr;
    for (Operation &op : function.getBody().front())
      if (op.getName().getStringRef() == "graph." + c.op) subject = &op;
    if (subject)
      evaluator.onResults = [&](Operation *op, ArrayRef<HostTensor> results) {
        for (auto [value, tensor] : llvm::zip_equal(op->getResults(), results))
          if (llvm::is_contained(subject->getOperands(), value)) operands.push_back(tensor);
      };
    auto want = evaluator.run(inputs);
    if (!c.refusal.empty())
      return compareRefusals(c, failed(want) ? evaluator.error().str() : "a value", session, inputs);
    if (failed(want)) return fail(c, "the evaluator says: " + evaluator.error().str() + where);
    for (auto [i, known] : llvm::enumerate(c.knownResults))
      if (std::string wrong = difference((*want)[i], known, c.tolerance, inputs, nullptr); !wrong.empty())
        return fail(c, "evaluator, result " + std::to_string(i) + ": " + wrong);
    SmallVector<HostTensor> magnitudes;
    if (c.tolerance.terms > 0) {
      std::vector<HostTensor> absolutes;
      for (const HostTensor &input : inputs) absolutes.push_back(absolute(input));
      graph::Evaluator other(function);
      auto values = other.run(absolutes);
      if (failed(values)) return fail(c, "the evaluator says of absolute values: " + other.error().str() + where);
      magnitudes = std::move(*values);
    }
    // Twice: the second run must see nothing of the first.
    for (int round = 0; round < 2; ++round) {
      std::vector<LaidOut> in;
      for (auto [i, input] : llvm::enumerate(inputs)) in.emplace_back(input, (seed + unsigned(i) + round) % 4);
      std::vector<Outgoing> out;
      for (const HostTensor &tensor : *want) out.emplace_back(tensor);
      std::vector<stator_tensor> inViews, outViews;
      for (LaidOut &tensor : in) inViews.push_back(tensor.view);
      for (Outgoing &tensor : out) outViews.push_back(tensor.view);
      stator_error error{};
      ++tally.runs;
      if (stator_session_run(session, inViews.data(), inViews.size(), outViews.data(), outViews.size(), &error) !=
          STATOR_OK)
        return fail(c, std::string(error.message) + where);
      for (auto [i, tensor] : llvm::enumerate(*want)) {
        llvm::copy(ArrayRef(outViews[i].shape, outViews[i].rank), out[i].view.shape);
        tally.elements += tensor.size();
        if (!out[i].fenceHolds()) fail(c, "writes behind result " + std::to_string(i) + where);
        std::string wrong =
            difference(out[i].tensor(), tensor, c.tolerance, operands, magnitudes.empty() ? nullptr : &magnitudes[i]);
        if (!wrong.empty()) return fail(c, "result " + std::to_string(i) + where + ": " + wrong);
      }
    }
  }

  void compareRefusals(const Case &c, const std::string &said, stator_session *session, ArrayRef<HostTensor> inputs) {
    ++tally.runs;
    if (said.find(c.refusal) == std::string::npos)
      fail(c, "the evaluator says '" + said + "', not '" + c.refusal + "'");
    std::vector<LaidOut> in;
    std::vector<stator_tensor> views, outputs(c.results.size());
    for (const HostTensor &input : inputs) in.emplace_back(input, 0);
    for (LaidOut &tensor : in) views.push_back(tensor.view);
    stator_error error{};
    stator_session_run(session, views.data(), views.size(), outputs.data(), outputs.size(), &error);
    if (std::string(error.message).find(c.runtimeRefusal) == std::string::npos)
      fail(c, std::string("the runtime says '") + error.message + "', not '" + c.runtimeRefusal + "'");
  }

  void fail(const Case &c, const std::string &text) {
    if (tally.wrong++ < 40) ADD_FAILURE() << c.name << ": " << text << "\n" << StringRef(c.text).take_front(1200).str();
  }

  MLIRContext &context;
  const std::vector<Case> &cases;
  Route route;
  std::string diagnostics;
  OwningOpRef<ModuleOp> original, compiled;
  Compiled result;
  Tally tally;
};

} // namespace

Tally runCases(MLIRContext &context, const std::vector<Case> &cases, Route route) {
  return Run(context, cases, route).run();
}

} // namespace stator::conformance
