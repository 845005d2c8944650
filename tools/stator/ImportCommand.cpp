// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Program.h"
#include "compiler/frontend/torch_export/TorchExport.h"
#include "compiler/io/File.h"
#include "tools/stator/Command.h"
#include <iostream>

using namespace mlir;

namespace stator::cli {

void addImport(CLI::App &app, Common &common, Action &action) {
  struct Flags {
    std::string input, output, model;
    bool locations = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App *sub = app.add_subcommand("import", "Translate a program into the graph dialect");
  sub->footer("Examples:\n  stator import model.pt2 | less\n  stator import model.pt2 -o model.mlir --locations");
  sub->add_option("PROGRAM", flags->input, "A .pt2, .json or .mlir file")->required();
  sub->add_option("-o,--output", flags->output, "The .mlir file to write (default: standard output, large weights elided)");
  sub->add_option("--model", flags->model, "Which model of an archive that holds several");
  sub->add_flag("--locations", flags->locations, "Keep source locations");
  sub->callback([flags, &action] {
    action = [flags] {
      auto context = makeContext();
      OwningOpRef<ModuleOp> module = readProgram(*context, flags->input, flags->model);
      if (!module) return int(UserError);
      std::string text;
      llvm::raw_string_ostream os(text);
      OpPrintingFlags printing;
      printing.enableDebugInfo(flags->locations);
      if (flags->output.empty()) printing.elideLargeElementsAttrs(64).elideLargeResourceString(64);
      module->print(os, printing);
      if (flags->output.empty()) {
        std::cout << text;
        return int(Ok);
      }
      io::Status status = io::writeFile(flags->output, {text});
      return status ? int(Ok) : fail(status.error());
    };
  });
}

void addOps(CLI::App &app, Common &common, Action &action) {
  CLI::App *sub = app.add_subcommand("ops", "List the operators that can be imported");
  sub->footer("Example:\n  stator ops | grep conv");
  sub->callback([&action] {
    action = [] {
      auto context = makeContext();
      for (const std::string &target : torch_export::importableTargets(*context)) std::cout << target << "\n";
      return int(Ok);
    };
  });
}

} // namespace stator::cli
