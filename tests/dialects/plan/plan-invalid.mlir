// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s -split-input-file -verify-diagnostics

plan.program "f" "host" attributes {symbols = [], inputs = [], outputs = [], states = []} {
  // expected-error@+1 {{'plan.buffer' op in space input needs an index}}
  %0 = plan.buffer "input" tensor<2xf32>
}

// -----

plan.program "f" "host" attributes {symbols = [], inputs = [], outputs = [], states = []} {
  // expected-error@+1 {{'plan.buffer' op has unknown space 'attic'}}
  %0 = plan.buffer "attic" tensor<2xf32>
}
