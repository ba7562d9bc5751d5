"""A stratified sample of patterns: every one-byte form for up to four predicates, and token strings, with
every T-norm.
"""

from watchdog.pattern import evaluate_pattern


def checksums() -> list[int]:
    """Return for each norm one checksum for exact evaluation and one for break-down."""
    found = []
    degrees = bytearray(8)
    for norm in range(3):
        block = bytearray([1, 0] if norm == 0 else [2, 192 + norm, 0])
        tokens = b"\x07\x00\x02\x42\x01\xc0\x03\x82\x42"
        if norm:
            tokens = bytes([8, 192 + norm]) + tokens[1:]
        for by_pairs in (False, True):
            x = 999
            total = 1
            for k in range(2, 5):
                for code in range(256):
                    if code & 127 < (1 << k - 1) - 1:
                        block[-1] = code
                        for i in range(k):
                            x = (x * 1021 + 7919) % 1048573
                            degrees[i] = x >> 12
                        total = (total * 251 + evaluate_pattern(block, 0, degrees, k, by_pairs)) % 4194301
                        total = (total * 251 + evaluate_pattern(tokens, 0, degrees, 4, by_pairs)) % 4194301
            found.append(total)
    return found
