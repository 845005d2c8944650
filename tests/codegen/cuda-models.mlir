// What becomes of real models: how many kernels, and none that only moves elements where index arithmetic could.
//
// RUN: stator compile %S/../models/bert_mini.pt2 --target cuda --arch sm_80 --no-cubins -o %t.stator --explain | FileCheck %s --check-prefix=BERT
// Embeddings with their layer norm; packed projections; scores with mask; softmax; weighted values, written for the next
// layer; projections whose residual and layer norm are one kernel; gelu in the matmul's epilogue.
// BERT-NOT: {{^    ops:( (constant|reshape|transpose|broadcast|slice))+$}}
// BERT: cuda {{.*}}: reduce, rows by warp
// BERT-NEXT: ops: {{.*}}take add broadcast add sum{{.*}}rsqrt{{.*}}add{{$}}
// BERT: cuda {{.*}}: matmul, tiles
// BERT-NEXT: ops: matmul broadcast add{{$}}
// BERT: cuda {{.*}}: matmul, tiles
// BERT-NEXT: ops: {{.*}}slice{{.*}}matmul
// BERT: cuda {{.*}}exp{{.*}}: reduce, rows by warp
// BERT-NEXT: ops: {{.*}}reduce_max{{.*}}exp sum{{.*}}div{{$}}
// BERT: cuda {{.*}}: matmul, tiles
// BERT-NEXT: ops: {{.*}}matmul transpose{{$}}
// BERT: cuda {{.*}}gelu{{.*}}: matmul, tiles
// BERT-NEXT: ops: matmul broadcast add gelu{{$}}
// BERT-NOT: {{^    ops:( (constant|reshape|transpose|broadcast|slice))+$}}
// BERT: {{.*}}bytes, 21 kernels
//
// RUN: stator compile %S/../models/vit_small.pt2 --target cuda --arch sm_80 --no-cubins -o %t.stator --explain | FileCheck %s --check-prefix=VIT
// VIT-NOT: {{^    ops:( (constant|reshape|transpose|broadcast|slice))+$}}
// VIT: {{.*}}bytes, 20 kernels
//
// RUN: stator compile %S/../models/gpt2_mini.pt2 --target cuda --arch sm_80 --no-cubins -o %t.stator --explain | FileCheck %s --check-prefix=GPT
// GPT-NOT: {{^    ops:( (constant|reshape|transpose|broadcast|slice))+$}}
// GPT: {{.*}}bytes, 24 kernels
//
// RUN: stator compile %S/../models/llama_prefill.pt2 --target cuda --arch sm_80 --no-cubins -o %t.stator --explain | FileCheck %s --check-prefix=LLAMA
// LLAMA-NOT: {{^    ops:( (constant|reshape|transpose|broadcast|slice))+$}}
// LLAMA: {{.*}}bytes, 38 kernels
