"""What a micro:bit without its link does: it measures, and prints each notification as a line that `dens
decode` reads. A recording that is over ends it.
"""

from microbit import running_time
from microbit_setup import mask, row, scan


def run():
    number = due_ms = 0
    while True:
        now_ms = running_time()
        if 0 < due_ms - now_ms <= PERIOD_MS:
            continue
        due_ms = now_ms + PERIOD_MS
        if not read():
            break
        scan.begin(EVENT, number, now_ms // 1000 & 65535, row, mask)
        while scan.advance():
            for i in range(scan.length):
                print("%02x" % scan.vector[i], end="")
            print()
        number = number + 1 & 65535
