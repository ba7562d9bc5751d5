"""A stratified sample of break-downs: both named functions, zero and first order, two to four degrees."""

from watchdog.breakdown import evaluate


def checksums() -> list[int]:
    """Return one checksum for each function and order."""
    found = []
    degrees = bytearray(4)
    block = bytearray(2)
    block[0] = 1
    for function in range(2):
        block[1] = function
        for order in range(2):
            x = 777
            total = 1
            for number in range(90):
                for i in range(4):
                    x = (x * 1021 + 7919) % 1048573
                    degrees[i] = x >> 12
                total = (total * 251 + evaluate(block, 0, degrees, 2 + number % 3, order)) % 4194301
            found.append(total)
    return found
