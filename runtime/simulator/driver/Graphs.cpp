// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs that a program builds node by node. A node's work is made by the very calls that a capture would record, given
// a stream that captures into the graph.
#include "runtime/simulator/driver/Driver.h"

#include <algorithm>
#include <map>

using namespace stator::sim;
using namespace stator::sim::cu;

STATOR_CUDA_EXPORT Result cuLaunchKernel(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                         Stream, void **, void **);
STATOR_CUDA_EXPORT Result cuLaunchHostFunc(Stream, HostFunction, void *);
STATOR_CUDA_EXPORT Result cuMemcpyAsync(DevicePointer, DevicePointer, size_t, Stream);
STATOR_CUDA_EXPORT Result cuMemsetD2D8Async(DevicePointer, size_t, unsigned char, size_t, size_t, Stream);
STATOR_CUDA_EXPORT Result cuMemsetD2D16Async(DevicePointer, size_t, unsigned short, size_t, size_t, Stream);
STATOR_CUDA_EXPORT Result cuMemsetD2D32Async(DevicePointer, size_t, unsigned, size_t, size_t, Stream);

namespace stator::sim::cu {

bool sortNodes(const GraphObject &graph, std::vector<GraphObject::Node> &sorted) {
  using Node = GraphObject::Node;
  std::map<const Node *, size_t> waiting; // edges that still lead to a node
  std::map<const Node *, std::vector<const Node *>> leads;
  for (const Node &node : graph.nodes) {
    waiting[&node] += node.after.size();
    for (const Node *before : node.after) leads[before].push_back(&node);
  }
  sorted.clear();
  // Where edges leave a choice the order of the calls decides.
  std::vector<const Node *> order;
  for (const Node &node : graph.nodes)
    if (!waiting[&node]) order.push_back(&node);
  for (size_t i = 0; i < order.size(); ++i)
    for (const Node *next : leads[order[i]])
      if (--waiting[next] == 0) order.push_back(next);
  for (const Node *node : order) {
    sorted.push_back(*node);
    sorted.back().origin = node;
  }
  return order.size() == graph.nodes.size();
}

} // namespace stator::sim::cu

namespace {

using Node = GraphObject::Node;

Node *find(GraphObject &graph, GraphNode handle) {
  for (Node &node : graph.nodes)
    if (reinterpret_cast<GraphNode>(&node) == handle) return &node;
  return nullptr;
}

/// Appends what `make` submits to its stream as one node.
template <class F>
Result add(Driver &driver, GraphNode *out, Graph graph, const GraphNode *dependencies, size_t count, Context context,
           F make) {
  if (!out || !driver.graphs.count(graph) || (count && !dependencies)) return invalidValue;
  if (!context) context = driver.current();
  if (!context) return invalidContext;
  std::vector<const Node *> after;
  for (size_t i = 0; i < count; ++i) {
    const Node *before = find(*graph, dependencies[i]);
    if (!before || std::count(after.begin(), after.end(), before)) return invalidValue;
    after.push_back(before);
  }
  StreamObject stream;
  stream.context = context;
  stream.capture = driver.graphs[graph];
  driver.streams.insert(&stream);
  size_t before = graph->nodes.size();
  Result result = make(&stream);
  driver.streams.erase(&stream);
  if (result != success) return result;
  if (graph->nodes.size() != before + 1) return invalidValue;
  graph->nodes.back().after = std::move(after);
  *out = reinterpret_cast<GraphNode>(&graph->nodes.back());
  return success;
}

Result launchInto(Stream stream, const KernelNodeParams &p) {
  Function function = p.function ? p.function : static_cast<Function>(p.kernel);
  return cuLaunchKernel(function, p.gridX, p.gridY, p.gridZ, p.blockX, p.blockY, p.blockZ, p.sharedBytes, stream,
                        p.kernelParams, p.extra);
}

/// One side of a three-dimensional copy: the address of its first byte, or 0 for arrays.
uint64_t startOf(int type, const void *host, DevicePointer device, size_t x, size_t y, size_t z, size_t pitch,
                 size_t height) {
  uint64_t base = type == 1 ? reinterpret_cast<uintptr_t>(host) : type == 2 || type == 4 ? device : 0;
  return base ? base + x + (z * height + y) * pitch : 0;
}

} // namespace

STATOR_CUDA_EXPORT Result cuGraphAddKernelNode_v2(GraphNode *node, Graph graph, const GraphNode *dependencies,
                                                  size_t count, const KernelNodeParams *params) {
  STATOR_CUDA_LOCK;
  if (!params) return invalidValue;
  return add(driver, node, graph, dependencies, count, params->context,
             [&](Stream stream) { return launchInto(stream, *params); });
}

STATOR_CUDA_EXPORT Result cuGraphExecKernelNodeSetParams_v2(GraphExec exec, GraphNode node,
                                                            const KernelNodeParams *params) {
  STATOR_CUDA_LOCK;
  if (!params || !driver.graphExecs.count(exec)) return invalidValue;
  for (Node &own : exec->nodes) {
    if (reinterpret_cast<GraphNode>(const_cast<Node *>(own.origin)) != node || own.type != 0) continue;
    StreamObject stream;
    stream.context = own.context;
    stream.capture = std::make_shared<GraphObject>();
    driver.streams.insert(&stream);
    Result result = launchInto(&stream, *params);
    driver.streams.erase(&stream);
    if (result == success) own.run = stream.capture->nodes.front().run;
    return result;
  }
  return invalidValue;
}

STATOR_CUDA_EXPORT Result cuGraphAddMemcpyNode(GraphNode *node, Graph graph, const GraphNode *dependencies,
                                               size_t count, const Copy3D *c, Context context) {
  STATOR_CUDA_LOCK;
  if (!c) return invalidValue;
  Copy3D p = *c;
  uint64_t from =
      startOf(p.srcMemoryType, p.srcHost, p.srcDevice, p.srcXInBytes, p.srcY, p.srcZ, p.srcPitch, p.srcHeight);
  uint64_t to =
      startOf(p.dstMemoryType, p.dstHost, p.dstDevice, p.dstXInBytes, p.dstY, p.dstZ, p.dstPitch, p.dstHeight);
  if (!from || !to || !p.widthInBytes || !p.height || !p.depth) return invalidValue;
  if (p.height > 1 && (p.srcPitch < p.widthInBytes || p.dstPitch < p.widthInBytes)) return invalidValue;
  return add(driver, node, graph, dependencies, count, context, [&](Stream stream) {
    return driver.submit(stream, 1, [=]() -> Result {
      for (size_t z = 0; z < p.depth; ++z)
        for (size_t y = 0; y < p.height; ++y)
          if (Result r = cuMemcpyAsync(to + (z * p.dstHeight + y) * p.dstPitch,
                                       from + (z * p.srcHeight + y) * p.srcPitch, p.widthInBytes, nullptr);
              r != success)
            return r;
      return success;
    });
  });
}

STATOR_CUDA_EXPORT Result cuGraphAddMemsetNode(GraphNode *node, Graph graph, const GraphNode *dependencies,
                                               size_t count, const MemsetNodeParams *p, Context context) {
  STATOR_CUDA_LOCK;
  if (!p || !p->width || !p->height) return invalidValue;
  return add(driver, node, graph, dependencies, count, context, [&](Stream stream) {
    switch (p->elementSize) {
    case 1:
      return cuMemsetD2D8Async(p->dst, p->pitch, static_cast<unsigned char>(p->value), p->width, p->height, stream);
    case 2:
      return cuMemsetD2D16Async(p->dst, p->pitch, static_cast<unsigned short>(p->value), p->width, p->height, stream);
    case 4: return cuMemsetD2D32Async(p->dst, p->pitch, p->value, p->width, p->height, stream);
    default: return invalidValue;
    }
  });
}

STATOR_CUDA_EXPORT Result cuGraphAddHostNode(GraphNode *node, Graph graph, const GraphNode *dependencies, size_t count,
                                             const HostNodeParams *p) {
  STATOR_CUDA_LOCK;
  if (!p || !p->function) return invalidValue;
  return add(driver, node, graph, dependencies, count, nullptr,
             [&](Stream stream) { return cuLaunchHostFunc(stream, p->function, p->data); });
}

STATOR_CUDA_EXPORT Result cuGraphAddEmptyNode(GraphNode *node, Graph graph, const GraphNode *dependencies,
                                              size_t count) {
  STATOR_CUDA_LOCK;
  return add(driver, node, graph, dependencies, count, nullptr,
             [&](Stream stream) { return driver.submit(stream, 5, [] { return success; }); });
}

STATOR_CUDA_EXPORT Result cuGraphAddDependencies(Graph graph, const GraphNode *from, const GraphNode *to,
                                                 size_t count) {
  STATOR_CUDA_LOCK;
  if (!driver.graphs.count(graph) || (count && (!from || !to))) return invalidValue;
  for (size_t i = 0; i < count; ++i) {
    Node *before = find(*graph, from[i]), *after = find(*graph, to[i]);
    if (!before || !after || before == after) return invalidValue;
    after->after.push_back(before);
  }
  return success;
}
STATOR_CUDA_EXPORT Result cuGraphAddDependencies_v2(Graph graph, const GraphNode *from, const GraphNode *to,
                                                    const void *, size_t count) {
  return cuGraphAddDependencies(graph, from, to, count);
}
