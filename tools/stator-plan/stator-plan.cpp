// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-plan/Command.h"

#include <CLI/CLI.hpp>
#include <iostream>

int main(int argc, char **argv) {
  stator::memory::CommandOptions options;
  CLI::App app("Assigns offsets in one arena to buffers whose lives and sizes are known, in as few bytes as it can.",
               "stator-plan");
  app.add_option(
         "INSTANCE", options.instance,
         "A table with the columns id,lower,upper,size and optionally alignment and offset (a fixed one); a buffer\n"
         "is live in [lower, upper). '-' reads standard input")
      ->required();
  app.add_option("--capacity", options.capacity, "Fit this many bytes instead of finding the smallest arena")
      ->check(CLI::NonNegativeNumber);
  app.add_option("-o,--output", options.planFile, "Write the plan: columns id,offset; '-' for standard output");
  app.add_option("--svg", options.drawingFile, "Draw the plan: time to the right, addresses upwards");
  app.add_option("--check", options.checkFile, "Check this plan for the instance instead of making one")
      ->excludes("--output")
      ->excludes("--svg");
  app.add_flag(
      "--generate", options.generate,
      "INSTANCE is cut:COUNT:TRIM:SEED (a rectangle of 1 MiB cut into COUNT pieces, of which TRIM percent lose\n"
      "some of their life), layers:COUNT:SEED or training:COUNT:SEED (the buffers of a random network)");
  app.add_option("--write-instance", options.instanceFile, "Write the instance, e.g. a generated one");
  app.add_flag("--json", options.json, "Report as one line of JSON");
  app.add_option("--nodes", options.effort.searchNodes, "Decisions that the search may try")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--steps", options.effort.searchSteps, "Blocks and sections that it may look at for them")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.footer(
      "Examples:\n"
      "  stator-plan model.csv -o plan.csv            the smallest arena that it finds\n"
      "  stator-plan model.csv --capacity 1048576     does it fit 1 MiB?\n"
      "  stator-plan model.csv --svg plan.svg         a picture of the plan\n"
      "  stator-plan model.csv --check plan.csv       is that plan correct?\n"
      "  stator-plan --generate cut:300:30:7 --capacity 1048576 --write-instance hard.csv\n\n"
      "The same instance and options give the same plan everywhere.\n"
      "Exit status: 0 if there is a plan that does what was asked, 1 if there is none, none was found, or an error.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? 1 : 0;
  }
  return stator::memory::runCommand(options, std::cin, std::cout, std::cerr);
}
