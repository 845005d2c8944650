# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bit-exact model of one tensor-core dot-product step, for f16, bf16, tf32 (and fp8) operands.

block(): D = C + sum(a_i * b_i) as the hardware does it: products exact with unnormalised exponents, every term aligned to the
largest exponent with `guard` extra bits and truncated, the integer sum converted to f32 by truncation (f16 output: to nearest even).
Values are passed as f32 bit patterns (f16, bf16 and tf32 values are exact in f32). A longer k is a chain of blocks in k order.
Inf and NaN are not modelled here: any NaN, or +Inf with -Inf, gives the canonical NaN.
"""

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


def block(a, b, c, guard, smallest_alignment, smallest_input_exponent):
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
    return to_f32_truncated(int(total < 0), abs(total), align - 23 - guard)
