// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of real models: how many launches, and none that only moves elements where index arithmetic could.
//
// RUN: stator compile %S/../models/bert_mini.pt2 --target cuda --arch sm_80 --no-cubins -o %t.stator --explain > %t.txt
// RUN: FileCheck %s --check-prefix=BERT < %t.txt
// RUN: grep -c "^cuda " %t.txt | FileCheck %s --check-prefix=BERT-LAUNCHES
// Embeddings with their layer norm; packed projections; scores with mask; softmax; weighted values, written for the next
// layer; projections whose residual and layer norm are one kernel; gelu in the matmul's epilogue.
// BERT-NOT: {{^    ops:( (constant|reshape|transpose|broadcast|slice))+$}}
// BERT: cuda {{.*}}: reduce, rows by warp
// BERT-NEXT: ops: {{.*}}take add broadcast add sum{{.*}}rsqrt{{.*}}add{{$}}
// BERT: cuda {{.*}}: matmul, tiles
// BERT-NEXT: ops: {{.*}}matmul {{.*}}add{{$}}
// BERT: cuda {{.*}}: matmul, tiles
// BERT-NEXT: ops: {{.*}}slice{{.*}}matmul
// BERT: cuda {{.*}}exp{{.*}}: reduce, rows by warp
// BERT-NEXT: ops: {{.*}}reduce_max{{.*}}exp sum{{.*}}div{{$}}
// BERT: cuda {{.*}}: matmul, tiles
// BERT-NEXT: ops: {{.*}}matmul transpose{{$}}
// BERT: cuda {{.*}}gelu{{.*}}: matmul, tiles
// BERT-NEXT: ops: matmul broadcast add gelu{{$}}
// BERT-NOT: {{^    ops:( (constant|reshape|transpose|broadcast|slice))+$}}
// BERT-LAUNCHES: {{^}}21{{$}}
//
// RUN: stator compile %S/../models/vit_small.pt2 --target cuda --arch sm_80 --no-cubins -o %t.stator --explain > %t.txt
// RUN: FileCheck %s --check-prefix=VIT < %t.txt
// RUN: grep -c "^cuda " %t.txt | FileCheck %s --check-prefix=VIT-LAUNCHES
// VIT-NOT: {{^    ops:( (constant|reshape|transpose|broadcast|slice))+$}}
// VIT-LAUNCHES: {{^}}20{{$}}
//
// RUN: stator compile %S/../models/gpt2_mini.pt2 --target cuda --arch sm_80 --no-cubins -o %t.stator --explain > %t.txt
// RUN: FileCheck %s --check-prefix=GPT < %t.txt
// RUN: grep -c "^cuda " %t.txt | FileCheck %s --check-prefix=GPT-LAUNCHES
// GPT-NOT: {{^    ops:( (constant|reshape|transpose|broadcast|slice))+$}}
// GPT-LAUNCHES: {{^}}24{{$}}
//
// RUN: stator compile %S/../models/llama_prefill.pt2 --target cuda --arch sm_80 --no-cubins -o %t.stator --explain > %t.txt
// RUN: FileCheck %s --check-prefix=LLAMA < %t.txt
// RUN: grep -c "^cuda " %t.txt | FileCheck %s --check-prefix=LLAMA-LAUNCHES
// LLAMA-NOT: {{^    ops:( (constant|reshape|transpose|broadcast|slice))+$}}
// LLAMA-LAUNCHES: {{^}}38{{$}}
