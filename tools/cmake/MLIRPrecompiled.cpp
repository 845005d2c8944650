// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gives the precompiled header a target to belong to.
