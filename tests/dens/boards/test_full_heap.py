"""A heap without a byte left: a subscription is refused, nothing has changed, and readings are judged."""

import pytest

from tests.dens.boards.runtimes import run_on
from watchdog.codes import ALGORITHMS, FULL, REPLACED

pytestmark = pytest.mark.board

PROGRAM = """
import gc
from watchdog.filter import FuzzyFilter
from watchdog.pool import Pool
from watchdog.sharing import enter, vector_part
from watchdog.watchdog import Watchdog

def wanted(number):
    first, second, saf = number % 200, number // 7 % 200, (3, 5, 6)[number % 3]
    return bytes(5) + bytes([0xD0, first, 255, 100, second, 255, 100, 1, saf])

def image(pool):
    total = 1
    for block in pool.blocks:
        for i in range(len(block)):
            total = (total * 31 + block[i]) % 4194301
    return total

def filled(hoard):
    size = 4096
    while size:
        try:
            hoard[0] = [bytearray(size), hoard[0]]
        except MemoryError:
            size >>= 1

def refused(pool, vectors, keys):
    count = 0
    for i in keys:
        before, held = image(pool), pool.count
        if not enter(pool, 9, i, 0, 99, vectors[i], 5, len(vectors[i])):
            count += 1
            assert image(pool) == before and pool.count == held
    return count

def tried():
    source = FuzzyFilter(pool=Pool(1, 100, 200, ALGORITHM))
    pool = source.pool
    guard = Watchdog({1: source})
    for number in range(12):
        assert guard.install(1, number, 0, 1, wanted(number), 60000, 0) == 0
    source.prepare()
    vectors = [wanted(number) if number & 1 else wanted(number % 12) for number in range(60)]
    hoard = [None]
    keys = range(60)
    row = bytearray(b"\\xf0" * 8)
    mask = bytearray(b"\\x07")
    gc.collect()
    filled(hoard)
    count = refused(pool, vectors, keys)
    source.scan.begin(0, 1, 2, row, mask)
    degree = source.scan.advance()
    code = guard.install(1, 5, 1, 1, vectors[59], 60000, 0)
    hoard[0] = None
    gc.collect()
    kept = bytes(vector_part(pool, pool.find(1, 5))) == wanted(5)[5:]
    after = guard.install(1, 5, 1, 1, vectors[59], 60000, 0)
    print(count, degree, code, kept, after, bytes(vector_part(pool, pool.find(1, 5))) == vectors[59][5:])

tried()
"""


@pytest.mark.parametrize("runtime", ["x64-plain", "x64-native"])
@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_a_full_heap_refuses_and_changes_nothing(runtime: str, algorithm: str) -> None:
    program = PROGRAM.replace("ALGORITHM", str(ALGORITHMS[algorithm]))
    count, degree, *answers = run_on(runtime, program, {}).split()
    assert int(count) > 30
    assert int(degree) > 0
    assert answers == [str(FULL), "True", str(REPLACED), "True"]
