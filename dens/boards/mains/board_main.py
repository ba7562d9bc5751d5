"""The program of a Pico W or an ESP32: measures, filters, and uses PUB/DENS over UDP and Wi-Fi.

It never ends by itself. A lost network is searched again, a broken socket replaced, the value of a failed
sensor is missing, and as a last resort the hardware watchdog restarts the board. That one is started after
GRACE_MS, because it cannot be stopped: until then Ctrl-C ends the program for good, and new files can be
copied. The LED is on while a mediator is in contact, and blinks otherwise.
"""

import gc
import socket
import time

import network
import sensors
import settings
from machine import WDT, Pin

from watchdog.clock import Clock
from watchdog.execution import ExecutionEnvironment
from watchdog.filter import FuzzyFilter
from watchdog.gauge import Gauge
from watchdog.kernels import KERNELS
from watchdog.numbers import Numbers, put_number
from watchdog.offered_sources import OfferedSources
from watchdog.pool import Pool
from watchdog.publisher import LOYAL_MS, Publisher
from watchdog.reading import Reading
from watchdog.sources import SensorSource
from watchdog.watchdog import Watchdog

CONNECT_MS = 10000
"""Time for one attempt to join the network."""
GRACE_MS = 15000
"""Time after the start in which the program can be interrupted without a restart by the hardware."""
PATIENCE = 16
"""Tries without an answer after which a new session is begun."""


SENSOR_PROTOCOLS = (0, 3, 4, 5, 6, 7)
"""Protocols read through SENSORS: unspecified, pin (also 1-wire), i2c, adc, spi, serial
(docs/how-to/knowledge.md)."""


class Board:
    """All that a board has: `turn` does what is due, and is called for ever."""

    def __init__(self) -> None:
        self.clock = Clock(time.ticks_ms, time.ticks_diff)
        self.light = Pin(settings.LIGHT, Pin.OUT)
        pool = Pool(1, 2048, settings.POOL_BLOCKS, settings.ALGORITHM)
        registry = {(protocol, 0): self.sensor_source for protocol in SENSOR_PROTOCOLS}
        registry.update(getattr(sensors, "SOURCES", {}))
        offered = OfferedSources(settings.EXTRACT)
        self.environment = ExecutionEnvironment(offered, registry, self.tell)
        condition = getattr(settings, "CONDITION", "subset")  # not in the settings of older builds
        filters = {1: FuzzyFilter(1, condition, settings.LIFETIME, pool)}
        self.guard = Watchdog(filters, environment=self.environment)
        self.gauges = [Gauge(*gauge) for gauge in settings.GAUGES]
        counts = (len(sensors.SENSORS), len(self.gauges))
        if counts[0] != counts[1]:
            print("dens: sensors.py has %d sensors, settings.py %d gauges" % counts)
        self.reading = Reading(1)
        out = bytearray(160)
        out[3] = settings.TABLE_CHECK
        put_number(out, 4, settings.NODE)
        authenticator = None
        if settings.MISSION_KEY:
            from watchdog.authentication import Authenticator

            authenticator = Authenticator(settings.NODE, settings.MISSION_KEY)
        self.publisher = Publisher(out, self.guard, Numbers("dens"), self.send, authenticator, 32)
        self.publisher.begin()
        self.publisher.publish(settings.EXTRACT, len(settings.EXTRACT), 0)
        self.radio = network.WLAN(network.STA_IF)
        self.radio.active(True)
        self.socket = None  # type: socket.socket | None
        self.peer = settings.MEDIATOR  # type: tuple[str, int] | tuple[str, int, int, int] | str
        self.asked_ms = -CONNECT_MS
        self.due_ms = 0
        self.failures = 0
        self.preinstall()

    def sensor_source(self, number: int) -> SensorSource:
        """Make the source that reads SENSORS, when it is first needed. Its last number is not stored, so it
        begins with another one after every start.
        """
        source = SensorSource(settings.EVENT, self.gauges, sensors.SENSORS, self.guard.counters)
        source.number = self.publisher.session[2]
        return source

    def tell(self, number: int, verb: str, error: Exception) -> None:
        """Print that a source failed; a mediator learns it from the refusal of a subscription."""
        print("dens: source %d, %s: %s" % (number, verb, error))

    def preinstall(self) -> None:
        """Install the subscriptions in flash, as those of node 0."""
        try:
            with open("subscriptions.bin", "rb") as file:
                size = file.read(2)
                while len(size) == 2:
                    vector = file.read(size[0] << 8 | size[1])
                    self.guard.install(0, vector[0], vector[1], 1, vector, 1000000000, 0)
                    size = file.read(2)
        except (OSError, IndexError):
            pass

    def send(self, b: bytearray, n: int) -> None:
        """Send a datagram; without a network it is lost, and retransmitted later."""
        if self.socket is not None:
            self.socket.sendto(bytes(b[:n]), self.peer)

    def is_connected(self, now_ms: int) -> bool:
        """Return whether the network is connected; try to join it if not."""
        if self.radio.isconnected():
            if self.socket is None:
                self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                self.socket.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_BROADCAST", 32), 1)
                self.socket.setblocking(False)
                self.socket.bind(("0.0.0.0", settings.PORT))
                self.peer = settings.MEDIATOR
                self.publisher.begin()
            return True
        self.forget_socket()
        if now_ms - self.asked_ms >= CONNECT_MS:
            self.asked_ms = now_ms
            self.radio.connect(settings.NETWORK, settings.PASSWORD)
        return False

    def forget_socket(self) -> None:
        """Close a socket that can no longer be used."""
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def listen(self, now_ms: int) -> None:
        """Receive datagrams. Answers go to the source address of a datagram; everything else goes to the
        address from which the mediator last sent something new, which cannot be a recording.
        """
        publisher = self.publisher
        while self.socket is not None:
            try:
                data, address = self.socket.recvfrom(1500)
            except OSError:
                return
            if address != self.peer and publisher.peer >= 0 and now_ms - publisher.heard_ms <= LOYAL_MS:
                continue
            place = self.peer
            self.peer = address
            publisher.receive(data, len(data), now_ms)
            if publisher.peer < 0 or publisher.heard_ms != now_ms:
                self.peer = place

    def turn(self) -> None:
        """Do what is due."""
        now_ms = self.clock.now_ms()
        if self.is_connected(now_ms):
            self.listen(now_ms)
            if self.publisher.tries > PATIENCE:
                self.peer = settings.MEDIATOR
                self.publisher.begin()
            self.publisher.step(now_ms)
        has_company = self.publisher.peer >= 0 and self.socket is not None
        self.light.value(1 if has_company else now_ms // 500 & 1)
        if now_ms >= self.due_ms:
            self.due_ms = now_ms + settings.PERIOD_MS
            self.guard.expire(now_ms)
            for number in range(len(self.environment.pairs)):
                if self.environment.read_into(number, self.reading, now_ms // 1000):
                    for _, release in self.guard.feed(self.reading, now_ms):
                        self.publisher.publish(release.vector, len(release.vector), now_ms)
            gc.collect()

    def run(self) -> None:
        """Do it for ever, whatever happens."""
        hardware = None
        print("dens: node %d judges readings by %s kernels" % (settings.NODE, KERNELS))
        while True:
            if hardware is not None:
                hardware.feed()
            elif self.clock.now_ms() >= GRACE_MS:
                hardware = WDT(timeout=8000)
            try:
                self.turn()
            except Exception as error:
                self.failures += 1
                print("dens:", error)
                self.forget_socket()
            time.sleep_ms(20)


if __name__ == "__main__":
    Board().run()
