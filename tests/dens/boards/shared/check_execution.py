"""The execution environment as a board runs it: requests run, failures are reported, nothing else happens."""

from watchdog.codes import NOT_MEASURED, SOURCE_FAILED, UNKNOWN_SOURCE
from watchdog.execution import ExecutionEnvironment
from watchdog.filter import FuzzyFilter
from watchdog.offered_sources import OfferedSources
from watchdog.reading import Reading
from watchdog.watchdog import Watchdog

EXTRACT = bytes([16, 0, 0, 0, 1, 100, 3, 0, 3, 4, 0, 1, 1, 6, 0, 2, 1, 5, 0])
"""Attributes 0 and 1 of event 0 over I2C, attribute 0 of event 1 over SPI, of event 2 over ADC."""


def wants(id, event, attributes):
    constraints = b""
    for i in range(8):
        if attributes >> i & 1:
            constraints += b"\x00\xff\x7f"
    return bytes([id, 0, 100, 0, 0, 0]) + constraints + bytes([1 << event, attributes])


class Source:
    def __init__(self, number):
        self.number = number
        self.said = []

    def start(self):
        self.said.append("start")
        if self.number == 2:
            raise OSError(19)

    def stop(self):
        self.said.append("stop")

    def read_into(self, reading, stamp_s):
        reading.clear(0, 1, stamp_s)
        reading.set(0, 9)
        reading.set(1, 9)
        return True


class Bench:
    def __init__(self):
        self.made = {}
        self.told = []
        registry = {(4, 0): self.make, (5, 0): self.make}
        self.environment = ExecutionEnvironment(OfferedSources(EXTRACT), registry, self.tell)
        self.guard = Watchdog({1: FuzzyFilter()}, environment=self.environment)

    def make(self, number):
        self.made[number] = Source(number)
        return self.made[number]

    def tell(self, number, verb, error):
        self.told.append((number, verb))


def test_a_source_runs_from_the_first_subscription_to_the_last():
    bench = Bench()
    assert not bench.environment.read_into(0, Reading(), 0)
    assert bench.guard.install(7, 0, 0, 1, wants(0, 0, 1), 9000, 0) == 0
    assert bench.guard.install(8, 0, 0, 1, wants(0, 0, 129), 5000, 0) == 0
    reading = Reading()
    assert bench.environment.read_into(0, reading, 1)
    assert len(bench.guard.feed(reading, 1000)) == 1
    bench.guard.remove(7, 0, 0, 1000)
    assert bench.environment.runs(0)
    bench.guard.expire(5000)
    assert not bench.environment.runs(0)
    assert bench.made[0].said == ["start", "stop"]


def test_what_cannot_run_is_refused_and_told_once():
    bench = Bench()
    answers = []
    for id, event, attributes in ((0, 0, 4), (1, 3, 1), (2, 1, 1), (3, 2, 1), (4, 2, 1)):
        answers.append(bench.guard.install(7, id, 0, 1, wants(id, event, attributes), 9000, 0))
    assert answers == [NOT_MEASURED, NOT_MEASURED, UNKNOWN_SOURCE, SOURCE_FAILED, SOURCE_FAILED]
    assert bench.told == [(2, "start")]
    assert bench.environment.failed["start"] == 2
    assert bench.guard.interested() == 0
