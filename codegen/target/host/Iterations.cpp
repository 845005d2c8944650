// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines and scatters on the host: the iterations are the parallel domain.
#include "codegen/schedule/LineTemplates.h"
#include "codegen/schedule/ScatterTemplates.h"
#include "codegen/target/host/HostTemplates.h"

using namespace mlir;

namespace stator::codegen {

namespace {
class HostIterations : public HostKernel {
public:
  static constexpr int64_t scatterColumns = 64;
  explicit HostIterations(HostRequest request) : HostKernel(request.module, request.name, request.fusion) {}
  bool failed() const { return body.failed(); }
  void iterate(graph::DimExpr count, function_ref<void(Value)> emit) {
    loop(begin, end, emit, false, body.size(count));
  }
  KernelLaunch finishIterations(graph::DimExpr count, graph::DimExpr each) {
    int64_t operations = work();
    KernelLaunch launch = finish();
    launch.count = count;
    launch.grain = grainFor(operations, each);
    return launch;
  }
};
} // namespace

std::optional<LoweredFusion> lowerLines(HostRequest request) { return lowerLinesWith<HostIterations>(request); }
std::optional<LoweredFusion> lowerScatter(HostRequest request) { return lowerScatterWith<HostIterations>(request); }
std::optional<LoweredFusion> lowerNonzero(HostRequest request) { return lowerNonzeroWith<HostIterations>(request); }

} // namespace stator::codegen
