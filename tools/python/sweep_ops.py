# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs operators one by one on PyTorch's own sample inputs and compares with eager PyTorch.

  python tools/python/sweep_ops.py --cache DIR --stator build/release/bin/stator [--target host] [--only PATTERN] [--dtype float32]

The samples are those of PyTorch's OpInfo data base (torch.testing._internal): many shapes, strides and options an operator. All
samples of an operator and a type make one program; where it does not run, each sample is tried alone, so that one unsupported
option does not hide the others. One line an operator and sample that does not match; results in DIR/ops-TARGET.jsonl, resumable.
"""
import argparse
import fnmatch
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch.utils._pytree import tree_flatten, tree_unflatten

sys.path.insert(0, str(Path(__file__).parent))
from sweep import compare  # noqa: E402


class Samples(torch.nn.Module):
    """Calls the operator on every sample; all tensors are inputs."""

    def __init__(self, op, samples):
        super().__init__()
        self.op, self.specs, self.inputs = op, [], []
        for sample in samples:
            leaves, spec = tree_flatten((sample.input, sample.args, sample.kwargs))
            places = []
            for leaf in leaves:
                if isinstance(leaf, torch.Tensor):
                    places.append(len(self.inputs))
                    self.inputs.append(leaf.detach())
                else:
                    places.append(("constant", leaf))
            self.specs.append((spec, places))

    def forward(self, *inputs):
        outputs = []
        for spec, places in self.specs:
            leaves = [p[1] if isinstance(p, tuple) else inputs[p] for p in places]
            x, args, kwargs = tree_unflatten(leaves, spec)
            out = self.op(x, *args, **kwargs)
            outputs += [o for o in tree_flatten(out)[0] if isinstance(o, torch.Tensor)]
        return tuple(outputs)


def attempt(op, samples, args):
    """Status and detail of a program of these samples."""
    path = str(Path(args.cache) / "op")
    module = Samples(op, samples)
    inputs = tuple(module.inputs)
    try:
        with torch.no_grad():
            outputs = module(*[x.clone() for x in inputs])
            program = torch.export.export(module, tuple(x.clone() for x in inputs))
            if args.core:
                program = program.run_decompositions()
    except Exception as error:
        return "no export", str(error).strip().splitlines()[0][:160] if str(error).strip() else type(error).__name__
    if not outputs:
        return "match", ""
    try:
        torch.export.save(program, path + ".pt2")
        save_file({n: x.contiguous().clone() for n, x in zip(program.graph_signature.user_inputs, inputs)}, path + ".in.safetensors")
        save_file({str(i): x.contiguous().clone() for i, x in enumerate(outputs)}, path + ".want.safetensors")
    except Exception as error:
        return "no export", str(error).splitlines()[0][:160]
    out = Path(path + ".out.safetensors")
    out.unlink(missing_ok=True)
    try:
        done = subprocess.run([args.stator, "run", path + ".pt2", "--target", args.target, "--in", path + ".in.safetensors", "--out",
                               str(out), "-q"], capture_output=True, text=True, timeout=args.time, errors="replace")
    except subprocess.TimeoutExpired:
        return "timeout", ""
    text = done.stdout + done.stderr
    if done.returncode not in (0, 1):
        return "crash", f"exit {done.returncode}: " + text.strip()[-300:]
    if done.returncode == 1:
        errors = [line for line in text.splitlines() if "error" in line] or text.splitlines() or [""]
        return ("unsupported" if "cannot be imported" in text else "error"), errors[-1][:300]
    detail = compare(out, path + ".want.safetensors", args.tolerance)
    return ("mismatch" if detail else "match"), detail


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--stator", default="build/release/bin/stator")
    parser.add_argument("--target", default="host", choices=["host", "eval", "sim"])
    parser.add_argument("--only", default="*")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--samples", type=int, default=16, help="at most so many samples an operator")
    parser.add_argument("--core", action="store_true", help="after run_decompositions()")
    parser.add_argument("--again", action="store_true", help="run those that did not match again")
    parser.add_argument("--time", type=int, default=300)
    parser.add_argument("--tolerance", type=float, default=2e-5)
    args = parser.parse_args()
    args.stator = os.path.abspath(args.stator)
    torch.set_num_threads(1)
    from torch.testing._internal.common_methods_invocations import op_db
    Path(args.cache).mkdir(parents=True, exist_ok=True)
    record = Path(args.cache) / f"ops-{args.target}{'-core' if args.core else ''}.jsonl"
    done = {}
    if record.exists():
        done = {(e["op"], e["dtype"]): e for e in map(json.loads, record.read_text().splitlines())}
    dtype = getattr(torch, args.dtype)
    counts = Counter()
    for info in op_db:
        name = info.name + ("." + info.variant_test_name if info.variant_test_name else "")
        if "empty" in name:
            continue  # Their values are what memory held.
        if not fnmatch.fnmatch(name, args.only) or dtype not in info.supported_dtypes("cpu"):
            continue
        known = done.get((name, args.dtype))
        if known and not (args.again and any(s != "match" for s in known["statuses"])):
            counts.update(known["statuses"])
            continue
        torch.manual_seed(0)
        try:
            everything = list(info.sample_inputs("cpu", dtype, requires_grad=False))
        except Exception as error:
            print(f"no samples   {name}: {error}")
            continue
        step = max(1, len(everything) // args.samples)
        samples = everything[::step][:args.samples]
        status, detail = attempt(info.op, samples, args)
        statuses, details = [status], [detail]
        if status not in ("match", "unsupported") and len(samples) > 1:
            pairs = [attempt(info.op, [s], args) for s in samples]
            statuses, details = [p[0] for p in pairs], [p[1] for p in pairs]
        counts.update(statuses)
        with open(record, "a") as out:
            out.write(json.dumps({"op": name, "dtype": args.dtype, "statuses": statuses, "details": details}) + "\n")
        for i, (s, d) in enumerate(zip(statuses, details)):
            if s not in ("match", "no export"):
                print(f"{s:11} {name}[{i}] {d}", flush=True)
    print(", ".join(f"{n} {s}" for s, n in counts.most_common()))


if __name__ == "__main__":
    main()
