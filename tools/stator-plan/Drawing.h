// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file A plan as a picture.
#ifndef STATOR_TOOLS_STATOR_PLAN_DRAWING_H
#define STATOR_TOOLS_STATOR_PLAN_DRAWING_H

#include "tools/stator-plan/InstanceFile.h"

#include <string>

namespace stator::memory {

/// An SVG: time to the right, addresses upwards, one box for each buffer with its name and size where they fit (and as
/// a tooltip everywhere), a line at the live-load bound and one at the capacity if there is one. Moments at which
/// nothing begins or ends take no room. Needs a valid plan.
std::string drawPlan(const Instance &instance, const Plan &plan, const std::string &title);

/// 3145728 -> "3 MiB", 1500 -> "1.46 KiB".
std::string humanBytes(int64_t bytes);

} // namespace stator::memory

#endif // STATOR_TOOLS_STATOR_PLAN_DRAWING_H
