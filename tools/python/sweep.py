# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports many public models with random weights, runs each through `stator run`, and tells which match PyTorch.

  python tools/python/sweep.py export  --cache DIR [--only PATTERN] [--variant plain|dynamic|core]
  python tools/python/sweep.py run     --cache DIR --stator build/release/bin/stator [--target host] [--only PATTERN] [--again STATUS,...]
  python tools/python/sweep.py table   --cache DIR [--target host] [--markdown]

`export` writes NAME.pt2, NAME.in.safetensors and NAME.out.safetensors into DIR (gigabytes: keep it outside the source tree), one
model a child process with bounded memory and time. Variants: `plain` is what torch.export writes, `dynamic` has a symbolic batch
(exported with two samples, run with three), `core` is after run_decompositions(). `run` runs every exported model that has no
result yet and appends to DIR/results-TARGET.jsonl; both can be stopped and started again. The last result of a model counts.

Statuses: match; mismatch (a value, type or shape differs); unsupported (operators are named); error (any other clean message);
crash (a signal or exit code 70); timeout. Floats match where the difference is under --tolerance (default 2e-4) of the largest magnitude in the
output, integers and booleans exactly, NaN and infinities by position. Needs PyTorch, torchvision, timm, transformers, safetensors.
"""
import argparse
import fnmatch
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

VARIANTS = ("plain", "dynamic", "core")
STATUSES = ("match", "mismatch", "unsupported", "error", "crash", "timeout")


def key(name, variant):
    return name.replace("/", "-") + ("" if variant == "plain" else "+" + variant)


def limit(gigabytes, seconds):
    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.setsid()
    return apply


def export_one(name, variant, cache):
    """Runs in a child: builds, exports, saves. Errors end it."""
    import torch
    from safetensors.torch import save_file
    from sweep_models import BATCH, MODELS, Flat, seen
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    flat = Flat(seen(model), list(inputs)).eval()
    torch.manual_seed(2)
    with torch.no_grad():
        dynamic = None
        if variant == "dynamic":
            batched = {k: v.dim() > 0 and v.shape[0] == BATCH for k, v in inputs.items()}
            if not any(batched.values()):
                raise RuntimeError("no batch dimension")
            dynamic = {"inputs": {k: {0: torch.export.Dim.AUTO} if b else {} for k, b in batched.items()}}
        program = torch.export.export(flat, (inputs,), dynamic_shapes=dynamic)
        if variant == "core":
            program = program.run_decompositions()
        if variant == "dynamic":
            inputs = {k: torch.cat([v, v[:1]]) if batched[k] else v for k, v in inputs.items()}
        outputs = flat({k: v.clone() for k, v in inputs.items()})
    names = [n for n in program.graph_signature.user_inputs]
    path = str(Path(cache) / key(name, variant))
    torch.export.save(program, path + ".pt2")
    save_file({n: v.contiguous().clone() for n, v in zip(names, inputs.values())}, path + ".in.safetensors")
    save_file({str(i): v.contiguous().clone() for i, v in enumerate(outputs)}, path + ".out.safetensors")


def export(args):
    """Forks one child a model from a process that has the libraries loaded."""
    sys.path.insert(0, str(Path(__file__).parent))
    import timm, torch, torchvision, transformers  # noqa: F401  (loaded once for all children)
    from transformers import AutoModel  # noqa: F401
    from sweep_models import MODELS
    torch.set_num_threads(1)
    cache = Path(args.cache)
    cache.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        path = cache / key(name, args.variant)
        done = Path(str(path) + ".out.safetensors").exists() or (Path(str(path) + ".failed").exists() and not args.again)
        if done or not fnmatch.fnmatch(name, args.only):
            continue
        start = time.time()
        log = str(path) + ".log"
        pid = os.fork()
        if pid == 0:
            out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1), os.dup2(out, 2)
            resource.setrlimit(resource.RLIMIT_AS, (args.memory << 30, args.memory << 30))
            resource.setrlimit(resource.RLIMIT_CPU, (args.time, args.time + 5))
            signal.alarm(6 * args.time)
            try:
                export_one(name, args.variant, cache)
                os._exit(0)
            except BaseException as error:
                import traceback
                traceback.print_exc()
                text = next((l for l in str(error).splitlines() if l.strip()), "")
                print(f"FAILED {type(error).__name__}: {text[:160]}", flush=True)
                os._exit(1)
        _, status = os.waitpid(pid, 0)
        if status == 0:
            os.unlink(log)
            print(f"exported {name} {time.time() - start:.0f} s", flush=True)
        else:
            reason = [l for l in Path(log).read_text(errors="replace").splitlines() if l.startswith("FAILED")]
            reason = reason[-1] if reason else f"FAILED (ended with {status})"
            Path(str(path) + ".failed").write_text(reason)
            print(f"{reason} {name} {time.time() - start:.0f} s", flush=True)


def load(file):
    """A safetensors file as numpy arrays with their stored types. (PyTorch itself would make this process large, and the memory
    of a child counts from there.)"""
    import numpy as np
    types = {"F64": "f8", "F32": "f4", "F16": "f2", "BF16": "u2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1", "U8": "u1",
             "U16": "u2", "U32": "u4", "U64": "u8", "BOOL": "?", "C64": "c8", "C128": "c16", "F8_E4M3": "u1", "F8_E5M2": "u1"}
    data = Path(file).read_bytes()
    size = int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        array = np.frombuffer(data[8 + size + begin:8 + size + end], types[entry["dtype"]]).reshape(entry["shape"])
        if entry["dtype"] == "BF16":
            array = (array.astype("u4") << 16).view("f4")
        found[name] = (entry["dtype"], array)
    return found


def compare(got_file, want_file, tolerance):
    """Empty where they match, else what differs."""
    import numpy as np
    got, want = load(got_file), load(want_file)
    for name, (dtype, expected) in want.items():
        if name not in got:
            return f"output {name} is missing"
        got_dtype, value = got[name]
        if got_dtype != dtype or value.shape != expected.shape:
            return f"output {name}: {got_dtype} {list(value.shape)} instead of {dtype} {list(expected.shape)}"
        if expected.dtype.kind not in "fc":
            bad = int((value != expected).sum())
            if bad:
                return f"output {name}: {bad} of {expected.size} integers differ"
            continue
        finite = np.isfinite(expected)
        if not np.array_equal(value[~finite], expected[~finite], equal_nan=True) or not np.isfinite(value[finite]).all():
            return f"output {name}: NaN or infinity at other places"
        if not finite.any():
            continue
        scale = float(np.abs(expected[finite]).max())
        worst = float(np.abs(value[finite].astype("c16") - expected[finite].astype("c16")).max())
        if worst > tolerance * scale:
            return f"output {name}: differs by {worst:.3g}, largest value {scale:.3g}"
    return ""


def run_one(path, args):
    out, log_file = Path(args.cache) / f"run-{os.getpid()}.result", Path(args.cache) / f"run-{os.getpid()}.log"
    out.unlink(missing_ok=True)
    command = [args.stator, "run", path + ".pt2", "--target", args.target, "--in", path + ".in.safetensors", "--out", str(out), "--json"]
    start = time.time()
    with open(log_file, "w+") as log:
        child = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, preexec_fn=limit(args.memory, args.time))
        timed_out = False
        def ring(*_):
            nonlocal timed_out
            timed_out = True
            os.killpg(child.pid, signal.SIGKILL)
        signal.signal(signal.SIGALRM, ring)
        signal.alarm(6 * args.time)
        _, status, usage = os.wait4(child.pid, 0)
        signal.alarm(0)
        log.seek(0)
        text = log.read()
    result = {"seconds": round(time.time() - start, 1), "cpu": round(usage.ru_utime + usage.ru_stime, 1), "mb": usage.ru_maxrss >> 10}
    code = os.waitstatus_to_exitcode(status)
    lines = [l for l in text.splitlines() if l.strip()]
    median = re.search(r'"median": ([0-9.e+-]+)', text)
    if timed_out or code == -signal.SIGXCPU:
        return {**result, "status": "timeout", "detail": ""}
    if code < 0 or code in (70, 134, 139) or code > 1:
        return {**result, "status": "crash", "detail": f"exit {code}: " + (lines[-1][:200] if lines else "")}
    if code == 0:
        detail = compare(out, path + ".out.safetensors", args.tolerance)
        out.unlink(), log_file.unlink()
        return {**result, "status": "mismatch" if detail else "match", "detail": detail, "ms": float(median[1]) if median else None}
    if "cannot be imported" in text:
        names = sorted(set(re.findall(r"note: ([\w.]+), \d+ calls?\b", text)))
        return {**result, "status": "unsupported", "detail": " ".join(names) or lines[0][:300]}
    errors = [l for l in lines if "error" in l.lower()] or lines
    return {**result, "status": "error", "detail": (errors[0] if errors else "")[:400]}


def results(args):
    path = Path(args.cache) / f"results-{args.target}.jsonl"
    found = {}
    if path.exists():
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            found[entry["model"]] = entry
    return path, found


def run(args):
    args.stator = os.path.abspath(args.stator)
    path, found = results(args)
    again = set(args.again.split(",")) if args.again else set()
    cache = Path(args.cache)
    for file in sorted(cache.glob("*.out.safetensors")):
        name = file.name.removesuffix(".out.safetensors")
        if not fnmatch.fnmatch(name, args.only.replace("/", "-")):
            continue
        if name in found and found[name]["status"] not in again:
            continue
        if args.largest and (cache / (name + ".pt2")).stat().st_size > args.largest << 20:
            continue
        entry = {"model": name, **run_one(str(cache / name), args)}
        with open(path, "a") as out:
            out.write(json.dumps(entry) + "\n")
        print(f"{entry['status']:11} {entry['seconds']:6.1f} s {entry['mb']:5} MB {name}  {entry['detail']}", flush=True)


def table(args):
    _, found = results(args)
    counts = Counter(e["status"] for e in found.values())
    entries = sorted(found.values(), key=lambda e: (STATUSES.index(e["status"]), e["model"]))
    if args.markdown:
        print("| model | status | seconds | run ms | MB | |\n|---|---|---|---|---|---|")
        for e in entries:
            print(f"| {e['model']} | {e['status']} | {e['cpu']} | {e.get('ms') or ''} | {e['mb']} | {e['detail'][:160].replace('|', '/')} |")
    else:
        for e in entries:
            print(f"{e['status']:11} {e['cpu']:6.1f} s {e['mb']:5} MB {e['model']}  {e['detail'][:200]}")
    print("\n" + ", ".join(f"{counts[s]} {s}" for s in STATUSES if counts[s]) + f" of {len(found)}")
    operators = Counter(op for e in found.values() if e["status"] == "unsupported" for op in e["detail"].split())
    for op, n in operators.most_common():
        print(f"  {n} {op}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["export", "run", "table"])
    parser.add_argument("--cache", required=True, help="folder of exported models and results")
    parser.add_argument("--only", default="*", help="pattern of model names, such as 'timm/*'")
    parser.add_argument("--variant", default="plain", choices=VARIANTS, help="what to export")
    parser.add_argument("--stator", default="build/release/bin/stator")
    parser.add_argument("--target", default="host", choices=["host", "eval", "sim"])
    parser.add_argument("--again", default="", help="statuses to run again, such as mismatch,error; for export: anything tries failures again")
    parser.add_argument("--time", type=int, default=150, help="seconds of processor time a model (and six times as many in all)")
    parser.add_argument("--memory", type=int, default=10, help="address space of a child in GiB")
    parser.add_argument("--largest", type=int, default=0, help="run only archives up to so many MiB")
    parser.add_argument("--tolerance", type=float, default=2e-4)
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    {"export": export, "run": run, "table": table}[args.command](args)


if __name__ == "__main__":
    main()
