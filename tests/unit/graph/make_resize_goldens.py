# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes ResizeGoldens.inc: what PyTorch's interpolate gives on the CPU. Run with PyTorch installed: python make_resize_goldens.py"""
import os
import torch

CASES = [  # mode, align_corners, input spatial sizes, output sizes or None, scale factors or None
    ("nearest", None, (5,), (7,), None), ("nearest", None, (7,), (3,), None), ("nearest", None, (3,), (6,), None),
    ("nearest", None, (5,), None, (1.7,)), ("nearest", None, (2, 3), (5, 4), None), ("nearest", None, (2, 2, 3), (3, 4, 2), None),
    ("nearest-exact", None, (5,), (7,), None), ("nearest-exact", None, (7,), (3,), None), ("nearest-exact", None, (4,), (10,), None),
    ("nearest-exact", None, (5,), None, (1.7,)), ("nearest-exact", None, (2, 3), (5, 4), None),
    ("linear", False, (5,), (8,), None), ("linear", True, (5,), (8,), None), ("linear", False, (8,), (3,), None),
    ("linear", True, (4,), (1,), None), ("linear", False, (5,), None, (1.7,)), ("linear", False, (1,), (4,), None),
    ("bilinear", False, (3, 4), (5, 6), None), ("bilinear", True, (3, 4), (5, 6), None), ("bilinear", False, (4, 4), None, (1.3, 2.5)),
    ("bilinear", False, (4, 5), (4, 3), None), ("trilinear", False, (2, 3, 2), (3, 4, 3), None), ("trilinear", True, (2, 3, 2), (3, 2, 3), None),
    ("bicubic", False, (3, 4), (5, 6), None), ("bicubic", True, (3, 4), (5, 6), None), ("bicubic", False, (5, 4), (2, 4), None),
    ("bicubic", False, (4, 4), None, (1.3, 1.9)), ("bicubic", False, (1, 2), (2, 3), None),
]
MODES = {"nearest": "nearest", "nearest-exact": "nearest_exact", "bicubic": "cubic"}


def main():
    torch.manual_seed(0)
    lines = ["// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception", "// Written by make_resize_goldens.py: mode, align_corners, sizes, scales, input, output.", ""]
    for mode, align, size, out, scale in CASES:
        x = torch.randint(-64, 64, (1, 1) + size).float() / 4
        y = torch.nn.functional.interpolate(x, size=out, scale_factor=scale, mode=mode, align_corners=align)
        braces = lambda values: "{" + ", ".join(repr(v) for v in values) + "}"
        lines.append('{"%s", %s, %s, %s, %s,\n %s,\n %s},' % (
            MODES.get(mode, "linear"), str(bool(align)).lower(), braces(size), braces(tuple(y.shape[2:])), braces(scale or ()),
            braces(x.flatten().tolist()), braces(y.flatten().tolist())))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ResizeGoldens.inc"), "w") as file:
        file.write("\n".join(lines) + "\n")


main()
