"""The temperature of the micro:bit's own chip, as the attribute given to the build."""

from microbit import temperature
from microbit_setup import counts, mask, row


def read():
    x = temperature() * SCALE - LOW
    if x < 0:
        x = 0
        counts[0] += 1
    if x > SPAN:
        x = SPAN
        counts[0] += 1
    mask[0] = 1 << ATTRIBUTE
    row[ATTRIBUTE] = (510 * x + SPAN) // (2 * SPAN)
    return True
