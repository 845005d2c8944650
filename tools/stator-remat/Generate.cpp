// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-remat/Generate.h"

#include <algorithm>
#include <cstdlib>

namespace stator::remat::generate {

namespace {
/// Builds a forward pass and derives the backward pass from it.
class Network {
public:
  /// What the backward pass of an operation reads.
  enum Saves { Nothing = 0, Inputs = 1, Output = 2 };

  /// A forward operation; with `weights`, the backward pass makes a kept gradient of so many bytes.
  int32_t op(std::vector<int32_t> inputs, int64_t bytes, double cost, int saves = Inputs, int64_t weights = 0,
             bool recomputable = true) {
    graph.nodes.push_back(
        {"f" + std::to_string(graph.nodes.size()), std::move(inputs), bytes, cost, recomputable, false});
    saved.push_back(saves);
    weightBytes.push_back(weights);
    return int32_t(graph.nodes.size()) - 1;
  }
  int64_t bytes(int32_t v) const { return graph.nodes[v].bytes; }

  /// Appends the backward pass from the last operation, the loss.
  Graph finish();

private:
  int32_t grad(const char *kind, int32_t of, std::vector<int32_t> inputs, int64_t bytes, double cost, bool keep) {
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    graph.nodes.push_back({kind + std::to_string(of), std::move(inputs), bytes, cost, false, keep, true});
    return int32_t(graph.nodes.size()) - 1;
  }
  Graph graph;
  std::vector<int> saved;
  std::vector<int64_t> weightBytes;
};
} // namespace

Graph Network::finish() {
  int32_t forward = int32_t(graph.nodes.size());
  graph.nodes.back().keep = true;
  std::vector<std::vector<int32_t>> parts(forward); // contributions to the gradient of each value
  for (int32_t v = forward; v-- > 0;) {
    const Node node = graph.nodes[v];
    int32_t g;
    if (v == forward - 1)
      g = grad("seed", v, {v}, node.bytes, 1, false);
    else if (parts[v].empty())
      continue;
    else if (parts[v].size() == 1)
      g = parts[v][0];
    else
      g = grad("sum", v, parts[v], node.bytes, double(node.bytes) / 1024 * double(parts[v].size()), false);
    std::vector<int32_t> reads{g};
    if (saved[v] & Inputs) reads.insert(reads.end(), node.inputs.begin(), node.inputs.end());
    if (saved[v] & Output) reads.push_back(v);
    for (int32_t i : node.inputs)
      if (graph.nodes[i].recomputable) parts[i].push_back(grad("g", i, reads, bytes(i), node.cost, false));
    if (weightBytes[v] > 0) grad("w", v, reads, weightBytes[v], node.cost, true);
  }
  return std::move(graph);
}

Graph chain(int length) {
  Network net;
  int32_t v = net.op({}, 1 << 20, 1000, Network::Output);
  for (int k = 1; k < length; ++k) v = net.op({v}, 1 << 20, 1000, Network::Inputs | Network::Output);
  return net.finish();
}

/// Convolution, normalisation, activation.
static int32_t convolution(Network &net, int32_t x, int64_t bytes, double cost) {
  int32_t c = net.op({x}, bytes, cost, Network::Inputs, 36864);
  int32_t s = net.op({c}, 512, double(bytes) / 1024, Network::Inputs);
  return net.op({c, s}, bytes, double(bytes) / 512, Network::Inputs, 512);
}

Graph resnet(int stages, int blocks) {
  Network net;
  int64_t bytes = 32 << 20;
  int32_t x = convolution(net, net.op({}, bytes / 4, 8192, 0), bytes, 60000);
  for (int s = 0; s < stages; ++s) {
    for (int b = 0; b < blocks; ++b) {
      int32_t y = convolution(net, convolution(net, x, bytes, 70000), bytes, 70000);
      x = net.op({x, y}, bytes, double(bytes) / 400, Network::Output);
    }
    bytes /= 2;
    x = convolution(net, x, bytes, 50000);
  }
  net.op({x}, 4, 1000, Network::Inputs);
  return net.finish();
}

Graph unet(int depth) {
  Network net;
  int64_t bytes = 16 << 20;
  std::vector<int32_t> across;
  int32_t x = net.op({}, bytes / 8, 4096, 0);
  for (int d = 0; d < depth; ++d, bytes /= 2) {
    x = convolution(net, convolution(net, x, bytes, 40000), bytes, 60000);
    across.push_back(x);
    x = net.op({x}, bytes / 4, double(bytes) / 1024, Network::Inputs);
  }
  x = convolution(net, x, bytes, 60000);
  for (int d = depth; d-- > 0;) {
    bytes *= 2;
    int32_t up = net.op({x}, bytes, 30000, Network::Inputs, 4096);
    x = convolution(net, net.op({across[d], up}, 2 * bytes, double(bytes) / 256, Network::Nothing), bytes, 90000);
    x = convolution(net, x, bytes, 60000);
  }
  net.op({x}, 4, 1000, Network::Inputs);
  return net.finish();
}

Graph transformer(int layers, bool dropout) {
  Network net;
  const int64_t width = 4 << 20;
  auto drop = [&](int32_t x) {
    if (!dropout) return x;
    int32_t noise = net.op({}, net.bytes(x), 2000, 0, 0, false);
    int32_t mask = net.op({noise}, net.bytes(x) / 4, 3000, 0);
    return net.op({x, mask}, net.bytes(x), 6000, Network::Inputs);
  };
  int32_t x = net.op({}, width, 8000, 0, width);
  for (int l = 0; l < layers; ++l) {
    int32_t n = net.op({x}, width, 12000, Network::Inputs, 2048);
    int32_t q = net.op({n}, width, 9000, Network::Inputs, 262144),
            k = net.op({n}, width, 9000, Network::Inputs, 262144);
    int32_t scores = net.op({q, k}, 2 * width, 16000, Network::Inputs);
    int32_t p = drop(net.op({scores}, 2 * width, 24000, Network::Output));
    int32_t v = net.op({n}, width, 9000, Network::Inputs, 262144);
    int32_t a = drop(net.op({net.op({p, v}, width, 16000, Network::Inputs)}, width, 9000, Network::Inputs, 262144));
    x = net.op({x, a}, width, 12000, Network::Nothing);
    n = net.op({x}, width, 12000, Network::Inputs, 2048);
    int32_t h = net.op({net.op({n}, 4 * width, 30000, Network::Inputs, 1 << 20)}, 4 * width, 32000, Network::Inputs);
    x = net.op({x, drop(net.op({h}, width, 30000, Network::Inputs, 1 << 20))}, width, 12000, Network::Nothing);
  }
  int32_t logits = net.op({x}, 12 * width, 90000, Network::Inputs, width);
  net.op({net.op({logits}, 12 * width, 100000, Network::Output)}, 4, 50000, Network::Inputs);
  return net.finish();
}

Graph lstm(int timeSteps) {
  Network net;
  const int64_t b = 1 << 18;
  int32_t h = net.op({}, b, 100, 0), c = net.op({}, b, 100, 0);
  std::vector<int32_t> outputs;
  for (int t = 0; t < timeSteps; ++t) {
    int32_t gates = net.op({h}, 4 * b, 9000, Network::Inputs, 65536);
    int32_t ifo = net.op({gates}, 3 * b, 1500, Network::Output), g = net.op({gates}, b, 600, Network::Output);
    c = net.op({c, ifo, g}, b, 1500, Network::Inputs);
    int32_t t2 = net.op({c}, b, 500, Network::Output);
    h = net.op({ifo, t2}, b, 1000, Network::Inputs);
    outputs.push_back(h);
  }
  net.op({net.op(outputs, b * timeSteps / 4, 3000, Network::Inputs)}, 4, 500, Network::Inputs);
  return net.finish();
}

Graph inception(int modules, int branches) {
  Network net;
  int64_t bytes = 8 << 20;
  int32_t x = net.op({}, bytes, 8192, 0);
  for (int m = 0; m < modules; ++m) {
    std::vector<int32_t> parts;
    for (int k = 0; k < branches; ++k) {
      int32_t y = net.op({x}, bytes / branches, 5000 + 900 * k, Network::Inputs, 4096);
      for (int d = 0; d < k % 4; ++d) y = convolution(net, y, bytes / branches, 9000 + 1000 * d);
      parts.push_back(y);
    }
    x = net.op(parts, bytes, double(bytes) / 512, Network::Nothing);
    if (m % 3 == 2) {
      bytes /= 2;
      x = net.op({x}, bytes, double(bytes) / 256, Network::Inputs);
    }
  }
  net.op({x}, 4, 1000, Network::Inputs);
  return net.finish();
}

Graph skips(int forward, uint64_t seed) {
  Network net;
  Random random(seed);
  net.op({}, 1 << 20, 1000, 0);
  for (int k = 1; k + 1 < forward; ++k) {
    std::vector<int32_t> inputs{k - 1};
    while (random.below(3) == 0) {
      int32_t back = std::max(0, k - 1 - int32_t(random.below(random.below(4) ? 8 : 60)));
      if (std::find(inputs.begin(), inputs.end(), back) == inputs.end()) inputs.push_back(back);
    }
    int64_t bytes = int64_t(64 << 10) << random.below(6);
    net.op(inputs, bytes, double(200 + random.below(4000)), int(random.below(4)), random.below(2) * 4096,
           random.below(30) > 0);
  }
  net.op({forward - 2}, 4, 100, Network::Inputs);
  return net.finish();
}

Graph random(int n, uint64_t seed) {
  Random random(seed);
  Graph graph;
  const uint32_t spread = 1 + random.below(4);
  const bool mirrored = random.below(3) > 0; // the second half reads the first in reverse, as a backward pass does
  for (int32_t k = 0; k < n; ++k) {
    std::vector<int32_t> inputs;
    if (mirrored && k > 0 && random.below(5) > 0) inputs.push_back(k - 1);
    if (mirrored && 2 * k >= n && random.below(6) > 0) inputs.push_back(n - 1 - k);
    for (int32_t i = 0; i < k && inputs.size() < 4; ++i)
      if (random.below(uint32_t(k) * (mirrored ? 3 : 1)) < spread) inputs.push_back(i);
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    graph.nodes.push_back({"n" + std::to_string(k), inputs, int64_t(random.below(8)), double(random.below(6)),
                           random.below(mirrored && 2 * k >= n ? 2 : 6) > 0, random.below(8) == 0,
                           mirrored && 2 * k >= n});
  }
  return graph;
}

/// The kinds of graphs with the smallest and largest numbers that they take.
struct Kind {
  const char *name;
  int low[2], high[2];
  Graph (*make)(int a, int b);
};
static const Kind kKinds[] = {
    {"chain", {1, 0}, {1000000, 0}, [](int a, int) { return chain(a); }},
    {"resnet", {1, 1}, {12, 1000}, resnet},
    {"unet", {1, 0}, {12, 0}, [](int a, int) { return unet(a); }},
    {"transformer", {1, 0}, {10000, 1}, [](int a, int b) { return transformer(a, b); }},
    {"lstm", {1, 0}, {10000, 0}, [](int a, int) { return lstm(a); }},
    {"inception", {1, 1}, {60, 1000}, inception},
    {"skips", {3, 0}, {200000, 1 << 30}, [](int a, int b) { return skips(a, uint64_t(b)); }},
    {"random", {1, 0}, {10000, 1 << 30}, [](int a, int b) { return random(a, uint64_t(b)); }},
};

Graph byName(const std::string &specification) {
  std::vector<std::string> part(1);
  for (char c : specification) {
    if (c == ':')
      part.emplace_back();
    else
      part.back().push_back(c);
  }
  for (const Kind &kind : kKinds) {
    const size_t wanted = kind.high[1] > 0 ? 3 : 2;
    if (part[0] != kind.name || part.size() != wanted) continue;
    int number[2] = {0, 0};
    for (size_t k = 1; k < wanted; ++k) {
      const std::string &text = part[k];
      if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) return {};
      number[k - 1] = std::atoi(text.c_str());
      if (number[k - 1] < kind.low[k - 1] || number[k - 1] > kind.high[k - 1]) return {};
    }
    return kind.make(number[0], number[1]);
  }
  return {};
}

} // namespace stator::remat::generate
