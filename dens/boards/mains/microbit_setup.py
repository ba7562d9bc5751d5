"""What a micro:bit makes of its heap before anything else is loaded; what made it is thrown away again.

The names in capital letters are filled in by dens/boards/build.py.
"""

from microbit import running_time, uart

from watchdog.frames import Deframer, write_frame
from watchdog.numbers import Numbers
from watchdog.pool import Pool
from watchdog.publisher import Publisher
from watchdog.scan import Scan
from watchdog.small_host import SmallHost

pool = Pool(1, POOL_BYTES, 99)
del Pool
scan = Scan(pool, False, LIFETIME, None)
del Scan
host = SmallHost(pool, scan)
del SmallHost
deframer = Deframer(50)
del Deframer
numbers = Numbers("dens")
del Numbers
frame = bytearray(70)


def send(b, n):
    uart.write(frame[: write_frame(b, n, frame)])


out = bytearray(32)
out[3] = TABLE_CHECK
out[6] = NODE >> 8
out[7] = NODE & 255
publisher = Publisher(out, host, numbers, send, None, 6)
del Publisher, out, numbers
publisher.begin()
publisher.publish(bytes([16, 0, 0, 0, 0, 168, 1, EVENT, ATTRIBUTES, PROTOCOL, 0]), 11, running_time())
row = bytearray(8)
mask = bytearray(1)
counts = bytearray(4)
uart.init(115200)
