// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams, events, and graphs as far as capturing makes them.
#include "runtime/simulator/driver/Driver.h"

using namespace stator::sim;
using namespace stator::sim::cu;

STATOR_CUDA_EXPORT Result cuStreamCreateWithPriority(Stream *stream, unsigned flags, int priority) {
  STATOR_CUDA_LOCK;
  if (!stream) return invalidValue;
  if (!driver.current()) return invalidContext;
  auto *created = new StreamObject;
  created->context = driver.current();
  created->flags = flags;
  created->priority = priority;
  driver.streams.insert(created);
  *stream = created;
  return success;
}
STATOR_CUDA_EXPORT Result cuStreamCreate(Stream *stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
STATOR_CUDA_EXPORT Result cuStreamDestroy_v2(Stream stream) {
  STATOR_CUDA_LOCK;
  if (!driver.streams.erase(stream)) return invalidHandle;
  delete stream;
  return success;
}
STATOR_CUDA_EXPORT Result cuStreamSynchronize(Stream stream) {
  STATOR_CUDA_LOCK;
  ContextObject *context = driver.contextOf(stream);
  if (!context) return driver.isDefault(stream) ? invalidContext : invalidHandle;
  return driver.captureOf(stream) ? streamCaptureUnsupported : context->sticky;
}
STATOR_CUDA_EXPORT Result cuStreamQuery(Stream stream) { return cuStreamSynchronize(stream); }
STATOR_CUDA_EXPORT Result cuStreamGetCtx(Stream stream, Context *context) {
  STATOR_CUDA_LOCK;
  if (!context) return invalidValue;
  *context = driver.contextOf(stream);
  return *context ? success : invalidHandle;
}
STATOR_CUDA_EXPORT Result cuStreamGetFlags(Stream stream, unsigned *flags) {
  STATOR_CUDA_LOCK;
  if (!flags || !driver.contextOf(stream)) return invalidValue;
  *flags = driver.isDefault(stream) ? 0 : stream->flags;
  return success;
}
STATOR_CUDA_EXPORT Result cuStreamGetPriority(Stream stream, int *priority) {
  STATOR_CUDA_LOCK;
  if (!priority || !driver.contextOf(stream)) return invalidValue;
  *priority = driver.isDefault(stream) ? 0 : stream->priority;
  return success;
}
STATOR_CUDA_EXPORT Result cuStreamGetId(Stream stream, unsigned long long *id) {
  if (!id) return invalidValue;
  *id = reinterpret_cast<uintptr_t>(stream);
  return success;
}
STATOR_CUDA_EXPORT Result cuStreamAddCallback(Stream stream, void (*callback)(Stream, Result, void *), void *data,
                                              unsigned) {
  STATOR_CUDA_LOCK;
  ContextObject *context = driver.contextOf(stream);
  if (!context || !callback) return invalidValue;
  if (driver.captureOf(stream)) return streamCaptureUnsupported;
  callback(stream, context->sticky, data);
  return success;
}
STATOR_CUDA_EXPORT Result cuStreamAttachMemAsync(Stream, DevicePointer, size_t, unsigned) { return success; }

STATOR_CUDA_EXPORT Result cuEventCreate(Event *event, unsigned flags) {
  STATOR_CUDA_LOCK;
  if (!event) return invalidValue;
  if (!driver.current()) return invalidContext;
  auto *created = new EventObject;
  created->context = driver.current();
  created->flags = flags;
  driver.events.insert(created);
  *event = created;
  return success;
}
STATOR_CUDA_EXPORT Result cuEventDestroy_v2(Event event) {
  STATOR_CUDA_LOCK;
  if (!driver.events.erase(event)) return invalidHandle;
  delete event;
  return success;
}
STATOR_CUDA_EXPORT Result cuEventRecord(Event event, Stream stream) {
  STATOR_CUDA_LOCK;
  if (!driver.events.count(event) || !driver.contextOf(stream)) return invalidHandle;
  event->capture = driver.captureOf(stream);
  if (event->capture) return success;
  event->recorded = true;
  event->time = driver.clock;
  return success;
}
STATOR_CUDA_EXPORT Result cuEventRecordWithFlags(Event event, Stream stream, unsigned) {
  return cuEventRecord(event, stream);
}
STATOR_CUDA_EXPORT Result cuEventSynchronize(Event event) {
  STATOR_CUDA_LOCK;
  if (!driver.events.count(event)) return invalidHandle;
  return event->capture ? streamCaptureUnsupported : event->context->sticky;
}
STATOR_CUDA_EXPORT Result cuEventQuery(Event event) { return cuEventSynchronize(event); }
STATOR_CUDA_EXPORT Result cuEventElapsedTime_v2(float *ms, Event from, Event to) {
  STATOR_CUDA_LOCK;
  if (!ms || !driver.events.count(from) || !driver.events.count(to)) return invalidHandle;
  if (!from->recorded || !to->recorded || (from->flags & 2) || (to->flags & 2)) return invalidHandle;
  *ms = static_cast<float>(to->time - from->time);
  return success;
}
STATOR_CUDA_EXPORT Result cuEventElapsedTime(float *ms, Event from, Event to) {
  return cuEventElapsedTime_v2(ms, from, to);
}
STATOR_CUDA_EXPORT Result cuStreamWaitEvent(Stream stream, Event event, unsigned) {
  STATOR_CUDA_LOCK;
  if (!driver.events.count(event) || !driver.contextOf(stream)) return invalidHandle;
  if (!event->capture) return success; // the work before it has been done
  if (driver.isDefault(stream)) return streamCaptureUnsupported;
  if (!stream->capture) stream->capture = event->capture; // joins the capture
  return stream->capture == event->capture ? success : invalidValue;
}

STATOR_CUDA_EXPORT Result cuStreamBeginCapture_v2(Stream stream, int) {
  STATOR_CUDA_LOCK;
  if (driver.isDefault(stream)) return streamCaptureUnsupported;
  if (!driver.streams.count(stream)) return invalidHandle;
  if (stream->capture) return illegalState;
  stream->capture = std::make_shared<GraphObject>();
  stream->captureOrigin = true;
  return success;
}
STATOR_CUDA_EXPORT Result cuStreamEndCapture(Stream stream, Graph *graph) {
  STATOR_CUDA_LOCK;
  if (!graph || !driver.streams.count(stream)) return invalidValue;
  if (!stream->capture) return illegalState;
  if (!stream->captureOrigin) return streamCaptureUnmatched;
  auto captured = stream->capture;
  stream->captureOrigin = false;
  for (StreamObject *s : driver.streams)
    if (s->capture == captured) s->capture = nullptr;
  for (EventObject *e : driver.events)
    if (e->capture == captured) e->capture = nullptr;
  driver.graphs[captured.get()] = captured;
  *graph = captured.get();
  return success;
}
STATOR_CUDA_EXPORT Result cuStreamIsCapturing(Stream stream, int *status) {
  STATOR_CUDA_LOCK;
  if (!status) return invalidValue;
  *status = driver.captureOf(stream) ? 1 : 0;
  return success;
}
STATOR_CUDA_EXPORT Result cuStreamGetCaptureInfo_v2(Stream stream, int *status, unsigned long long *id, Graph *graph,
                                                    const GraphNode **nodes, size_t *count) {
  STATOR_CUDA_LOCK;
  auto capture = driver.captureOf(stream);
  if (status) *status = capture ? 1 : 0;
  if (id) *id = reinterpret_cast<uintptr_t>(capture.get());
  if (graph) *graph = capture.get();
  if (nodes) *nodes = nullptr;
  if (count) *count = 0;
  return success;
}
STATOR_CUDA_EXPORT Result cuThreadExchangeStreamCaptureMode(int *mode) { return mode ? success : invalidValue; }

STATOR_CUDA_EXPORT Result cuGraphCreate(Graph *graph, unsigned) {
  STATOR_CUDA_LOCK;
  if (!graph) return invalidValue;
  auto created = std::make_shared<GraphObject>();
  driver.graphs[created.get()] = created;
  *graph = created.get();
  return success;
}
STATOR_CUDA_EXPORT Result cuGraphDestroy(Graph graph) {
  STATOR_CUDA_LOCK;
  return driver.graphs.erase(graph) ? success : invalidValue;
}
STATOR_CUDA_EXPORT Result cuGraphGetNodes(Graph graph, GraphNode *nodes, size_t *count) {
  STATOR_CUDA_LOCK;
  if (!driver.graphs.count(graph) || !count) return invalidValue;
  // A node's handle is the address of its record.
  for (size_t i = 0; nodes && i < *count && i < graph->nodes.size(); ++i)
    nodes[i] = reinterpret_cast<GraphNode>(&graph->nodes[i]);
  *count = graph->nodes.size();
  return success;
}
STATOR_CUDA_EXPORT Result cuGraphNodeGetType(GraphNode node, int *type) {
  if (!node || !type) return invalidValue;
  *type = reinterpret_cast<GraphObject::Node *>(node)->type;
  return success;
}
STATOR_CUDA_EXPORT Result cuGraphInstantiateWithFlags(GraphExec *exec, Graph graph, unsigned long long) {
  STATOR_CUDA_LOCK;
  if (!exec || !driver.graphs.count(graph)) return invalidValue;
  std::vector<GraphObject::Node> nodes;
  if (!sortNodes(*graph, nodes)) return invalidValue;
  *exec = new GraphExecObject{std::move(nodes)};
  driver.graphExecs.insert(*exec);
  return success;
}
STATOR_CUDA_EXPORT Result cuGraphInstantiate_v2(GraphExec *exec, Graph graph, GraphNode *, char *log, size_t size) {
  if (log && size) log[0] = '\0';
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}
STATOR_CUDA_EXPORT Result cuGraphExecDestroy(GraphExec exec) {
  STATOR_CUDA_LOCK;
  if (!driver.graphExecs.erase(exec)) return invalidValue;
  delete exec;
  return success;
}
STATOR_CUDA_EXPORT Result cuGraphLaunch(GraphExec exec, Stream stream) {
  STATOR_CUDA_LOCK;
  if (!driver.graphExecs.count(exec)) return invalidValue;
  if (!driver.contextOf(stream)) return invalidContext;
  for (const GraphObject::Node &node : exec->nodes)
    if (Result r = driver.submit(stream, node.type, node.run); r != success) return r;
  return success;
}
STATOR_CUDA_EXPORT Result cuGraphUpload(GraphExec exec, Stream) {
  STATOR_CUDA_LOCK;
  return driver.graphExecs.count(exec) ? success : invalidValue;
}
STATOR_CUDA_EXPORT Result cuGraphExecUpdate_v2(GraphExec exec, Graph graph, void *info) {
  STATOR_CUDA_LOCK;
  if (!driver.graphExecs.count(exec) || !driver.graphs.count(graph)) return invalidValue;
  // Only a graph of the same shape may replace another.
  bool same = exec->nodes.size() == graph->nodes.size();
  for (size_t i = 0; same && i < graph->nodes.size(); ++i) same = exec->nodes[i].type == graph->nodes[i].type;
  if (info) *static_cast<int *>(info) = same ? 0 : 2; // CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
  if (!same) return static_cast<Result>(910);         // CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
  if (!sortNodes(*graph, exec->nodes)) return invalidValue;
  return success;
}
