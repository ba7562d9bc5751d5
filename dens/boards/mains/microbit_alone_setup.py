"""What a micro:bit without its link makes of its heap: its pool is filled from its flash."""

from watchdog.pool import Pool
from watchdog.scan import Scan

pool = Pool(1, 0, 99)
del Pool
scan = Scan(pool, False, LIFETIME, None)
del Scan
row = bytearray(8)
mask = bytearray(1)
counts = bytearray(4)
