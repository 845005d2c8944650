#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_phases.py STATOR SOURCE WORK: every phase can be listed, dumped, stopped at and started from.

Stopping after a phase, writing the program as text, and starting from the text at the next phase gives the artifact that a
compilation in one go gives, byte for byte, for both targets.
"""
import json
import pathlib
import shutil
import subprocess
import sys

MODELS = ["mlp_dynamic", "control_flow", "llama_decode"]
OPTIONS = ["--target", "host,cuda", "--arch", "sm_80"]


def main():
    stator, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    shutil.rmtree(work, ignore_errors=True)

    def run(*arguments):
        done = subprocess.run([str(stator), *map(str, arguments)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stdout

    phases = [row["name"] for row in json.loads(run("compile", "--list-phases", "--json"))]
    assert phases[0] == "import" and phases[-1] == "emit" and len(phases) >= 8, phases
    assert [line.split()[0] for line in run("compile", "--list-phases").splitlines() if line[0] != " "] == phases
    for model in MODELS:
        program = source / f"tests/models/{model}.pt2"
        direct, dumps = work / f"{model}.stator", work / f"{model}.phases"
        work.mkdir(exist_ok=True)
        run("compile", program, "-q", "-o", direct, "--dump-phases", dumps, *OPTIONS)
        assert sorted(p.name for p in dumps.iterdir()) == [f"{i + 1:02}-{name}.mlir" for i, name in enumerate(phases[:-1])]
        for stop, start in zip(phases, phases[1:]):
            # The artifact carries the program's name, which is the file's.
            text, artifact = work / stop / f"{model}.mlir", work / stop / f"{model}.stator"
            text.parent.mkdir(exist_ok=True)
            run("compile", program, "--stop-after", stop, "-o", text, *OPTIONS)
            run("compile", text, "--start-at", start, "-q", "-o", artifact, *OPTIONS)
            assert artifact.read_bytes() == direct.read_bytes(), f"{model}: starting at {start} gives another artifact"
            assert run("compile", program, "--stop-after", stop, *OPTIONS), f"{stop} shows nothing"
        print(f"{model}: {len(phases) - 1} texts give the artifact of {direct.stat().st_size} bytes", flush=True)


main()
