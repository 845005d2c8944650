# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accuracy.py SCORES LABELS: how many rows of the scores have their largest entry at the label (plain Python)."""
import json
import struct
import sys


def tensors(path):
    with open(path, "rb") as f:
        data = f.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    for name, info in header.items():
        if name != "__metadata__":
            begin, end = info["data_offsets"]
            yield info["dtype"], info["shape"], data[8 + size + begin:8 + size + end]


def main():
    dtype, (rows, classes), raw = next(tensors(sys.argv[1]))
    assert dtype == "F32"
    scores = struct.unpack(f"<{rows * classes}f", raw)
    dtype, shape, raw = next(tensors(sys.argv[2]))
    labels = struct.unpack(f"<{shape[0]}q", raw)
    right = sum(max(range(classes), key=lambda c: scores[r * classes + c]) == labels[r] for r in range(rows))
    print(f"accuracy: {right} of {rows} ({100 * right / rows:.1f} %)")


main()
