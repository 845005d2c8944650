# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports `semantics`: small computations that compilers have got wrong, with the right answers written here by hand.

Usage: python make_semantics.py OUTDIR      (PyTorch 2.15)

The numbers are those of tests/conformance/SemanticsCases.cpp; here they go through the importer and its composites."""
import os
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

inf, nan = float("inf"), float("nan")


class Semantics(torch.nn.Module):
    def forward(self, whole, divisor, quotients, marked, constant, logits, narrow, bad, ones, pooled, clamped, copied, flipped):
        results = []
        # 2: floor division by a number, a 0-d tensor, a full tensor; by a negative number.
        results += [whole // 3, whole // divisor, torch.floor_divide(whole, torch.full_like(whole, 3)), whole // -3]
        # 25: of floats, from the exact remainder.
        results += [torch.floor_divide(quotients[0], quotients[1]), torch.floor(quotients[0] / quotients[1])]
        # 40: positions in the view's order.
        results += [marked.argmax(), marked.t().argmax(), marked[:, ::2].argmax(), marked.t()[::2].argmax()]
        again = marked.clone()
        again.sin_()
        results += [again.t().argmax()]
        # 43: layer norm of a constant row.
        results += [F.layer_norm(constant, (4,))]
        # 47: softmax and its relatives of infinities.
        results += [F.softmax(logits, 1), F.log_softmax(logits[:2], 1), torch.logsumexp(logits[:2], 1), F.softmax(logits[:0], 1)]
        # 29: a quotient in bf16 is rounded on both uses.
        quotient = narrow / 1.7
        results += [(quotient == quotient.amax(1, keepdim=True)).sum(1)]
        # 88: with beta = 0 the added tensor is not read.
        results += [torch.addmm(bad, ones, ones.t(), beta=0), torch.baddbmm(bad[None], ones[None, :, :0], ones[None, :, :0].transpose(1, 2), beta=0)]
        # 81: the divisor of average pooling.
        results += [F.avg_pool2d(pooled, 3, 2, 1, ceil_mode=True), F.avg_pool2d(pooled, 3, 2, 1, ceil_mode=True, count_include_pad=False)]
        # 33: NaN in clamp; a minimum above the maximum.
        results += [torch.clamp(clamped, 0, 1), torch.clamp(clamped, min=3, max=1), torch.clamp(clamped, min=clamped.flip(0))]
        # 57: what was copied stays when its source is written. 58: the right side is read before it is overwritten.
        source, target = copied.clone(), torch.zeros_like(copied)
        target[:] = source
        source.add_(1)
        results += [target, source]
        x = flipped.clone()
        x.add_(x.flip(0))
        results += [x]
        # 56: a result twice, an input, a view of another result.
        results += [x, copied, x.t()]
        return tuple(results)


def main(folder):
    marked = torch.zeros(5, 7)
    marked[1, 6] = 1
    inputs = {
        "whole": torch.tensor([-7, -3, -1, 0, 1, 3, 7]),
        "divisor": torch.tensor(3),
        "quotients": torch.tensor([[1, .5, 6], [.1, .1, .2]]),
        "marked": marked,
        "constant": torch.full((2, 4), 30000.),
        "logits": torch.tensor([[-inf, -inf], [-inf, 0], [inf, 0], [nan, 1], [88, 1000]]),
        "narrow": torch.tensor([[3, 1], [3, 3]], dtype=torch.bfloat16),
        "bad": torch.full((2, 2), nan),
        "ones": torch.ones(2, 3),
        "pooled": torch.arange(36.).reshape(1, 1, 6, 6),
        "clamped": torch.tensor([nan, 2., -1.]),
        "copied": torch.arange(6.).reshape(2, 3),
        "flipped": torch.arange(6).reshape(3, 2),
    }
    t = torch.tensor
    overhang = t([[14 / 9, 30 / 9, 42 / 9, 16 / 6], [75 / 9, 14, 16, 8.5], [147 / 9, 26, 28, 87 / 6], [61 / 6, 16, 17, 8.75]])
    right = [
        t([-3, -1, -1, 0, 0, 1, 2]), t([-3, -1, -1, 0, 0, 1, 2]), t([-3, -1, -1, 0, 0, 1, 2]), t([2, 1, 0, 0, -1, -1, -3]),
        t([9., 4, 29]), t([10., 5, 30]),
        t(13), t(31), t(7), t(16), t(31),
        torch.zeros(2, 4),
        t([[nan, nan], [0, 1], [nan, nan], [nan, nan], [0, 1]]), t([[nan, nan], [-inf, 0]]), t([-inf, 0]), torch.zeros(0, 2),
        t([1, 2]),
        torch.full((2, 2), 3.), torch.zeros(1, 2, 2),
        overhang[None, None],
        t([[[[3.5, 5, 7, 8], [12.5, 14, 16, 17], [24.5, 26, 28, 29], [30.5, 32, 34, 35]]]]),
        t([nan, 1, 0]), t([nan, 1, 1]), t([nan, 2, nan]),
        t([[0., 1, 2], [3, 4, 5]]), t([[1., 2, 3], [4, 5, 6]]),
        t([[4, 6], [4, 6], [4, 6]]), t([[4, 6], [4, 6], [4, 6]]), t([[0., 1, 2], [3, 4, 5]]), t([[4, 4, 4], [6, 6, 6]]),
    ]
    program = Semantics().eval()
    with torch.no_grad():
        exported = torch.export.export(program, tuple(inputs.values()))
        eager = program(*[x.clone() for x in inputs.values()])
    assert len(eager) == len(right), (len(eager), len(right))
    for i, (have, want) in enumerate(zip(eager, right)):
        torch.testing.assert_close(have, want, equal_nan=True, msg=lambda text, i=i: f"result {i}: PyTorch itself differs: {text}")
    path = os.path.join(folder, "semantics")
    torch.export.save(exported, path + ".pt2")
    save_file({k: v.contiguous() for k, v in inputs.items()}, path + ".in.safetensors",
              {"order": str(list(inputs)).replace("'", '"')})
    save_file({str(i): v.contiguous().clone() for i, v in enumerate(right)}, path + ".out.safetensors")


if __name__ == "__main__":
    main(sys.argv[1])
