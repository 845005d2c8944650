// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected ')' after the arguments of floordiv}}
func.func @open(%x: tensor<?xf32, #graph.shape<floordiv(s0 2)>>)

// -----

// expected-error@+1 {{unknown function 'log': expected floordiv, ceildiv, mod, min or max}}
func.func @function(%x: tensor<?xf32, #graph.shape<log(s0, 2)>>)

// -----

// expected-error@+1 {{'mod' takes two arguments}}
func.func @arguments(%x: tensor<?xf32, #graph.shape<mod(s0)>>)

// -----

// expected-error@+1 {{expected a number, a symbol or '(' in a dimension expression}}
func.func @nothing(%x: tensor<?xf32, #graph.shape<s0 + *>>)

// -----

// expected-error@+1 {{division by zero or overflow in 'floordiv'}}
func.func @zero(%x: tensor<?xf32, #graph.shape<floordiv(s0, 0)>>)
