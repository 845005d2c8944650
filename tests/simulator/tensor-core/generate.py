# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes CHIP-TYPE.txt: random dot products and what model.py says of them. A line: k a's, k b's, c, result, all f32 bits.
Files *-half.txt: the accumulator and the result are f16 numbers.

usage: generate.py FOLDER LINES [SEED]
"""
import random
import struct
import sys

import model

# file stem: (operand type, k, products a step, guard, alignment floor, how the sum becomes the result)
CASES = {}
for chip, gpu in (("a100", "A100"), ("l40s", "Ada"), ("h100", "H100"), ("b200", "B200")):
    n16, n32, guard, floor = model.GPU[gpu]
    for kind in ("f16", "bf16"):
        CASES[f"{chip}-{kind}"] = (kind, 16, n16, guard, floor, "truncated")
    CASES[f"{chip}-tf32"] = ("tf32", 8, n32, guard, floor, "truncated")
    CASES[f"{chip}-f16-half"] = ("f16", 16, n16, guard, -20 if floor == -132 else -21, "half")
CASES["t4-f16"] = ("f16", 16, 4, 0, -1000, "truncated")
CASES["t4-f16-half"] = ("f16", 16, 4, 0, -1000, "half")
for kind in ("e4m3", "e5m2"):
    CASES[f"h100-{kind}"] = (kind, 32, 32, 13 - 23, -133, "truncated")
    CASES[f"l40s-{kind}"] = (kind, 32, 16, 13 - 23, -132, "fourteen bits")
    CASES[f"b200-{kind}"] = (kind, 32, 32, None, None, "exact")

FRACTION = {"f16": 10, "bf16": 7, "tf32": 10, "e4m3": 3, "e5m2": 2}
LARGEST = {"f16": 15, "bf16": 127, "tf32": 127, "e4m3": 8, "e5m2": 15}


def operand(rng, kind, spread):
    """f32 bits of a random value of the type: wide or narrow exponents, subnormals and zeros included."""
    if rng.random() < 0.05:
        return rng.getrandbits(1) << 31
    low = model.SMALLEST_NORMAL_EXPONENT[kind]
    bits = FRACTION[kind]
    exponent = rng.randint(max(low - bits, -spread), min(LARGEST[kind], spread))
    fraction = rng.getrandbits(bits)
    if exponent < low:  # a subnormal of the type
        keep = bits + exponent - low
        fraction = fraction >> (bits - keep) << (bits - keep) if keep > 0 else 0
    if kind == "e4m3" and exponent == 8 and fraction == 7:
        fraction = 6
    value = (1 + fraction / 2.0**bits) * 2.0**exponent
    return struct.unpack("<I", struct.pack("<f", -value if rng.getrandbits(1) else value))[0]


def main():
    folder, lines = sys.argv[1], int(sys.argv[2])
    for stem, (kind, k, n, guard, floor, finish) in CASES.items():
        rng = random.Random(f"{stem} {sys.argv[3] if len(sys.argv) > 3 else 0}")
        with open(f"{folder}/{stem}.txt", "w") as out:
            written = 0
            while written < lines:
                spread = rng.choice((2, 6, 14, 40, 60))
                a = [operand(rng, kind, spread) for _ in range(k)]
                b = [operand(rng, kind, spread) for _ in range(k)]
                if finish == "half":
                    c = start = operand(rng, "f16", spread)
                else:
                    c = start = operand(rng, "tf32", spread * 2) ^ (rng.getrandbits(13) if rng.random() < 0.9 else 0)
                for at in range(0, k, n):
                    if finish == "exact":
                        c = model.exact(a, b, c)
                        continue
                    least = model.SMALLEST_NORMAL_EXPONENT[kind]
                    c = model.block(a[at:at + n], b[at:at + n], c, guard, floor, least, finish == "half")
                    if finish == "fourteen bits":
                        c = model.keep_significant(c, 14)
                if c & 0x7F800000 == 0x7F800000:
                    continue  # overflow is not modelled
                written += 1
                out.write(" ".join(f"{x:x}" for x in a + b + [start, c]) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, ".")
    main()
