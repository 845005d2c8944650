// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-ptx/Command.h"

#include <CLI/CLI.hpp>
#include <iostream>

int main(int argc, char **argv) {
  using stator::sim::Settings;
  stator::ptxtool::CommandOptions options;
  std::string chip = "a100";
  CLI::App app("Runs one kernel of a PTX file on a simulated GPU and judges it: bounds, races, uninitialised reads,\n"
               "barriers, asynchronous copies.",
               "stator-ptx");
  app.add_option("FILE", options.file, "PTX text; '-' reads standard input")->required();
  app.add_flag("--list", options.list, "Print the kernels with their parameters and stop");
  app.add_option("--launch", options.kernel, "The kernel; may be left out where the file has one");
  app.add_option("--grid", options.grid, "Blocks: x[,y[,z]]")->capture_default_str();
  app.add_option("--block", options.block, "Threads of a block: x[,y[,z]]")->capture_default_str();
  app.add_option("--cluster", options.cluster, "Blocks of a cluster: x[,y[,z]]");
  app.add_option("--shared", options.shared, "Bytes of dynamic shared memory")->check(CLI::Range(0u, 1u << 24));
  app.add_flag("--cooperative", options.cooperative, "All blocks must fit the device together");
  app.add_flag("--non-portable-cluster", options.nonPortableCluster, "Allow clusters of more than 8 blocks");
  app.add_option("--arg", options.arguments,
                 "One argument, in order: [NAME=]SPEC, where SPEC is\n"
                 "  TYPE:NUMBER                          a number (u32, s64, f32, f16, b8, ..)\n"
                 "  zeros|ones|iota|undefined[:TYPE]:N   a buffer; N is a count or a shape as in 64x32, TYPE is f32\n"
                 "  fill[:TYPE]:N:NUMBER                 a buffer of one number\n"
                 "  random[:TYPE]:N:SEED[:LOW:HIGH]      a buffer of random numbers, by default in [-1,1)\n"
                 "  list[:TYPE]:A,B,..                   a buffer of these numbers\n"
                 "  file:PATH.npy                        a buffer from a NumPy file\n"
                 "  same:INDEX[:BYTES]                   a pointer into the buffer of an earlier argument\n"
                 "  bytes:HEX                            a structure passed by value")
      ->allow_extra_args(false);
  app.add_option("--print", options.prints, "Print a buffer afterwards: INDEX|NAME[:FROM[:COUNT]]")
      ->allow_extra_args(false);
  app.add_option("--out", options.outputs, "Write a buffer afterwards: INDEX|NAME=FILE.npy")->allow_extra_args(false);
  app.add_option("--trace", options.trace, "Print every instruction of a warp: [BLOCKX[,Y[,Z]]:]WARP");
  app.add_option("--trace-lanes", options.traceLanes, "Show the values of these lanes only, e.g. 0,5");
  app.add_option("--trace-limit", options.traceLimit, "Lines after which the trace stops")->capture_default_str();
  app.add_flag("--counters", options.counters, "Print what the launch did, counted");
  app.add_flag("--lines", options.lines, "Print counters per PTX line");
  app.add_flag("--json", options.json, "Print one JSON object with everything");
  app.add_option("--chip", chip, "a100, h100, h200, b200, l40s, t4, a10, rtx5090")->capture_default_str();
  app.add_option("--schedule", options.settings.schedule, "Seed of the schedule; 0 is the plain order");
  std::map<std::string, Settings::Async> asyncModes{
      {"early", Settings::Async::early}, {"late", Settings::Async::late}, {"random", Settings::Async::random}};
  app.add_option("--async", options.settings.async, "When asynchronous copies take effect: early, late, random")
      ->transform(CLI::CheckedTransformer(asyncModes));
  std::map<std::string, Settings::Numerics> numericModes{{"nominal", Settings::Numerics::nominal},
                                                         {"adversarial", Settings::Numerics::adversarial}};
  app.add_option("--numerics", options.settings.numerics,
                 "Approximate instructions: nominal, or adversarial (the largest documented error)")
      ->transform(CLI::CheckedTransformer(numericModes));
  app.add_option("--threads", options.settings.threads, "Host threads; 0: as many as cores")->check(CLI::Range(0, 256));
  app.add_option("--step-limit", options.settings.stepLimit, "Warp instructions before the launch times out");
  bool noRaces = false;
  app.add_flag("--no-races", noRaces, "Do not look for races (faster)");
  app.footer("Examples:\n"
             "  stator-ptx kernel.ptx --list\n"
             "  stator-ptx saxpy.ptx --launch saxpy --grid 4 --block 256 --arg u32:1000 --arg f32:2 \\\n"
             "      --arg x=iota:1000 --arg y=ones:1000 --print y:0:8 --counters\n"
             "  stator-ptx reduce.ptx --grid 8 --block 128 --arg file:in.npy --arg sum=zeros:1 --out sum=out.npy \\\n"
             "      --schedule 7\n"
             "  stator-ptx gemm.ptx --chip h100 --async late --block 128 --shared 65536 --arg random:f16:64x64:1 \\\n"
             "      --arg random:f16:64x64:2 --arg undefined:f32:64x64 --trace 0,0,0:2 --trace-lanes 0,31\n\n"
             "Exit status: 0 nothing was found (warnings apart), 1 something was found, 2 nothing ran.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? 2 : 0;
  }
  options.settings.chips = {chip};
  options.settings.races = !noRaces;
  return stator::ptxtool::runCommand(options, std::cin, std::cout, std::cerr);
}
