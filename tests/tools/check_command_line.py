#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_command_line.py STATOR SOURCE WORK: what `stator` prints, suggests and returns."""
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import zipfile

STATOR, SOURCE, WORK = (pathlib.Path(a).resolve() for a in sys.argv[1:])
MODELS = SOURCE / "tests/models"
failures = 0


def run(*arguments, cwd=None, **environment):
    return subprocess.run([str(STATOR), *map(str, arguments)], capture_output=True, text=True, cwd=cwd or WORK,
                          env={**os.environ, **environment})


def check(arguments, code, out=(), err=(), not_out=()):
    """Exit code, and regular expressions that must be found in standard output and standard error."""
    global failures
    done = run(*arguments)
    wrong = []
    if done.returncode != code:
        wrong.append(f"exit code {done.returncode}, not {code}")
    wrong += [f"standard output lacks /{p}/" for p in out if not re.search(p, done.stdout, re.M)]
    wrong += [f"standard error lacks /{p}/" for p in err if not re.search(p, done.stderr, re.M)]
    wrong += [f"standard output has /{p}/" for p in not_out if re.search(p, done.stdout, re.M)]
    if code and not done.stderr:
        wrong.append("says nothing about its failure")
    if "\033" in done.stdout + done.stderr:
        wrong.append("colours where there is no terminal")
    if wrong:
        failures += 1
        print(f"stator {' '.join(map(str, arguments))}\n  " + "\n  ".join(wrong) + f"\n{done.stdout}{done.stderr}")
    return done


def npy(path, shape, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}f", *values))


def safetensors(path, tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def on_terminal(*arguments):
    """Standard error of the command as a terminal sees it."""
    leader, follower = pty.openpty()
    child = subprocess.Popen([str(STATOR), *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=follower, cwd=WORK,
                             env={k: v for k, v in os.environ.items() if k != "NO_COLOR"})
    os.close(follower)
    seen = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        seen += part
    child.wait()
    os.close(leader)
    return seen.decode()


def names_and_help():
    check(["--help"], 0, out=["compile", "run", "inspect", "import", "ops", "Examples"])
    check(["--version"], 0, out=[r"^stator \d+\.\d+\.\d+$"])
    for command in "compile", "run", "inspect", "import", "ops":
        check([command, "--help"], 0, out=[r"Examples?:\n +stator " + command, "--json", "--quiet", "--verbose"])
    check([], 1)
    check(["complie"], 1, err=["unknown command 'complie'", "did you mean 'compile'"])
    check(["compile", "x.pt2", "--tagret", "cuda"], 1, err=["unknown option '--tagret'", "did you mean '--target'"])
    check(["run", "x.pt2", "--expct=y"], 1, err=["did you mean '--expect'"])
    check(["compile", "x.pt2", "--target", "cdua"], 1, err=["unknown target 'cdua'", "did you mean 'cuda'"])
    check(["run", "x.pt2", "--target", "hosst"], 1, err=["unknown target 'hosst'", "did you mean 'host'"])
    check(["compile", "x.pt2", "--target", "cuda", "--arch", "sm_9"], 1, err=["unknown GPU architecture 'sm_9'", "did you mean 'sm_"])
    check(["compile", "x.pt2", "--stop-after", "fuze"], 1, err=["unknown phase 'fuze'", "did you mean 'fuse'"])
    check(["compile", "x.pt2", "--start-at", "emit", "--stop-after", "fuse"], 1, err=["comes after"])
    check(["compile", "missing.pt2"], 1, err=["missing.pt2"])
    check(["run", "x.onnx"], 1, err=["expected a name ending in"])
    check(["run", MODELS / "mlp.pt2", "--repeat", "0", "--random=1"], 1, err=["repeat"])
    check(["inspect", MODELS / "mlp.pt2"], 1)


def models_and_inputs():
    two = WORK / "two.pt2"
    with zipfile.ZipFile(MODELS / "mlp.pt2") as source, zipfile.ZipFile(two, "w") as target:
        for info in source.infolist():
            target.writestr(info.filename, source.read(info))
            for folder, rest in (("/models/model.json", "/models/other.json"), ("/model_weights_config.json", "/other_weights_config.json"),
                                 ("/model_constants_config.json", "/other_constants_config.json")):
                if info.filename.endswith(folder):
                    target.writestr(info.filename[:-len(folder)] + rest, source.read(info))
    check(["run", two, "--model", "othr", "--random=1"], 1, err=["no model 'othr'", "did you mean 'other'"])
    check(["run", two, "--model", "other", "--random=1"], 0, out=["^output 0: f32"])

    (WORK / "linear.json").write_text(re.search(r"## An example.*?```json\n(.*?)```", (SOURCE / "docs/graph-json.md").read_text(), re.S)[1])
    npy(WORK / "x.npy", [2, 2], [1, 2, -3, 4])
    safetensors(WORK / "by_position.safetensors", {"0": ([2, 2], [1, 2, -3, 4])})
    safetensors(WORK / "typo.safetensors", {"xx": ([2, 2], [1, 2, -3, 4])})
    expected = [2.5, 3, 5, 0, 11, 11]  # by hand, see docs/graph-json.md
    safetensors(WORK / "y.safetensors", {"0": ([2, 3], expected)})
    wrong = list(expected)
    wrong[1], wrong[5] = 3.5, 20
    safetensors(WORK / "wrong.safetensors", {"0": ([2, 3], wrong)})
    for target in "eval", "host":
        for key in "x", "0":
            check(["run", "linear.json", "--target", target, "--in", f"{key}=x.npy", "--expect", "y.safetensors"], 0,
                  out=[r"^output 0: f32 \[2, 3\]$", r" ms$", "^matches y.safetensors$"])
        check(["run", "linear.json", "--target", target, "--in", "by_position.safetensors", "--expect", "y.safetensors", "-q"], 0, not_out=["."])
        # The worst element, its index, both values, and the op that it came from.
        check(["run", "linear.json", "--target", target, "--in", "x=x.npy", "--expect", "wrong.safetensors"], 1,
              err=[r"output 0: mismatch in 2 of 6 elements; worst at \[1, 2\]: got 11, expected 20", r"computed by graph\.relu at .*linear\.json:\d+"])
        done = check(["run", "linear.json", "--target", target, "--in", "x=x.npy", "--expect", "wrong.safetensors", "--json"], 1)
        summary = json.loads(done.stdout)
        assert summary["outputs"]["0"] == {"dtype": "f32", "shape": [2, 3]} and len(summary["mismatches"]) == 1, summary
    check(["run", "linear.json", "--in", "x=x.npy", "--expect", "wrong.safetensors", "--atol", "10"], 0)
    check(["run", "linear.json", "--in", "y=x.npy"], 1, err=["no input 'y'", "did you mean 'x'"])
    check(["run", "linear.json", "--in", "typo.safetensors"], 1, err=["no tensor for input 0 \\('x'\\)", "did you mean 'xx'"])
    check(["run", "linear.json", "--in", "x.npy"], 1, err=["neither FILE.safetensors nor NAME=FILE.npy"])
    check(["run", "linear.json", "--in", "x=x.npy", "--out", "o.safetensors", "--repeat", "3"], 0, out=["best of 3"])
    assert (WORK / "o.safetensors").read_bytes()[-24:] == struct.pack("<6f", *expected)
    # Seeds are what they say.
    for seed in 1, 2:
        for again in "a", "b":
            check(["run", "linear.json", f"--random={seed}", "--out", f"{seed}{again}.safetensors", "-q"], 0)
    assert (WORK / "1a.safetensors").read_bytes() == (WORK / "1b.safetensors").read_bytes()


def artifacts():
    done = check(["compile", MODELS / "mlp_dynamic.pt2", "--target", "host,cuda", "--arch", "sm_80", "-o", "m.stator", "--json"], 0)
    summary = json.loads(done.stdout)
    assert summary["output"] == "m.stator" and summary["bytes"] == (WORK / "m.stator").stat().st_size and summary["kernels"] > 0
    check(["inspect", "m.stator"], 0,
          out=["'mlp_dynamic', made by stator", r"host/main\.so: \d+ bytes, host for x86-64-v3", r"kernels/main\.sm_80\.ptx: \d+ bytes, ptx for sm_80",
               "^function main$", r"size s77 from 1 to 4096, of input 0, dimension 0", r"input 0 'x': f32 \[s77, 64\]", r"output 0 .*: f32 \[s77, 10\]",
               r"^  on host: [1-9]\d* kernels, [1-9]\d* steps$", r"^  on cuda: ", r"arena of .*s77.* bytes", r"weights of [1-9]\d* bytes", "^    kernels:$",
               "^    plan:$", r"launch \w+ \(", r"from make_models\.py:\d+"], not_out=[r"\?"])
    manifest = json.loads(check(["inspect", "m.stator", "--json"], 0).stdout)
    assert manifest["format"] == 1 and len(manifest["functions"][0]["plans"]) == 2
    check(["run", "m.stator", "--random=3"], 0, out=["^output 0: f32"])
    check(["run", "m.stator", "--target", "eval", "--random=3"], 1, err=["needs the program itself"])
    # Where a compiled artifact's value came from.
    safetensors(WORK / "ten.safetensors", {"0": ([2, 10], [9.0] * 20)})
    check(["run", "m.stator", "--random=3", "--expect", "ten.safetensors"], 1, err=["worst at ", r"computed by kernel \w+ at \S+:\d+"])
    check(["compile", MODELS / "mlp.pt2", "-o", "e.stator", "--explain"], 0, out=["^host ", "ops:", r"from \S+:\d+"])
    done = check(["compile", MODELS / "mlp.pt2", "-o", "e.stator", "--explain", "--json"], 0)
    assert all(row["ops"] for row in json.loads(done.stdout)["explain"])
    check(["compile", MODELS / "mlp.pt2", "-o", "e.stator", "-q"], 0, not_out=["."])
    check(["compile", MODELS / "mlp.pt2", "-o", "e.stator", "-v"], 0, err=["phase fuse", "phase memory", "reading "])
    check(["compile", MODELS / "mlp.pt2", "-o", "no/such/folder/e.stator"], 1, err=["no/such/folder"])
    check(["compile", "m.stator"], 1, err=["is compiled already: `stator run` and `stator inspect` take it"])
    (WORK / "p.mlir").write_text("func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}")
    check(["compile", "p.mlir", "--start-at", "memory"], 1, err=["holds no plan: phase 'memory' starts from what phase 'schedule' leaves"])
    check(["compile", "p.mlir", "--stop-after", "schedule", "-o", "q.mlir"], 0)
    (WORK / "r.mlir").write_text((WORK / "q.mlir").read_text().replace("plan.weights = {}", "plan.weights = {w = 1}"))
    check(["compile", "r.mlir", "--start-at", "memory"], 1, err=["weight \"?w\"? is no tensor"])
    (WORK / "broken.stator").write_bytes((WORK / "m.stator").read_bytes()[:1000])
    check(["inspect", "broken.stator"], 1)


def programs():
    check(["import", MODELS / "control_flow.pt2"], 0, out=["graph.while", "graph.if"], not_out=["loc\\("])
    check(["import", MODELS / "control_flow.pt2", "-o", "c.mlir", "--locations"], 0, out=[r"c\.mlir: \d+ ops"])
    assert "loc(" in (WORK / "c.mlir").read_text()
    done = check(["import", "c.mlir", "-o", "c.json", "--json"], 0)
    assert json.loads(done.stdout)["ops"] > 10
    for program in "c.mlir", "c.json":
        check(["run", program, "--in", MODELS / "control_flow.in.safetensors", "--expect", MODELS / "control_flow.out.safetensors"], 0)
    (WORK / "bad.json").write_text('{"format": "stator-graph",\n "version": 1,\n "functions": [{"nmae": "f"}]}')
    check(["run", "bad.json"], 1, err=["functions\\[0\\]: unknown key 'nmae': did you mean 'name'", r"at bad\.json:3"])
    (WORK / "bad.mlir").write_text("func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %y = graph.exq %x : tensor<2xf32>\n  return %y : tensor<2xf32>\n}")
    check(["run", "bad.mlir"], 1, err=[r"at bad\.mlir:2"])
    (WORK / "unbound.mlir").write_text("func.func @f(%x: tensor<?xf32, #graph.shape<s0>>) -> tensor<?xf32, #graph.shape<s0>> {\n  return %x : tensor<?xf32, #graph.shape<s0>>\n}")
    check(["run", "unbound.mlir", "--random=1"], 1, err=["'s0' is not declared"])
    # What only the sizes of a run show.
    npy(WORK / "two.npy", [2], [1, 2])
    npy(WORK / "none.npy", [1, 1, 0, 3], [])
    (WORK / "strided.mlir").write_text('func.func @f(%x: tensor<?xf32, #graph.shape<s0>>, %y: tensor<?xf32, #graph.shape<s1>>) -> tensor<3xf32> attributes {graph.symbols = '
                                       '[#graph.symbol<"s0", 1, 9>, #graph.symbol<"s1", 1, 9>]} {\n  %r = graph.strided %x strides <s1> offset <0> : '
                                       'tensor<?xf32, #graph.shape<s0>> to tensor<3xf32>\n  return %r : tensor<3xf32>\n}')
    for target, size in [("eval", "2"), ("host", "s0")]:
        check(["run", "strided.mlir", "--target", target, "--in", "0=two.npy", "--in", "1=two.npy"], 1, err=[f"strides and offset leave an operand of {size} elements"])
    (WORK / "resize.mlir").write_text("func.func @f(%x: tensor<1x1x?x3xf32, #graph.shape<1, 1, s0, 3>>) -> tensor<1x1x2x2xf32> attributes {graph.symbols = "
                                      '[#graph.symbol<"s0", 0, 9>]} {\n  %r = graph.resize %x nearest {scales = array<f64>} : tensor<1x1x?x3xf32, #graph.shape<1, 1, s0, 3>> to '
                                      "tensor<1x1x2x2xf32>\n  return %r : tensor<1x1x2x2xf32>\n}")
    for target in ["eval", "host"]:
        check(["run", "resize.mlir", "--target", target, "--in", "0=none.npy"], 1, err=["makes elements from none"])
    # A slice to a size that only the run knows: one that fits, one that is empty wherever it begins, one that does not fit.
    (WORK / "slice.mlir").write_text("func.func @f(%x: tensor<?xf32, #graph.shape<s0>>, %y: tensor<?xf32, #graph.shape<s1>>) -> tensor<?xf32, #graph.shape<s1>> attributes {graph.symbols = "
                                     '[#graph.symbol<"s0", 0, 9>, #graph.symbol<"s1", 0, 9>]} {\n  %r = graph.slice %x starts <1> steps [1] : tensor<?xf32, #graph.shape<s0>> to '
                                     "tensor<?xf32, #graph.shape<s1>>\n  %e = graph.neg %r : tensor<?xf32, #graph.shape<s1>>\n  return %e : tensor<?xf32, #graph.shape<s1>>\n}")
    npy(WORK / "one.npy", [1], [1])
    npy(WORK / "empty.npy", [0], [])
    for target in ["eval", "host"]:
        check(["run", "slice.mlir", "--target", target, "--in", "0=two.npy", "--in", "1=one.npy"], 0)
        check(["run", "slice.mlir", "--target", target, "--in", "0=empty.npy", "--in", "1=empty.npy"], 0)
        check(["run", "slice.mlir", "--target", target, "--in", "0=two.npy", "--in", "1=two.npy"], 1, err=["elements 1 and on", "inside dimension 0 of size"])
    # A number that the program computes may be negative, other than a size.
    npy(WORK / "number.npy", [], [3])
    (WORK / "negative.mlir").write_text('func.func @f(%x: tensor<f32>) -> tensor<f32> attributes {graph.symbols = [#graph.symbol<"u0", -9, 9>]} {\n  %n = graph.neg %x : tensor<f32>\n'
                                        '  %i = graph.cast %n : tensor<f32> to tensor<i64>\n  graph.bind_symbol "u0", %i : tensor<i64>\n'
                                        "  %r = graph.size <u0 + 1> : tensor<i64>\n  %s = graph.cast %r : tensor<i64> to tensor<f32>\n  return %s : tensor<f32>\n}")
    safetensors(WORK / "minus_two.safetensors", {"0": ([], [-2])})
    for target in ["eval", "host"]:
        check(["run", "negative.mlir", "--target", target, "--in", "0=number.npy", "--expect", "minus_two.safetensors"], 0)
    check(["ops"], 0, out=[r"^aten\.add\.Tensor$"])
    check(["ops", "--graph"], 0, out=[r"^matmul .*transpose_rhs: flag", r"^scatter .*dim: integer.*mode: set \| add", r"^slice .*starts: sizes.*steps: integers"])
    assert "aten.exp.default" in json.loads(check(["ops", "--json"], 0).stdout)


def fusion(size, ops, result, result_size):
    """A program of one hand-made fused kernel, as `fuse` leaves it, for phases that start after it."""
    args = f"tensor<{size}xf32>) -> tensor<{result_size}xf32>"
    return (f'func.func @f(%x: {args} {{\n  %r = graph.fusion "k" "loop"(%x) : ({args} {{\n  ^bb0(%v0: tensor<{size}xf32>):\n' + "".join(ops) +
            f"  graph.yield %{result} : tensor<{result_size}xf32>\n  }}\n  return %r : tensor<{result_size}xf32>\n}}")


def large_kernels():
    def reversals(count):
        return fusion("4x5", [f"  %v{i + 1} = graph.reverse %v{i} dims = [{i % 2}] : tensor<4x5xf32>\n" for i in range(count)], f"v{count}", "4x5")

    def doublings(count):
        """Each sum reads the one before at two places: 2^count different indices of the input."""
        size, ops = 1000000, []
        for i in range(count):
            less = size - 2**i
            ops += [f"  %{name}{i} = graph.slice %v{i} starts <{start}> steps [1] : tensor<{size}xf32> to tensor<{less}xf32>\n"
                    for name, start in (("a", 0), ("b", 2**i))]
            ops.append(f"  %v{i + 1} = graph.add %a{i}, %b{i} : tensor<{less}xf32>\n")
            size = less
        return fusion(1000000, ops, f"v{count}", size)

    for name, text, error in (("few", reversals(20), ""), ("deep", reversals(300), "'graph.reverse' op too many index-changing ops in one kernel"),
                              ("some", doublings(4), ""),
                              ("wide", doublings(17), "'graph.fusion' op reads its values at too many different indices: split it into several kernels")):
        (WORK / f"{name}.mlir").write_text(text)
        check(["compile", f"{name}.mlir", "--start-at", "lower", "-o", f"{name}.stator"], 1 if error else 0, err=[error] if error else [])


def terminals():
    assert "\033[1;31merror" in on_terminal("compile", "missing.pt2"), "errors are red on a terminal"
    assert "\033" not in run("compile", "missing.pt2").stderr
    # Runs until it has shown something: how long a run takes is the machine's affair.
    for repeat in 300_000, 3_000_000, 30_000_000:
        long = ["run", "linear.json", "--target", "eval", "--random=1", "--repeat", repeat]
        shown = on_terminal(*long)
        if shown:
            break
    assert re.search(r"\r\033\[Krunning \.\.\. \d+ s", shown), repr(shown[-300:])
    assert shown.endswith("\r\033[K"), "the line is taken away"
    assert on_terminal(*long, "-q") == ""
    # A crash would say so: a chain of operations is no reason for one.
    ops = ",\n".join(f'{{"op": "exp", "operands": ["v{i}"], "results": [{{"name": "v{i + 1}", "dtype": "f32", "shape": [4]}}]}}' for i in range(60000))
    (WORK / "long.json").write_text('{"format": "stator-graph", "version": 1, "functions": [{"name": "main", "inputs": [{"name": "v0", "dtype": "f32", '
                                    f'"shape": [4]}}], "ops": [{ops}], "outputs": ["v60000"]}}]}}')
    check(["compile", "long.json", "--stop-after", "simplify", "-o", "long.mlir"], 0)
    check(["run", "long.json", "--target", "eval", "--random=1"], 0)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    for part in names_and_help, models_and_inputs, artifacts, programs, large_kernels, terminals:
        part()
        print(f"{part.__name__}: done", flush=True)
    sys.exit(1 if failures else 0)


main()
