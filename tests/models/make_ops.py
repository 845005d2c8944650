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


@case
def ops_special():
    """Special functions, at poles, zeros, infinities and NaN too."""
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([0., -0., 1, 2, 1.5, 0.5, 1e-3, 3.7, 10, 40, 150, 1e6, -0.5, -1, -1.5, -2.75, -20.2, 1e-20, inf, -inf, nan])
    u = torch.tensor([0., -0., 1e-8, 0.01, 0.3, 0.5, 0.7, -0.9, 0.99, 0.9999, 0.9999999, 1, -1, 1.1, nan])
    b = torch.tensor([0., 1, -1, 2.5, -7, 15.9, 16.1, 30, -80, nan])
    y = torch.tensor([1., inf, nan, -inf, 0., 2]).repeat(2)
    z = torch.tensor([nan, nan, inf, -inf, 0., -1, 3, 4, 5, inf, -0., 100])

    def program(x, u, b, y, z):
        return (torch.lgamma(x), torch.digamma(x), torch.erfinv(u), torch.i0(b), torch.special.i0e(b), torch.special.i1(b),
                torch.special.i1e(b), torch.lgamma(x.double()), torch.digamma(x.double()), torch.erfinv(u.double()),
                torch.i0(b.double()), torch.special.i1e(b.double()), torch.lgamma(torch.arange(5)), torch.logaddexp2(y, z),
                torch.hypot(y, z), torch.special.xlogy(z, 2.5), torch.logit(u, 0.6), torch.logit(u, 0.1),
                torch.rsub(x, 2, alpha=3))
    return program, (x, u, b, y, z)


@case
def ops_order():
    """Quantiles of several points, without NaN; membership; differences of order 0; 0-d tensors."""
    x = torch.randn(4, 7)
    x[1, 2] = x[3, 0] = float("nan")
    q = torch.tensor([0., 0.1, 0.5, 0.77, 1])
    i, s = torch.arange(12).view(3, 4), torch.tensor(2.5)

    def program(x, q, i, s):
        return (torch.quantile(x, q, 1), torch.quantile(x, 0.3, 0, keepdim=True, interpolation="lower"), torch.nanquantile(x, q, 1, keepdim=True),
                torch.nanquantile(x, 0.6, interpolation="higher"), torch.quantile(s, 0.5, 0, keepdim=True), torch.quantile(s, q, -1),
                torch.quantile(x[0], q, interpolation="midpoint"), torch.quantile(x[0], q, interpolation="nearest"),
                *torch.nanmedian(x, 1), torch.nanmedian(x), torch.nanmedian(x[1:2] / 0), torch.isin(i, torch.tensor([3, 7, 20])), torch.isin(i, 5, invert=True),
                torch.diff(x, 0, 1, x[:, :1], x[:, :1]), torch.diag(x[0], -2), torch.diag(x[:, :5], 1), torch.diagflat(i, 1),
                x[:2].sum_to_size(1, 7), torch.diagonal_copy(x, 2), torch.permute_copy(x, (1, 0)), torch.linalg.diagonal(i),
                torch.expand_copy(s, (2, 3)))
    return program, (x, q, i, s)


@case
def ops_unpool():
    """Max pooling undone."""
    x, v = torch.randn(2, 3, 6, 8), torch.randn(1, 2, 4, 4, 6)

    def program(x, v):
        y, places = nn.functional.max_pool2d(x, 2, return_indices=True)
        w, spots = nn.functional.max_pool3d(v, 2, return_indices=True)
        return (nn.functional.max_unpool2d(y, places, 2), nn.functional.max_unpool2d(y[0], places[0], 2, output_size=(7, 8)),
                nn.functional.max_unpool3d(w, spots, 2))
    return program, (x, v)


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
