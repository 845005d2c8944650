// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-plan/Command.h"

#include "tools/stator-plan/Drawing.h"
#include "tools/stator-plan/Generate.h"
#include "tools/stator-plan/InstanceFile.h"

#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>

namespace stator::memory {
namespace {

std::string withFile(const std::string &path, std::istream &standardInput, std::string (*read)(std::istream &, void *),
                     void *context) {
  if (path == "-") return read(standardInput, context);
  std::ifstream file(path, std::ios::binary);
  if (!file || file.peek() == std::ifstream::traits_type::eof())
    return path + (file.is_open() ? ": is empty or cannot be read" : ": cannot be opened");
  return read(file, context);
}

std::string load(const CommandOptions &options, std::istream &in, Instance &instance) {
  if (options.generate) return generateInstance(options.instance, instance);
  std::pair<const CommandOptions &, Instance &> context(options, instance);
  return withFile(
      options.instance, in,
      [](std::istream &stream, void *raw) {
        auto &[options, instance] = *static_cast<std::pair<const CommandOptions &, Instance &> *>(raw);
        return readInstance(stream, options.instance, instance);
      },
      &context);
}

const char *outcomeName(Outcome outcome) {
  switch (outcome) {
  case Outcome::Optimal: return "optimal";
  case Outcome::Feasible: return "feasible";
  case Outcome::Infeasible: return "infeasible";
  case Outcome::NotFound: return "not found";
  }
  return "";
}

double ratio(const ArenaPlan &arena) {
  return arena.bound ? static_cast<double>(arena.bytes) / static_cast<double>(arena.bound) : 1.0;
}

void report(const CommandOptions &options, const Instance &instance, const ArenaPlan &arena, double seconds,
            std::ostream &out) {
  char numbers[160];
  if (options.json) {
    std::snprintf(numbers, sizeof numbers, "\"ratio\": %.6f, \"seconds\": %.4f", ratio(arena), seconds);
    out << "{\"buffers\": " << instance.ids.size() << ", \"conflicts\": " << arena.conflicts
        << ", \"bound\": " << arena.bound << ", \"lower_bound\": " << arena.lowerBound << ", \"arena\": " << arena.bytes
        << ", \"outcome\": \"" << outcomeName(arena.outcome) << "\", \"method\": \"" << arena.method
        << "\", \"rounds\": " << arena.rounds << ", \"nodes\": " << arena.nodes << ", \"steps\": " << arena.steps
        << ", " << numbers << "}\n";
    return;
  }
  std::snprintf(numbers, sizeof numbers, "ratio %.4f, %.3f CPU seconds", ratio(arena), seconds);
  out << outcomeName(arena.outcome) << ": " << instance.ids.size() << " buffers, arena " << arena.bytes << " ("
      << humanBytes(arena.bytes) << "), bound " << arena.bound << ", " << numbers << ", by " << arena.method << ", "
      << arena.nodes << " nodes\n";
}

int check(const CommandOptions &options, const Instance &instance, std::istream &in, std::ostream &out,
          std::ostream &err) {
  struct Context {
    const std::string &name;
    const Instance &instance;
    Plan plan;
  } context{options.checkFile, instance, {}};
  std::string wrong = withFile(
      options.checkFile, in,
      [](std::istream &stream, void *raw) {
        auto &context = *static_cast<Context *>(raw);
        return readPlan(stream, context.name, context.instance, context.plan);
      },
      &context);
  if (wrong.empty()) wrong = verifyPlan(instance.problem, context.plan);
  const int64_t bytes = context.plan.arenas.empty() ? 0 : context.plan.arenas[0].bytes;
  if (wrong.empty() && options.capacity != kNone && bytes > options.capacity)
    wrong = "the plan needs " + std::to_string(bytes) + " bytes, more than the capacity";
  if (!wrong.empty()) {
    err << "stator-plan: " << wrong << "\n";
    return 1;
  }
  out << "correct: " << instance.ids.size() << " buffers, arena " << bytes << " (" << humanBytes(bytes) << ")\n";
  return 0;
}

} // namespace

int runCommand(const CommandOptions &options, std::istream &in, std::ostream &out, std::ostream &err) {
  Instance instance;
  auto refuse = [&](const std::string &why) {
    err << "stator-plan: " << why << "\n";
    return 1;
  };
  if (std::string wrong = load(options, in, instance); !wrong.empty()) return refuse(wrong);
  instance.problem.arenas[0].capacity = options.capacity;
  if (!options.instanceFile.empty())
    if (std::string wrong = writeWhole(options.instanceFile, formatInstance(instance)); !wrong.empty())
      return refuse(wrong);
  if (!options.checkFile.empty()) return check(options, instance, in, out, err);

  // Of this process, not of the wall's clock: others may use the machine, too.
  const std::clock_t start = std::clock();
  Plan plan = planMemory(instance.problem, options.effort);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (!plan.error.empty()) return refuse(plan.error);
  if (std::string wrong = verifyPlan(instance.problem, plan); !wrong.empty())
    return refuse("a fault of the planner, please report the instance: " + wrong);
  const ArenaPlan &arena = plan.arenas[0];
  report(options, instance, arena, seconds, options.planFile == "-" ? err : out);
  if (arena.outcome == Outcome::Infeasible)
    return refuse("no plan fits " + std::to_string(options.capacity) + " bytes: " +
                  (arena.bound > options.capacity ? "so many as " + std::to_string(arena.bound) + " are live at once"
                                                  : "the search has excluded it"));
  if (arena.outcome == Outcome::NotFound)
    return refuse("found no plan within " + std::to_string(options.capacity) + " bytes; the best needs " +
                  std::to_string(arena.bytes) + " (more --nodes and --steps may find one)");
  // What is asked for is written only if there is a plan that does what was asked.
  if (options.planFile == "-")
    out << formatPlan(instance, plan);
  else if (!options.planFile.empty())
    if (std::string wrong = writeWhole(options.planFile, formatPlan(instance, plan)); !wrong.empty())
      return refuse(wrong);
  if (!options.drawingFile.empty()) {
    std::string title = options.instance.substr(options.instance.rfind('/') + 1) + ": " +
                        std::to_string(instance.ids.size()) + " buffers in " + humanBytes(arena.bytes) + ", " +
                        outcomeName(arena.outcome);
    if (std::string wrong = writeWhole(options.drawingFile, drawPlan(instance, plan, title)); !wrong.empty())
      return refuse(wrong);
  }
  return 0;
}

} // namespace stator::memory
