"""How well one normalised value fits one constraint (v, V, g): the universal fuzzifier in integers.

The slope codes stand for γ(c) = 0.5 · 2^(c/18). A board keeps 256·γ for every code in one array, which is
unfolded at import from the eighteen numbers of one octave (watchdog.octave). Code 127, crisp, gets a slope so
steep that the degree is 0 one step outside the core; so callers need not distinguish crisp from fuzzy.
"""

from array import array

from watchdog.octave import OCTAVE

SLOPES = array("H", bytearray(256))
"""256·γ for the slope codes 0..126, and for 127 a number that takes every degree to 0 within one step."""

_code = 0
while _code < 127:
    SLOPES[_code] = (OCTAVE[_code % 18] << _code // 18) + 2048 >> 12
    _code += 1
SLOPES[127] = 65535
del array, OCTAVE, _code


def degree(x: int, v: int, V: int, g: int) -> int:
    """Return how well the byte x fits (v, V, g), 0..255: 255 on [v, V], falling linearly outside.

    Bit 7 of g complements the result, bits 0 to 6 are the slope code.
    """
    if x < v:
        loss = (v - x) * SLOPES[g & 127] + 128 >> 8
    elif x > V:
        loss = (x - V) * SLOPES[g & 127] + 128 >> 8
    else:
        loss = 0
    if loss > 255:
        loss = 255
    if g & 128:
        return loss
    return 255 - loss
