// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-remat/Command.h"

#include <CLI/CLI.hpp>

static const char *const kFooter = R"(Examples:
  stator-remat unet.json --budget-percent 50 -o schedule.json
  stator-remat unet.json --budget 300000000 --keep-order
  stator-remat --generate transformer:6:1 -o transformer.json

INSTANCE is {"nodes": [{"id", "inputs", "bytes", "cost", "is_recomputable",
"must_keep"}, ...]}, ids from 0 in an executable order; optional are "name",
"is_backward" and {"regions": [{"kind": "checkpoint" | "keep", "nodes": [ids]}]}.
SCHEDULE is a JSON object with the ids in order of execution under "schedule".
Generated graphs: chain:N resnet:STAGES:BLOCKS unet:DEPTH transformer:LAYERS:DROPOUT
lstm:STEPS inception:MODULES:BRANCHES skips:OPERATIONS:SEED random:NODES:SEED.
Exit status: 0 fits, 1 no schedule found or possible, 2 unusable input.)";

int main(int argc, char **argv) {
  CLI::App app{
      "Orders a graph and recomputes values so that its memory stays within a budget, at the least extra cost."};
  stator::remat::Command command;
  app.footer(kFooter);
  auto *instance = app.add_option("INSTANCE", command.instance, "The graph, a JSON file");
  auto *budget = app.add_option("--budget", command.budget, "Most live bytes allowed")
                     ->check(CLI::Range(int64_t(0), int64_t(1) << 60));
  auto *percent =
      app.add_option("--budget-percent", command.percent, "The same in percent of the peak of storing everything")
          ->check(CLI::Range(0.0, 1000000.0))
          ->excludes(budget);
  app.add_option("-o,--output", command.output, "Write the schedule (or the generated graph) there");
  app.add_flag("--keep-order", command.keepOrder, "First runs stay in the given order");
  app.add_option("--moves", command.moves, "Length of the search (default: grows with the graph)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40));
  app.add_option("--seed", command.seed, "Seed of the search (default 1)");
  app.add_flag("--bench", command.bench, "Print one JSON line for machines");
  auto *generate =
      app.add_option("--generate", command.generate, "Make a graph instead (see below)")->excludes(instance);
  try {
    app.parse(argc, argv);
    if (generate->count() == 0 && instance->count() == 0) throw CLI::RequiredError("INSTANCE");
    if (generate->count() == 0 && budget->count() + percent->count() == 0)
      throw CLI::RequiredError("--budget or --budget-percent");
  } catch (const CLI::ParseError &e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return stator::remat::run(command);
}
