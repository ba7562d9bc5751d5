"""Programs that run on the emulated micro:bit to measure the filter."""

SETUP = """
from watchdog.pool import Pool
from watchdog.scan import Scan

pool = Pool(1, BLOCK_BYTES, 99)
del Pool
scan = Scan(pool, False, 95, None)
del Scan
"""
"""Makes pool and scan; BLOCK_BYTES is filled in."""

FILLING = """
from program import pool, scan
from watchdog.pool import EXPIRY


def run():
    vector = bytearray(17)
    vector[15] = 1
    vector[16] = 7
    held = 0
    while pool.put(held, held & 255, 0, 1000, vector, 5, 17):
        held += 1
    if pool.search(EXPIRY, 4, 0, 1) >= 0:
        pool.remove(pool.judge(1, 2, 3))
        scan.prepare()
        scan.begin(0, 1, 2, vector, vector)
        scan.advance()
    print("held", held, pool.blocks[0][0] << 1)
"""
"""Fills a pool completely."""

FREE = "import gc\ngc.collect()\ngc.collect()\nprint('free',gc.mem_free())\n"

START = "print('free',gc.mem_free())\nrun()\nprint('--end--')\n"
