"""A stratified sample of break-downs: both named functions, generators with weights, tables of both orders,
two to four degrees.
"""

from watchdog.breakdown import evaluate_function

BLOCKS = (
    (b"\x01\x00", 0),
    (b"\x01\x01", 1),
    (b"\x10\x04\x03\x00\x50\xff\xff\xff\xc0\x00\x00\x10\x0a\x03\x02\x07\x01", 0),
    (b"\x10\x04\x03\x05\x50\xf0\xff\xff\xc0\x00\x00\x10\xff\xff\x02\xff\xff", 0),
    (b"\x08\x02\x02\x00\xff\x00\x20\x30\xff", 0),
    (b"\x1e\x05\x02\x00\xff\x00\x99" + bytes(range(0, 240, 10)), 0),
    (b"\x10\x02\x02\x10\xf0\x00\x20\x30\xff\x80\x7f\x10\x90\xa0\xff\x7f\x80", 1),
)


def checksums() -> list[int]:
    """Return one checksum for each block."""
    found = []
    degrees = bytearray(4)
    for block, order in BLOCKS:
        x = 777
        total = 1
        for number in range(90):
            for i in range(4):
                x = (x * 1021 + 7919) % 1048573
                degrees[i] = x >> 12
            total = (total * 251 + evaluate_function(block, 0, degrees, 2 + number % 3, order)) % 4194301
        found.append(total)
    return found
