// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Program.h"
#include "compiler/frontend/json/GraphJson.h"
#include "compiler/io/File.h"
#include "tools/stator/Command.h"
#include <iostream>
#include <nlohmann/json.hpp>

using namespace mlir;

namespace stator::cli {

void addImport(CLI::App &app, Common &common, Action &action) {
  struct Flags {
    std::string input, output, model;
    bool locations = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App *sub = app.add_subcommand("import", "Translate a program into graph JSON or the graph dialect");
  sub->footer("Examples:\n  stator import model.pt2 | less\n  stator import model.pt2 -o model.json\n"
              "  stator import model.json -o model.mlir --locations");
  sub->add_option("PROGRAM", flags->input, "A .pt2, .json or .mlir file")->required();
  sub->add_option("-o,--output", flags->output,
                  "The .json file to write (weights go to .weights.safetensors beside it), or the .mlir file (default: MLIR on "
                  "standard output, large weights elided)");
  sub->add_option("--model", flags->model, "Which model of an archive that holds several");
  sub->add_flag("--locations", flags->locations, "Keep source locations in MLIR (JSON has them always)");
  common.add(*sub, "A summary as one line of JSON (with -o)");
  sub->callback([flags, &common, &action] {
    action = [flags, &common] {
      Progress progress(common.quiet, common.verbose);
      progress.step("reading " + flags->input);
      auto context = makeContext();
      OwningOpRef<ModuleOp> module = readProgram(*context, flags->input, flags->model);
      if (!module) return int(UserError);
      io::Status status;
      if (formOf(flags->output) == ProgramForm::GraphJson) {
        status = graph_json::writeGraphJsonFile(*module, flags->output);
      } else {
        std::string text;
        llvm::raw_string_ostream os(text);
        OpPrintingFlags printing;
        printing.enableDebugInfo(flags->locations);
        if (flags->output.empty()) printing.elideLargeElementsAttrs(64).elideLargeResourceString(64);
        module->print(os, printing);
        progress.finish();
        if (flags->output.empty()) {
          std::cout << text;
          return int(Ok);
        }
        status = io::writeFile(flags->output, {text});
      }
      progress.finish();
      if (!status) return fail(status.error());
      size_t ops = 0;
      module->walk([&](Operation *) { ++ops; });
      if (common.json) std::cout << nlohmann::ordered_json{{"output", flags->output}, {"ops", ops}}.dump() << "\n";
      else if (!common.quiet) std::cout << flags->output << ": " << ops << " ops\n";
      return int(Ok);
    };
  });
}

} // namespace stator::cli
