#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_documents.py STATOR SOURCE WORK: what the writer of graph JSON writes.

Every model of tests/models becomes a document; it fits docs/graph.schema.json, and reading it gives the very module that
the archive gives, locations and weights included. The example of docs/graph-json.md fits too, and runs to known values.
Documents that the reader refuses for their form do not fit the schema.
"""
import json
import pathlib
import re
import struct
import subprocess
import sys

import jsonschema


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def write_tensor(path, name, shape, values):
    header = json.dumps({name: {"dtype": "F32", "shape": shape, "data_offsets": [0, 4 * len(values)]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack(f"<{len(values)}f", *values))


def main():
    stator, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    work.mkdir(parents=True, exist_ok=True)
    schema = json.loads((source / "docs/graph.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)

    models = sorted((source / "tests/models").glob("*.pt2"))
    assert len(models) >= 21, models
    for model in models:
        document, direct, back = work / f"{model.stem}.json", work / f"{model.stem}.mlir", work / f"{model.stem}.back.mlir"
        run(stator, "import", model, "-o", document)
        validator.validate(json.loads(document.read_text()))
        run(stator, "import", model, "-o", direct, "--locations")
        run(stator, "import", document, "-o", back, "--locations")
        assert direct.read_bytes() == back.read_bytes(), f"{model.stem}: the document gives another module"
        # What is written from the document is the document, but for the name of the weights file.
        again = work / f"{model.stem}.again.json"
        run(stator, "import", document, "-o", again)
        assert document.read_text() == again.read_text().replace(f"{model.stem}.again.weights", f"{model.stem}.weights"), model.stem
        print(f"{model.stem}: {document.stat().st_size} bytes", flush=True)

    example = re.search(r"## An example.*?```json\n(.*?)```", (source / "docs/graph-json.md").read_text(), re.S).group(1)
    validator.validate(json.loads(example))
    (work / "linear.json").write_text(example)
    write_tensor(work / "x.safetensors", "x", [2, 2], [1, 2, -3, 4])
    # x @ weight^T + bias, by hand: [1 + 1, -1 + 4, 6] and [-3 + 2, 3 + 8, 12], plus [0.5, 0, -1], negative ones zero.
    write_tensor(work / "y.safetensors", "0", [2, 3], [2.5, 3, 5, 0, 11, 11])
    for target in "eval", "host":
        run(stator, "run", work / "linear.json", "--target", target, "--in", work / "x.safetensors", "--expect", work / "y.safetensors")
    run(stator, "compile", work / "linear.json", "-o", work / "linear.stator")

    # Schema and reader agree on what is no document.
    invalid = sorted((source / "tests/frontend/json/invalid").glob("*.json"))
    assert len(invalid) >= 12
    for path in invalid:
        assert not validator.is_valid(json.loads(path.read_text())), f"{path.name} fits the schema"
        done = subprocess.run([str(stator), "import", str(path)], capture_output=True, text=True)
        assert done.returncode == 1 and f"at {path}" in done.stderr, f"{path.name}: {done.stdout}{done.stderr}"


main()
