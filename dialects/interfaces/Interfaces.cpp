// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/interfaces/Interfaces.h"

#include "dialects/interfaces/Interfaces.cpp.inc"
