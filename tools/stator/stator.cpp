// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line: stator compile | run | inspect | import | ops.
#include "tools/stator/Command.h"
#include <iostream>

using namespace stator;

int main(int argc, char **argv) {
  CLI::App app("Stator compiles traced tensor programs to fused CPU and GPU code, and runs them.", "stator");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(versionText()));
  app.footer("Examples:\n"
             "  stator run model.pt2 --in inputs.safetensors --expect outputs.safetensors\n"
             "  stator compile model.pt2 --target host,cuda --arch sm_80,sm_90 -o model.stator\n"
             "  stator inspect model.stator\n\n`stator COMMAND --help` tells more.");
  cli::Common common;
  cli::Action action;
  cli::addCompile(app, common, action);
  cli::addRun(app, common, action);
  cli::addInspect(app, common, action);
  cli::addImport(app, common, action);
  cli::addOps(app, common, action);
  cli::catchCrashes();
  if (auto mistake = cli::checkNames(app, argc, argv)) return cli::fail(*mistake);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &asked) { // --help, --version
    return app.exit(asked, std::cout, std::cerr);
  } catch (const CLI::ParseError &error) {
    return cli::fail(std::string(error.what()) + " (`stator --help` and `stator COMMAND --help` tell more)");
  }
  try {
    return action ? action() : cli::UserError;
  } catch (const std::exception &error) {
    std::cerr << "stator: internal error: " << error.what() << "\n";
    return cli::OurBug;
  }
}
