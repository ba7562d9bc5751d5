"""What a micro:bit does: it listens on its serial line, speaks when it is time to, and measures."""

from microbit import running_time, uart
from microbit_setup import counts, deframer, host, mask, pool, publisher, row, scan

from watchdog.pool import EXPIRY


def run():
    due_ms = 0
    number = publisher.session[2]  # without its last number it begins elsewhere after every start
    while True:
        try:
            now_ms = running_time()
            data = uart.read(32) or b""  # without a number it wants 256 bytes in one piece
            at = 0
            while at < len(data):
                at = deframer.feed(data, at)
                if deframer.length:
                    publisher.receive(deframer.buffer, deframer.length, now_ms)
            publisher.step(now_ms)
            if 0 < due_ms - now_ms <= PERIOD_MS:
                continue
            due_ms = now_ms + PERIOD_MS
            host.forget(EXPIRY, 4, 0, now_ms // 1000)
            if pool.count and read():
                scan.begin(EVENT, number, now_ms // 1000 & 65535, row, mask)
                while scan.advance():
                    publisher.publish(scan.vector, scan.length, now_ms)
                number = number + 1 & 65535
        except Exception:
            counts[2] += 1
