"""Machine code beside plain text on boards that have both: processor time of the same readings.

On x64, and on an ARM that QEMU emulates with the bytes of a Pico; there a ratio says how many instructions of
the host each form takes, which is near to how many it takes on the board.
"""

from collections.abc import Iterator

from benchmarks.measurement import Measurement, at_most
from benchmarks.sizes import sized
from tests.dens.boards.runtimes import NATIVE, run_on

READINGS = sized({"x64-native": 4000, "pico": 400}, {"x64-native": 400, "pico": 40})
GOALS = {
    "min": {10: 0.5, 50: 0.35, 200: 0.25},
    "all": {10: 0.5, 50: 0.35, 200: 0.35},
}
"""What machine code has to gain, by aggregators and number of subscriptions. With `min` most are refused, and
a reading is judged by nearly all of them; of all aggregators max is soon satisfied.
"""

_PROGRAM = """
from time import clock
from watchdog.codes import ALGORITHMS
from watchdog.fnif import FlatScan
from watchdog.forms import combine_every
from watchdog.kernels import SCANS
from watchdog.pool import Pool
from watchdog.scan import Scan
from watchdog.sharing import enter

def draw(vector, body, is_min):
    x = 4711 + body * 977
    for i in range(6, 15, 3):
        x = (x * 1021 + 7919) % 1048573
        vector[i] = x % 200
        x = (x * 1021 + 7919) % 1048573
        vector[i + 1] = vector[i] + 10 + x % 46
        vector[i + 2] = 40 + (x >> 8) % 61
    vector[5] = 8 + (x >> 4) % 7 << 4 | (0 if is_min else body // 4 % 6)
    vector[15] = 1
    vector[16] = 15 ^ 1 << body % 4

def judged(scan):
    row = bytearray(8)
    mask = bytearray(b"\\x0f")
    x = 4711
    released = 0
    begin = clock()
    for _ in range(READINGS):
        for i in range(4):
            x = (x * 1021 + 7919) % 1048573
            row[i] = x >> 12
        scan.begin(0, 7, 9, row, mask)
        while scan.advance():
            released += 1
    return clock() - begin, released

vector = bytearray(17)
for algorithm in ("fnif", "fnifs", "fnifc"):
    for aggregators in ("min", "all"):
        for count in (10, 50, 200):
            pool = Pool(1, 2048, 8, ALGORITHMS[algorithm])
            for number in range(count):
                draw(vector, number, aggregators == "min")
                enter(pool, number, number & 255, 0, 1000, vector, 5, 17)
            spent = []
            for kind in (SCANS, (Scan, FlatScan)):
                spent.append(judged(kind[int(pool.flat)](pool, False, 9, combine_every)))
            assert spent[0][1] == spent[1][1]
            print(algorithm, aggregators, count, spent[0][0], spent[1][0])
"""


def measure() -> Iterator[Measurement]:
    """Measure both forms of each algorithm, in the same run."""
    for runtime in NATIVE:
        program = _PROGRAM.replace("READINGS", str(READINGS[runtime]))
        for line in run_on(runtime, program, {}).splitlines():
            algorithm, aggregators, count, native, plain = line.split()
            name = f"native_against_plain_{algorithm}_seconds_on_{runtime}_with_{count}_by_{aggregators}"
            yield at_most(name, float(native), float(plain), GOALS[aggregators][int(count)])
