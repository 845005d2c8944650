// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Program.h"
#include "runtime/simulator/ptx/Lexer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace stator::sim {

namespace {

/// May PTX for `target` run on `chip`? Plain targets run on later chips, `a` targets on their own only, `f` ones on
/// later chips of their family.
bool targetFits(const std::string &target, const Chip &chip) {
  if (target.rfind("sm_", 0) != 0) return false;
  char *end = nullptr;
  long number = std::strtol(target.c_str() + 3, &end, 10);
  if (*end == 'a') return number == chip.capability();
  if (*end == 'f') return number / 10 == chip.major && number <= chip.capability();
  return *end == '\0' && number <= chip.capability();
}

bool isModuleVariable(const ptx::Variable &v) { return v.space == Space::global || v.space == Space::constant; }

void placeVariables(Memory &memory, Program &program) {
  for (const ptx::Variable &v : program.module.variables) {
    if (!isModuleVariable(v)) continue;
    uint64_t address = memory.allocate(std::max<uint64_t>(v.bytes, 1), v.name, Allocation::Kind::module);
    if (!address) throw DecodeError("not enough memory for variable " + v.name);
    program.symbols[v.name] = address;
    program.sizes[v.name] = v.bytes;
    program.allocations.push_back(address);
  }
  for (const ptx::Variable &v : program.module.variables) {
    if (!isModuleVariable(v)) continue;
    Allocation *a = memory.find(program.symbols[v.name]);
    // Variables without an initialiser are zero.
    std::memset(a->data, 0, a->bytes);
    Memory::define(*a, a->base, a->bytes);
    std::copy_n(v.init.begin(), std::min<uint64_t>(v.init.size(), a->bytes), a->data);
    for (const ptx::Relocation &r : v.relocations) {
      auto symbol = program.symbols.find(r.symbol);
      // Calls through tables of functions are refused where a kernel makes them; others may share the module.
      const auto &functions = program.module.functions;
      bool isFunction =
          std::any_of(functions.begin(), functions.end(), [&](const auto &f) { return f.name == r.symbol; });
      if (symbol == program.symbols.end() && isFunction) continue;
      if (symbol == program.symbols.end())
        throw DecodeError("line " + std::to_string(v.line) + ": initialiser of " + v.name + " names unknown symbol " +
                          r.symbol);
      uint64_t value = symbol->second + static_cast<uint64_t>(r.addend), bytes = std::min(r.bytes, 8u);
      if (r.offset > a->bytes || bytes > a->bytes - r.offset)
        throw DecodeError("line " + std::to_string(v.line) + ": " + v.name + " has too many initialisers");
      std::memcpy(a->data + r.offset, &value, bytes);
    }
    a->readOnly = v.space == Space::constant;
  }
}

std::string shapeText(const Dim3 &d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
}

} // namespace

std::unique_ptr<Program> loadProgram(Memory &memory, const Chip &chip, std::string text, std::string &why,
                                     LoadFault &fault) {
  auto program = std::make_unique<Program>();
  program->text = std::move(text);
  fault = LoadFault::text;
  try {
    program->module = ptx::parse(program->text);
    if (!targetFits(program->module.target, chip)) {
      why = "PTX for " + program->module.target + " does not run on " + chip.name + " (sm_" +
            std::to_string(chip.capability()) + ")";
      fault = LoadFault::target;
      return nullptr;
    }
    placeVariables(memory, *program);
    for (const ptx::Function &f : program->module.functions)
      if (f.isEntry && f.hasBody)
        program->kernels[f.name] = decodeKernel(program->module, f, program->symbols, program->text);
  } catch (const std::exception &e) {
    if (dynamic_cast<const ptx::VersionError *>(&e)) fault = LoadFault::version;
    why = e.what();
    unloadProgram(memory, *program);
    return nullptr;
  }
  fault = LoadFault::none;
  return program;
}

void unloadProgram(Memory &memory, const Program &program) {
  for (uint64_t address : program.allocations) memory.free(address);
}

LaunchLimits defaultLimits(const Kernel &kernel) {
  LaunchLimits limits;
  limits.maxDynamicShared = std::max(0, limits.maxDynamicShared - static_cast<int>(kernel.sharedBytes));
  return limits;
}

Refusal checkLaunch(const Launch &r, const LaunchLimits &limits, bool clusterGiven, std::string &why) {
  const Chip &chip = *r.chip;
  const ptx::Function &f = *r.kernel->function;
  auto refuse = [&](Refusal refusal, const std::string &text) {
    why = "launch of " + r.kernel->name + " refused: " + text;
    return refusal;
  };
  auto invalid = [&](const std::string &text) { return refuse(Refusal::invalidValue, text); };
  auto is = [](const Dim3 &d, const uint32_t (&v)[3]) { return d.x == v[0] && d.y == v[1] && d.z == v[2]; };
  if (!r.grid.count() || !r.block.count()) return invalid("grid or block is empty");
  if (r.grid.x > INT32_MAX || r.grid.y > 65535 || r.grid.z > 65535)
    return invalid("a grid of " + shapeText(r.grid) + " is larger than 2147483647x65535x65535");
  if (r.block.x > 1024 || r.block.y > 1024 || r.block.z > 64 || r.block.count() > 1024)
    return invalid("a block of " + shapeText(r.block) + " threads is larger than 1024 in all, or 64 along z");
  uint64_t limit = uint64_t{f.maxThreads[0]} * f.maxThreads[1] * f.maxThreads[2];
  if (f.maxThreads[0] && r.block.count() > limit)
    return invalid("a block of " + std::to_string(r.block.count()) + " threads exceeds .maxntid (" +
                   std::to_string(limit) + ")");
  if (f.requiredThreads[0] && !is(r.block, f.requiredThreads))
    return invalid("a block of " + shapeText(r.block) + " threads is not what .reqntid requires");
  if (static_cast<int64_t>(r.dynamicShared) > limits.maxDynamicShared)
    return invalid(std::to_string(r.dynamicShared) + " bytes of dynamic shared memory exceed the function's limit of " +
                   std::to_string(limits.maxDynamicShared));
  if (int64_t{r.kernel->sharedBytes} + r.dynamicShared > chip.sharedPerBlockOptin)
    return invalid(std::to_string(int64_t{r.kernel->sharedBytes} + r.dynamicShared) +
                   " bytes of shared memory exceed the chip's " + std::to_string(chip.sharedPerBlockOptin));
  uint64_t size = r.cluster.count();
  if (clusterGiven || f.requiredCluster[0]) {
    if (chip.major < 9 && size > 1) return refuse(Refusal::clusterSize, std::string(chip.name) + " has no clusters");
    if (f.requiredCluster[0] && !is(r.cluster, f.requiredCluster))
      return refuse(Refusal::clusterSize,
                    "a cluster of " + shapeText(r.cluster) + " is not what .reqnctapercluster requires");
    unsigned most = limits.nonPortableCluster ? 16 : 8;
    if (size == 0 || size > most)
      return refuse(Refusal::clusterSize, "a cluster has 1 to " + std::to_string(most) + " blocks");
    if (r.grid.x % r.cluster.x || r.grid.y % r.cluster.y || r.grid.z % r.cluster.z)
      return invalid("a grid of " + shapeText(r.grid) + " is no multiple of the cluster " + shapeText(r.cluster));
  }
  unsigned perSm = blocksPerSm(*r.kernel, chip, r.threads(), r.dynamicShared);
  if (perSm == 0)
    return refuse(Refusal::outOfResources, "a multiprocessor has not enough registers or threads for one block");
  if (r.cooperative && r.grid.count() > uint64_t{perSm} * static_cast<uint64_t>(chip.sms))
    return refuse(Refusal::cooperativeTooLarge, "the chip holds " +
                                                    std::to_string(uint64_t{perSm} * static_cast<uint64_t>(chip.sms)) +
                                                    " of " + std::to_string(r.grid.count()) + " cooperating blocks");
  return Refusal::none;
}

} // namespace stator::sim
