# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bit-exact model of one tensor-core dot-product step, for f16, bf16, tf32 (and fp8) operands.

block(): D = C + sum(a_i * b_i) as the hardware does it: products exact with unnormalised exponents, every term aligned to the
largest exponent with `guard` extra bits and truncated, the integer sum converted to f32 by truncation (f16 output: to nearest even).
Values are passed as f32 bit patterns (f16, bf16 and tf32 values are exact in f32). A longer k is a chain of blocks in k order.
Inf and NaN are not modelled here: any NaN, or +Inf with -Inf, gives the canonical NaN.
"""

import struct
from fractions import Fraction

# gpu: (products per block for 16-bit operands, for tf32, guard bits, smallest alignment exponent)
GPU = {
    "V100": (4, None, 0, -1000),
    "A100": (8, 4, 1, -132),
    "Ada": (8, 4, 1, -132),
    "H100": (16, 8, 2, -133),
    "B200": (16, 8, 2, -133),
}
SMALLEST_NORMAL_EXPONENT = {"bf16": -126, "f16": -14, "tf32": -126, "e4m3": -6, "e5m2": -14}


def split(bits):
    """(sign, exponent, 24-bit significand) of an f32 bit pattern; value = significand * 2**(exponent - 23)."""
    exponent, fraction = (bits >> 23) & 255, bits & 0x7FFFFF
    return bits >> 31, (exponent - 127 if exponent else -126), (fraction | 0x800000 if exponent else fraction)


def to_f32_truncated(negative, magnitude, exponent):
    """f32 bits of magnitude * 2**exponent, rounded toward zero, subnormals kept."""
    if magnitude == 0:
        return 0
    top = magnitude.bit_length() - 1 + exponent
    shift = -149 - exponent if top < -126 else magnitude.bit_length() - 24
    kept = magnitude >> shift if shift > 0 else magnitude << -shift
    if top > 127:
        return (negative << 31) | 0x7F800000
    if top < -126:
        return (negative << 31) | kept
    return (negative << 31) | ((top + 127) << 23) | (kept & 0x7FFFFF)


def to_nearest(value, fraction, least, largest):
    """Bits of a Fraction rounded once to nearest even, in a format of `fraction` bits with normal exponents from `least`."""
    if value == 0:
        return 0
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    exponent = max(exponent, least)
    kept = round(magnitude / Fraction(2) ** (exponent - fraction))  # Python rounds ties to even
    bits = min(kept + ((exponent - least) << fraction), largest)
    width = 16 if fraction == 10 else 32
    return bits | (int(value < 0) << (width - 1))


def exact(a, b, c):
    """The sum of all products and c, added exactly and rounded once: the 8-bit types of B200."""
    value = lambda bits: Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])
    return to_nearest(sum((value(x) * value(y) for x, y in zip(a, b)), value(c)), 23, -126, 0x7F800000)


def keep_significant(bits, count):
    """f32 bits cut to `count` significant bits."""
    magnitude = bits & 0x7FFFFFFF
    if magnitude >= 0x800000:
        return bits >> (24 - count) << (24 - count)
    drop = max(magnitude.bit_length() - count, 0)
    return (bits & 0x80000000) | magnitude >> drop << drop


def block(a, b, c, guard, smallest_alignment, smallest_input_exponent, half=False):
    terms = []
    for x, y in zip(a, b):
        if not (x & 0x7FFFFFFF and y & 0x7FFFFFFF):
            continue
        (sx, ex, mx), (sy, ey, my) = split(x), split(y)
        if ex < smallest_input_exponent:
            mx, ex = mx >> (smallest_input_exponent - ex), smallest_input_exponent
        if ey < smallest_input_exponent:
            my, ey = my >> (smallest_input_exponent - ey), smallest_input_exponent
        terms.append((sx ^ sy, ex + ey, (mx * my) >> 23))
    if c & 0x7FFFFFFF:
        terms.append(split(c))
    if not terms:
        return 0
    align = max(max(t[1] for t in terms), smallest_alignment)
    total = 0
    for sign, exponent, magnitude in terms:
        aligned = (magnitude << guard if guard >= 0 else magnitude >> -guard) >> (align - exponent)
        total += -aligned if sign else aligned
    if half:  # f32 bits of the f16 result
        return half_to_f32(to_nearest(Fraction(total) * Fraction(2) ** (align - 23 - guard), 10, -14, 0x7C00))
    return to_f32_truncated(int(total < 0), abs(total), align - 23 - guard)


def half_to_f32(bits):
    return struct.unpack("<I", struct.pack("<f", struct.unpack("<e", struct.pack("<H", bits))[0]))[0]
