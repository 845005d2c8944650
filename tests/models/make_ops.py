# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports small programs of operators that the other models lack, in the form that README.md says.

Usage: python make_ops.py OUTDIR [NAME...]      (PyTorch 2.15, torchvision 0.29)"""
import os
import sys

import torch
import torch.nn as nn
from safetensors.torch import save_file

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


class Program(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


@case
def ops_vision():
    """Pooling over boxes, also outside the image and smaller than a bin; deformed convolution with groups, stride and mask."""
    import torchvision.ops as ops
    x = torch.randn(2, 4, 12, 9)
    boxes = torch.tensor([[0, 1.3, 2.2, 6.7, 9.1], [1, -3., -2, 4, 5], [1, 3.1, 3.2, 3.3, 3.4], [0, 20., 20, 25, 30], [1, 0., 0, 9, 12]])
    offset, mask = torch.randn(2, 2 * 2 * 9, 6, 5) * 2, torch.rand(2, 2 * 9, 6, 5)
    weight, bias = torch.randn(6, 2, 3, 3), torch.randn(6)

    def program(x, boxes, offset, mask, weight, bias):
        return (ops.roi_align(x, boxes, (3, 2), 1.0, 2), ops.roi_align(x, boxes, (2, 2), 0.5, 3, aligned=True),
                ops.roi_pool(x, boxes, (3, 2), 1.0), ops.roi_pool(x, boxes, (2, 4), 0.6),
                ops.deform_conv2d(x, offset, weight, bias, stride=2, padding=1, mask=mask),
                ops.deform_conv2d(x, offset, weight, stride=(2, 2), padding=(1, 1)))
    return program, (x, boxes, offset, mask, weight, bias)


def main(folder, names):
    for name in names or CASES:
        torch.manual_seed(0)
        function, inputs = CASES[name]()
        program = Program(function).eval()
        with torch.no_grad():
            exported = torch.export.export(program, inputs)
            outputs = program(*[x.clone() for x in inputs])
        path = os.path.join(folder, name)
        torch.export.save(exported, path + ".pt2")
        keys = exported.graph_signature.user_inputs
        save_file({k: v.contiguous() for k, v in zip(keys, inputs)}, path + ".in.safetensors", {"order": str(list(keys)).replace("'", '"')})
        save_file({str(i): v.contiguous().clone() for i, v in enumerate(outputs)}, path + ".out.safetensors")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
