#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_determinism.py STATOR SOURCE WORK: one program and one set of options give one artifact.

Each model is compiled again and again: from another folder, under another path, in other locales and time zones, with another
environment, with addresses randomised and fixed (setarch -R). The artifacts are compared byte by byte; so are documents of
graph JSON and their weights. The same model with one bit of a weight changed must give another artifact.
"""
import os
import pathlib
import shutil
import subprocess
import sys

MODELS = ["mlp_dynamic", "digits_cnn", "control_flow", "llama_decode"]
TARGETS = [["--target", "host"], ["--target", "cuda", "--arch", "sm_80,sm_90"]]


def locales():
    have = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=True).stdout.split()
    # Wherever numbers are written with commas, or letters sorted otherwise, that locale is tried too.
    return ["C"] + [name for name in have if name.lower().startswith(("c.utf", "de_", "tr_", "fr_"))][:3]


def main():
    stator, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    shutil.rmtree(work, ignore_errors=True)
    folders = [work / "a", work / "a rather longer folder" / "below"]
    for folder in folders:
        folder.mkdir(parents=True)
        for model in MODELS:
            shutil.copy(source / f"tests/models/{model}.pt2", folder)
    fixed = subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode == 0
    if not fixed:
        # Where personality(2) is forbidden the addresses still differ from run to run.
        print("setarch -R is not permitted here: addresses are randomised in every run")

    def run(prefix, arguments, folder, locale, extra):
        environment = {"PATH": os.environ["PATH"], "LC_ALL": locale, "HOME": str(folder), **extra}
        done = subprocess.run([*prefix, str(stator), *arguments], cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{arguments}\n{done.stdout}{done.stderr}")

    names = locales()
    for model in MODELS:
        for target in TARGETS:
            outcomes = {}
            ways = [([], folders[0], names[0], {}, f"{model}.pt2"),
                    ([], folders[1], names[-1], {"TZ": "Asia/Kolkata", "TERM": "xterm"}, f"{model}.pt2"),
                    (["setarch", "-R"] if fixed else [], folders[0], names[len(names) // 2], {"COLUMNS": "1" * 4096},
                     str(folders[1] / f"{model}.pt2"))]
            for number, (prefix, folder, locale, extra, program) in enumerate(ways):
                out = folder / f"{number}.stator"
                run(prefix, ["compile", program, "-q", "-o", str(out), *target], folder, locale, extra)
                outcomes[number] = out.read_bytes()
            for number, artifact in outcomes.items():
                assert artifact == outcomes[0], f"{model} {target}: way {number} gives other bytes ({work})"
            print(f"{model} {target[1]}: {len(outcomes[0])} bytes, {len(outcomes)} times the same", flush=True)
        for number, folder in enumerate(folders):
            run([], ["import", f"{model}.pt2", "-q", "-o", f"{model}.json"], folder, names[-number], {})
        for file in (f"{model}.json", f"{model}.weights.safetensors"):
            assert (folders[0] / file).read_bytes() == (folders[1] / file).read_bytes(), file

    # The comparison can fail: another weight, another artifact.
    weights = bytearray((folders[0] / "digits_cnn.weights.safetensors").read_bytes())
    outcomes = []
    for change in (0, 1):
        weights[-1] ^= change
        (folders[0] / "digits_cnn.weights.safetensors").write_bytes(weights)
        run([], ["compile", "digits_cnn.json", "-q", "-o", "changed.stator"], folders[0], "C", {})
        outcomes.append((folders[0] / "changed.stator").read_bytes())
    assert outcomes[0] != outcomes[1]


main()
