// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/SourceLocation.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

constexpr size_t maxFrames = 64;
constexpr size_t maxText = 200;

/// Text that is safe to print: one line, no control characters.
std::string printable(StringRef text) {
  std::string result;
  for (char c : text.take_front(maxText)) result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return result;
}

} // namespace

std::vector<SourceFrame> parseStackTrace(StringRef text) {
  std::vector<SourceFrame> frames;
  while (!text.empty() && frames.size() < maxFrames) {
    auto [line, rest] = text.split('\n');
    text = rest;
    line = line.trim();
    if (!line.consume_front("File \"")) {
      // The source text stands on the lines below its frame; the first is enough.
      if (!frames.empty() && frames.back().text.empty()) frames.back().text = printable(line);
      continue;
    }
    auto [file, tail] = line.split('"');
    SourceFrame frame;
    frame.file = printable(file);
    if (!tail.consume_front(", line ") || tail.consumeInteger(10, frame.line)) continue;
    if (tail.consume_front(", in ")) frame.function = printable(tail);
    frames.push_back(std::move(frame));
  }
  return frames;
}

bool isInternal(const SourceFrame &frame) {
  StringRef file = frame.file;
  return file.starts_with("torch/") || file.contains("/torch/") || file.starts_with("<");
}

std::string modulePath(StringRef stack) {
  StringRef last = stack.rsplit(';').second;
  if (last.empty()) last = stack;
  return printable(last.split(',').second.split(',').first);
}

Location locationOf(MLIRContext *context, const Node &node) {
  std::vector<SourceFrame> frames = parseStackTrace(node.stackTrace);
  std::optional<Location> where;
  std::string source;
  // Built from the outermost caller inwards, so that the innermost user frame comes out first.
  for (const SourceFrame &frame : frames) {
    if (isInternal(frame)) continue;
    Location here = FileLineColLoc::get(context, frame.file, frame.line, 0);
    where = where ? Location(CallSiteLoc::get(here, *where)) : here;
    source = frame.text;
  }
  StringRef name = node.name.empty() ? StringRef(node.target) : StringRef(node.name);
  Location named =
      NameLoc::get(StringAttr::get(context, printable(name)), where ? *where : Location(UnknownLoc::get(context)));
  Builder builder(context);
  SmallVector<NamedAttribute> facts;
  if (std::string path = modulePath(node.moduleStack); !path.empty())
    facts.push_back(builder.getNamedAttr("module", builder.getStringAttr(path)));
  if (!source.empty()) facts.push_back(builder.getNamedAttr("source", builder.getStringAttr(source)));
  if (facts.empty()) return named;
  return FusedLoc::get(context, {named}, builder.getDictionaryAttr(facts));
}

} // namespace stator::torch_export
