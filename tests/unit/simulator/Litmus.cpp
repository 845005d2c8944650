// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/simulator/Litmus.h"
#include "runtime/simulator/TensorMap.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace stator::sim::test {

namespace {

unsigned widthOf(const std::string &type) {
  return type == "b8" || type == "u8" ? 1 : type.substr(1) == "16" ? 2 : type.substr(1) == "64" ? 8 : 4;
}

uint64_t bitsOf(const std::string &type, double value) {
  if (type == "f32") {
    auto f = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    return bits;
  }
  if (type == "f16") { // small integers
    auto f = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    return value == 0 ? 0 : (bits >> 16 & 0x8000) | ((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 0x3ff);
  }
  if (type == "f64") {
    uint64_t bits;
    std::memcpy(&bits, &value, 8);
    return bits;
  }
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

void readLaunch(std::istringstream &in, Litmus &litmus, const std::string &path) {
  std::string word;
  in >> word >> litmus.grid.x >> litmus.block.x;
  while (in >> word) {
    std::string value = word.substr(word.find('=') + 1);
    if (word.rfind("shared=", 0) == 0)
      litmus.shared = static_cast<uint32_t>(std::stoul(value));
    else if (word.rfind("chip=", 0) == 0)
      litmus.chip = value;
    else if (word.rfind("cluster=", 0) == 0)
      litmus.cluster.x = static_cast<uint32_t>(std::stoul(value));
    else if (word == "cooperative")
      litmus.cooperative = true;
    else
      throw std::runtime_error(path + ": unknown word " + word);
  }
}

Litmus::Argument readArgument(std::istringstream &in) {
  Litmus::Argument a;
  in >> a.type;
  a.isBuffer = a.type == "buffer";
  a.isMap = a.type == "map";
  if (a.isMap) {
    in >> a.count >> a.type >> a.dims[0] >> a.dims[1] >> a.box[0] >> a.box[1] >> a.swizzle;
  } else if (a.isBuffer) {
    in >> a.type >> a.count >> a.fill;
  } else {
    double value = 0;
    in >> value;
    a.bits = bitsOf(a.type, value);
  }
  return a;
}

Settings::Async asyncNamed(const std::string &word) {
  return word == "early" ? Settings::Async::early : word == "late" ? Settings::Async::late : Settings::Async::random;
}

TensorMap mapOf(const Litmus::Argument &a, uint64_t address) {
  TensorMap map;
  map.type = a.type == "f16" ? 6 : a.type == "f32" ? 7 : 2; // u32
  map.rank = 2;
  map.address = address;
  for (unsigned d = 0; d < 2; ++d) map.dims[d] = a.dims[d], map.box[d] = a.box[d], map.steps[d] = 1;
  map.strides[0] = uint64_t{a.dims[0]} * map.elementBytes();
  map.swizzle = static_cast<uint8_t>(a.swizzle);
  return map;
}

/// The parameter block; `addresses` receives the arguments' values.
std::vector<uint8_t> placeArguments(const Litmus &litmus, Machine &machine, std::vector<uint64_t> &addresses) {
  std::vector<uint8_t> params;
  for (const Litmus::Argument &a : litmus.arguments) {
    if (a.isMap) {
      params.resize((params.size() + 63) / 64 * 64 + TensorMap::kBytes);
      mapOf(a, addresses.at(a.count)).write(params.data() + params.size() - TensorMap::kBytes);
      addresses.push_back(0);
      continue;
    }
    uint64_t value = a.bits;
    unsigned width = a.isBuffer ? 8 : widthOf(a.type), element = widthOf(a.type);
    if (a.isBuffer && a.fill == "undefined") {
      value = machine.allocate(a.count * element);
    } else if (a.isBuffer) {
      std::vector<uint8_t> bytes(a.count * element);
      for (size_t i = 0; i < a.count; ++i) {
        uint64_t bits = bitsOf(a.type, a.fill == "iota"   ? static_cast<double>(i)
                                       : a.fill == "zero" ? 0
                                                          : std::stod(a.fill));
        std::memcpy(bytes.data() + i * element, &bits, element);
      }
      value = machine.upload(bytes);
    }
    addresses.push_back(value);
    params.resize((params.size() + width - 1) / width * width);
    params.insert(params.end(), reinterpret_cast<uint8_t *>(&value), reinterpret_cast<uint8_t *>(&value) + width);
  }
  for (const Litmus::Tensor &t : litmus.tensors) {
    uint64_t address = addresses.at(t.argument) + t.offset;
    if (!machine.memory.addRegion(address, t.bytes, t.name)) throw std::runtime_error("no place for " + t.name);
    Memory::define(*machine.memory.find(address), address, t.bytes);
    if (t.dead) machine.memory.endRegion(address);
  }
  return params;
}

std::string join(const std::set<std::string> &words) {
  std::string text;
  for (const std::string &word : words) text += (text.empty() ? "" : " ") + word;
  return text.empty() ? "clean" : text;
}

std::string kindOf(const Finding &f) {
  return (f.severity == Severity::warning ? "warning:" : "") + std::string(spell(f.kind));
}

void judgeRun(const Litmus &litmus, uint64_t seed, Settings::Async mode, Verdict &verdict) {
  Machine machine(litmus.chip.c_str());
  machine.settings.schedule = seed;
  machine.settings.async = mode;
  machine.cluster = litmus.cluster;
  machine.dynamicShared = litmus.shared;
  machine.cooperative = litmus.cooperative;
  std::vector<uint64_t> addresses;
  std::vector<uint8_t> params = placeArguments(litmus, machine, addresses);
  LaunchResult run = machine.runBytes(litmus.text, litmus.grid, litmus.block, params);
  verdict.found.clear();
  verdict.places.clear();
  std::map<uint32_t, std::set<std::string>> lines;
  std::string details;
  for (const Finding &f : run.findings) {
    verdict.found.insert(kindOf(f));
    lines[f.line].insert(kindOf(f));
    verdict.places += (verdict.places.empty() ? "" : ", ") + kindOf(f) + " line " + std::to_string(f.line);
    details += toText(f) + "\n";
  }
  if (verdict.found != litmus.expected)
    verdict.wrong = "expected " + join(litmus.expected) + ", found " + join(verdict.found) + "\n" + details;
  if (!litmus.lines.empty() && lines != litmus.lines)
    verdict.wrong += "found at other lines: " + verdict.places + "\n" + details;
  for (size_t i = 0; i < litmus.result.size(); ++i) {
    unsigned element = widthOf(litmus.resultType);
    uint64_t got = 0, want = bitsOf(litmus.resultType, litmus.result[i]);
    std::memcpy(&got, machine.memory.host(addresses[litmus.resultArgument] + i * element, element), element);
    if (element < 8) want &= (uint64_t{1} << (8 * element)) - 1;
    if (got != want)
      verdict.wrong +=
          "element " + std::to_string(i) + " is " + std::to_string(got) + ", not " + std::to_string(want) + "\n";
  }
  if (!verdict.wrong.empty())
    verdict.wrong =
        "seed " + std::to_string(seed) + " async " + std::to_string(static_cast<int>(mode)) + ": " + verdict.wrong;
}

} // namespace

Litmus readLitmus(const std::string &path) {
  Litmus litmus;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::string line, word;
  for (uint32_t number = 1; std::getline(file, line); ++number) {
    litmus.text += line + "\n";
    if (size_t mark = line.find("//!"); mark != std::string::npos) {
      std::istringstream in(line.substr(mark + 3));
      while (in >> word) litmus.lines[number].insert(word);
    }
    if (line.rfind("// ", 0) != 0) continue;
    std::istringstream in(line.substr(3));
    in >> word;
    if (word == "launch:") {
      readLaunch(in, litmus, path);
    } else if (word == "arg:") {
      litmus.arguments.push_back(readArgument(in));
    } else if (word == "tensor:" || word == "dead:") {
      Litmus::Tensor t;
      in >> t.argument >> t.offset >> t.bytes >> t.name;
      t.dead = word == "dead:";
      litmus.tensors.push_back(t);
    } else if (word == "seeds:") {
      litmus.seeds.clear();
      for (uint64_t seed; in >> seed;) litmus.seeds.push_back(seed);
    } else if (word == "async:") {
      litmus.modes.clear();
      while (in >> word) litmus.modes.push_back(asyncNamed(word));
    } else if (word == "expect:") {
      while (in >> word)
        if (word != "clean") litmus.expected.insert(word);
    } else if (word == "result:") {
      in >> litmus.resultArgument >> litmus.resultType;
      for (double value; in >> value;) litmus.result.push_back(value);
    }
  }
  return litmus;
}

Verdict judgeLitmus(const Litmus &litmus) {
  Verdict verdict;
  for (uint64_t seed : litmus.seeds)
    for (Settings::Async mode : litmus.modes) {
      judgeRun(litmus, seed, mode, verdict);
      if (!verdict.wrong.empty()) return verdict;
    }
  return verdict;
}

std::vector<std::string> allLitmus() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(kLitmusFolder))
    if (entry.path().extension() == ".ptx") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<LitmusItem> litmusTable() {
  std::vector<LitmusItem> items;
  std::ifstream file(std::string(kLitmusFolder) + "/table.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    LitmusItem item;
    size_t first = line.find('|'), second = line.find('|', first + 1);
    if (second == std::string::npos) throw std::runtime_error("table.txt: " + line);
    item.number = static_cast<unsigned>(std::stoul(line));
    item.title = line.substr(first + 2, second - first - 3);
    std::istringstream names(line.substr(second + 1));
    for (std::string name; names >> name;) item.files.push_back(name);
    items.push_back(item);
  }
  return items;
}

} // namespace stator::sim::test
