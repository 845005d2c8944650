// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A simulated device for tests, without the driver API: PTX text in, results and findings out.
#pragma once

#include "runtime/simulator/Launch.h"

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace stator::sim::test {

class Machine {
public:
  explicit Machine(const char *chip = "a100")
      : chip(findChip(chip)), memory(0, static_cast<uint64_t>(this->chip->globalBytes)) {}

  template <class T> uint64_t upload(const std::vector<T> &values, const char *name = "buffer") {
    uint64_t address = allocate(values.size() * sizeof(T), name);
    std::memcpy(memory.host(address, values.size() * sizeof(T)), values.data(), values.size() * sizeof(T));
    Memory::define(*memory.find(address), address, values.size() * sizeof(T));
    return address;
  }
  uint64_t allocate(uint64_t bytes, const char *name = "buffer") { return memory.allocate(bytes, name); }
  template <class T> std::vector<T> download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), memory.host(address, count * sizeof(T)), count * sizeof(T));
    return values;
  }

  /// Parameters are laid out one behind the other by their own alignment.
  template <class... P> LaunchResult run(const std::string &text, Dim3 grid, Dim3 block, P... params) {
    std::vector<uint8_t> bytes;
    (append(bytes, params), ...);
    return runBytes(text, grid, block, bytes);
  }
  LaunchResult runBytes(const std::string &text, Dim3 grid, Dim3 block, const std::vector<uint8_t> &params) {
    module = ptx::parse(text);
    for (const ptx::Variable &v : module.variables)
      if (v.space == Space::global || v.space == Space::constant) {
        uint64_t address = symbols[v.name] = memory.allocate(v.bytes, v.name);
        std::vector<uint8_t> init = v.init;
        init.resize(v.bytes);
        std::memcpy(memory.host(address, v.bytes), init.data(), v.bytes);
        Memory::define(*memory.find(address), address, v.bytes);
      }
    for (const ptx::Function &f : module.functions) {
      if (!f.isEntry) continue;
      kernel = decodeKernel(module, f, symbols, text);
      Launch launch;
      launch.kernel = kernel.get();
      launch.module = &module;
      launch.memory = &memory;
      launch.chip = chip;
      launch.settings = &settings;
      launch.grid = grid;
      launch.block = block;
      launch.cluster = cluster;
      launch.dynamicShared = dynamicShared;
      launch.cooperative = cooperative;
      launch.params = params;
      if (launch.params.size() < kernel->paramBytes) throw std::runtime_error("too few parameters for " + f.name);
      return execute(launch);
    }
    throw std::runtime_error("no kernel in the text");
  }

  const Chip *chip;
  Memory memory;
  Settings settings;
  Dim3 cluster;
  uint32_t dynamicShared = 0;
  bool cooperative = false;
  ptx::Module module;
  SymbolAddresses symbols;
  std::unique_ptr<Kernel> kernel;

private:
  template <class T> static void append(std::vector<uint8_t> &bytes, T value) {
    bytes.resize((bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    bytes.resize(bytes.size() + sizeof(T));
    std::memcpy(bytes.data() + bytes.size() - sizeof(T), &value, sizeof(T));
  }
};

/// "race, warning:barrier" for what a launch found; "" when it is clean.
inline std::string kindsOf(const LaunchResult &result) {
  std::string text;
  for (const Finding &f : result.findings) {
    std::string kind = (f.severity == Severity::warning ? "warning:" : "") + std::string(spell(f.kind));
    if (text.find(kind) == std::string::npos) text += (text.empty() ? "" : " ") + kind;
  }
  return text;
}

} // namespace stator::sim::test
