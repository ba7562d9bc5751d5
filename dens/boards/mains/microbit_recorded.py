"""Readings that lie in the board's flash: a byte that says which attributes, and seven values, each."""

from microbit_setup import mask, row

readings = open("readings.bin", "rb")


def read():
    line = readings.read(8)
    if len(line) < 8:
        return False
    mask[0] = line[0]
    for i in range(7):
        row[i] = line[1 + i]
    return True
