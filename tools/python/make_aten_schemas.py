# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the table of ATen operator schemas that the torch.export importer reads.

Nodes of an exported program leave out arguments that equal the schema's default, so an importer needs names, order and
defaults. Run with any PyTorch:  python tools/python/make_aten_schemas.py > compiler/frontend/torch_export/AtenSchemas.inc
"""
import torch

SKIP_PREFIXES = ("_foreach", "_amp_", "_cudnn", "cudnn", "_nested", "_sparse", "sparse_", "_fused", "_mkldnn", "mkldnn", "miopen",
                 "_mps", "_miopen", "fbgemm", "_fft_", "quantized", "_to_sparse", "_coalesce", "_cslt", "_test", "_validate", "hspmm",
                 "_thnn", "_linalg_", "_segment", "segment_", "_transform_bias", "_native_multi_head", "_triton", "_scaled_grouped",
                 "_flash", "_efficient", "_pack_padded", "_pad_packed", "_wrapped", "_dyn_quant", "_weight_int", "_convert_weight",
                 "_jagged", "_padded_dense", "_autocast", "_backward", "_use_cudnn", "_dimI", "_dimV", "_indices", "_values", "_nnz",
                 "_make_", "_version", "_slow", "_conv_depthwise", "slow_conv", "_spdiags", "_unsafe_masked", "_print", "_propagate",
                 "_reshape_alias_copy", "_fake_quant", "fake_quant", "choose_qparams", "_choose_qparams", "q_", "ccol", "crow", "to_mkldnn",
                 "to_padded", "to_sparse", "copy_sparse", "int_repr", "dequantize", "quantize", "qscheme", "retain", "rename", "refine_names",
                 "align_", "set_", "requires_grad_", "_fw_primal", "_make_dual", "_unpack_dual", "record_stream", "resize_as_sparse")
SKIP_PARTS = ("_backward", "_jvp", "Dimname", "(a!) out", "Stream", "Storage", "Dict(", "Future")

WITHOUT_TENSORS = ("_assert_scalar", "sym_constrain_range", "sym_constrain_range_for_size")


def wanted(schema):
    name = schema.name.removeprefix("aten::")
    text = str(schema)
    if not schema.name.startswith("aten::") or ("Tensor" not in text and name not in WITHOUT_TENSORS):
        return False
    if schema.overload_name == "out" or schema.overload_name.endswith("_out") or "..." in text:
        return False
    return not name.startswith(SKIP_PREFIXES) and not any(part in text for part in SKIP_PARTS) and " t " not in text


def main():
    lines = sorted({str(s).removeprefix("aten::") for s in torch._C._jit_get_all_schemas() if wanted(s)})
    print("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception")
    print(f"// Written by tools/python/make_aten_schemas.py from PyTorch {torch.__version__.split('+')[0]}. One ATen schema a line.")
    for line in lines:
        escaped = line.replace("\\", "\\\\").replace('"', '\\"')
        print(f'"{escaped}\\n"')


if __name__ == "__main__":
    main()
