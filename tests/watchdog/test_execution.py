"""A source runs while a subscription that it serves is in force, and not a moment longer, whatever fails.

The oracle keeps what is in force in a dictionary and works out from it, again after every step, which sources
have to run; it knows nothing of masks, counts or pools.
"""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.node.sources.execution import LocalSources
from knowledge_manager.dictionary.local import LocalDataDictionary
from knowledge_manager.mission_table import load_mission_table
from plugins.registry import languages
from tests.sizes import examples
from tests.watchdog.strategies import subscriptions
from watchdog.codes import (
    BAD_VECTOR,
    FULL,
    INSTALLED,
    NOT_MEASURED,
    REMOVED,
    REPLACED,
    SOURCE_FAILED,
    UNKNOWN_SOURCE,
)
from watchdog.csv_source import CsvSource
from watchdog.execution import ExecutionEnvironment
from watchdog.filter import FuzzyFilter
from watchdog.gauge import Gauge
from watchdog.offered_sources import OfferedSources
from watchdog.pool import Pool
from watchdog.reading import Reading
from watchdog.sources import SensorSource
from watchdog.vector import VectorError, is_newer
from watchdog.watchdog import Watchdog

I2C, ADC, NOBODYS = (4, 0), (5, 0), (6, 0)
OFFERED = [(0, 0b111, I2C), (0, 0b011, ADC), (1, 0b001, I2C), (2, 0b001, NOBODYS), (3, 0b1, (5, 1))]
"""Sources: event, attributes, pair. The fourth's pair is in no registry, the last never starts."""


def extract_of(offered: list[tuple[int, int, tuple[int, int]]]) -> bytes:
    entries = b"".join(bytes([event, mask, *pair]) for event, mask, pair in offered)
    return bytes([16, 0, 0, 0, 1, 100, len(offered)]) + entries


def wants(event: int, attributes: int, id: int = 0, seq: int = 0) -> bytes:
    """A subscription to every value of these attributes."""
    constraints = bytes([0, 255, 127]) * attributes.bit_count()
    return bytes([id, seq, 100, 0, 0, 0]) + constraints + bytes([1 << event, attributes])


@dataclass
class Source:
    """Records its requests; may refuse verbs."""

    number: int
    refuses: frozenset[str] = frozenset()
    asked: list[str] = field(default_factory=list)
    is_running: bool = False

    def start(self) -> None:
        assert not self.is_running, "started twice"
        self._ask("start")
        self.is_running = True

    def stop(self) -> None:
        assert self.is_running, "stopped twice"
        self.is_running = False
        self._ask("stop")

    def read_into(self, reading: Reading, stamp_s: int) -> bool:
        assert self.is_running, "read while it does not run"
        self._ask("read")
        reading.clear(OFFERED[self.number][0], 1, stamp_s)
        reading.set(0, 200)
        return True

    def _ask(self, verb: str) -> None:
        self.asked.append(verb)
        if verb in self.refuses:
            raise OSError(f"no {verb}")


class Bench:
    """A watchdog with sources of OFFERED, some of which refuse verbs."""

    def __init__(self, refuses: dict[int, frozenset[str]] | None = None, pool: Pool | None = None) -> None:
        self.refuses = {4: frozenset({"start"}), **(refuses or {})}
        self.made: dict[int, Source] = {}
        self.told: list[tuple[int, str, str]] = []
        registry = dict.fromkeys([I2C, ADC, (5, 1)], self.make)
        self.environment = ExecutionEnvironment(OfferedSources(extract_of(OFFERED)), registry, self.tell)
        self.guard = Watchdog({1: FuzzyFilter(pool=pool)}, environment=self.environment)

    def make(self, number: int) -> Source:
        assert number not in self.made
        source = Source(number, self.refuses.get(number, frozenset()))
        self.made[number] = source
        return source

    def tell(self, number: int, verb: str, error: Exception) -> None:
        self.told.append((number, verb, str(error)))

    def running(self) -> set[int]:
        found = {number for number in range(len(OFFERED)) if self.environment.runs(number)}
        assert found == {number for number, source in self.made.items() if source.is_running}
        return found


def serving(event: int, attributes: int) -> set[int]:
    """By brute force: which sources of OFFERED fill these attributes of this event."""
    return {
        number
        for number, (offered, mask, _) in enumerate(OFFERED)
        if offered == event and all(mask >> a & 1 for a in range(7) if attributes >> a & 1)
    }


KEYS = [(1, 0), (300, 255)]
installs = st.tuples(
    st.just("install"),
    st.sampled_from(KEYS),
    st.integers(0, 5),
    st.sampled_from([0, 0, 0, 1, 1, 2, 3, 4]),
    st.sampled_from([1, 1, 2, 3, 4, 8, 128 + 1, 128]),
    st.sampled_from([0, 1500, 4000, 60_000]),
)
steps = st.one_of(
    installs,
    installs,
    installs,
    st.tuples(st.just("remove"), st.sampled_from(KEYS), st.integers(0, 5)),
    st.tuples(st.just("pass"), st.integers(0, 3000)),
    st.tuples(st.just("read"), st.integers(0, len(OFFERED) - 1)),
    st.tuples(st.just("hold"), st.sampled_from([0, 1, 2])),
    st.tuples(st.just("let go"), st.sampled_from([0, 1, 2])),
)


@given(
    st.lists(steps, max_size=40),
    st.dictionaries(st.sampled_from([0, 1, 2]), st.frozensets(st.sampled_from(["start", "read", "stop"]))),
)
@settings(max_examples=examples(400))
def test_a_source_runs_iff_a_subscription_that_it_serves_is_in_force(
    sequence: list[tuple[object, ...]], refuses: dict[int, frozenset[str]]
) -> None:
    bench = Bench(refuses)
    can_start = {
        number
        for number in range(len(OFFERED))
        if number != 3 and "start" not in bench.refuses.get(number, frozenset())
    }
    in_force: dict[tuple[int, int], tuple[int, int, set[int]]] = {}
    withdrawn: dict[tuple[int, int], int] = {}
    held: set[int] = set()
    now_ms = 0
    for step in sequence:
        in_force = {key: one for key, one in in_force.items() if -(-one[1] // 1000) * 1000 > now_ms}
        match step:
            case ("install", (int(origin), int(id)) as key, int(seq), int(event), int(attributes), int(left)):
                vector = wants(event, attributes, id, seq)
                answer = bench.guard.install(origin, id, seq, 1, vector, left, now_ms)
                served = serving(event, attributes)
                older = in_force.get(key)
                if left <= 0 or (key in withdrawn and not is_newer(seq, withdrawn[key])):
                    assert answer > REPLACED
                elif older is not None and seq == older[0]:
                    in_force[key] = (seq, now_ms + left, older[2])
                elif older is not None and not is_newer(seq, older[0]):
                    assert answer > REPLACED
                elif not served:
                    assert answer == NOT_MEASURED
                elif not served & can_start:
                    assert answer == (UNKNOWN_SOURCE if served == {3} else SOURCE_FAILED)
                else:
                    assert answer == (INSTALLED if older is None else REPLACED)
                    in_force[key] = (seq, now_ms + left, served)
                    withdrawn.pop(key, None)
            case ("remove", (int(origin), int(id)) as key, int(seq)):
                answer = bench.guard.remove(origin, id, seq, now_ms)
                if key in in_force and not is_newer(in_force[key][0], seq):
                    assert answer == REMOVED
                    del in_force[key]
                    withdrawn[key] = seq
                elif key not in in_force and (key not in withdrawn or is_newer(seq, withdrawn[key])):
                    withdrawn[key] = seq
            case ("pass", int(step_ms)):
                now_ms += step_ms
                bench.guard.expire(now_ms)
            case ("read", int(number)):
                bench.guard.expire(now_ms)
                done = bench.environment.read_into(number, Reading(), now_ms // 1000)
                wanted = number in held or any(number in one[2] for one in in_force.values())
                reads = "read" not in bench.refuses.get(number, frozenset())
                assert done == (wanted and number in can_start and reads)
            case ("hold", int(number)):
                held.add(number)
                assert bench.environment.hold(number) == (number in can_start)
            case ("let go", int(number)):
                held.discard(number)
                bench.environment.let_go(number)
        in_force = {key: one for key, one in in_force.items() if -(-one[1] // 1000) * 1000 > now_ms}
        bench.guard.expire(now_ms)
        needed = held.union(*(one[2] for one in in_force.values()))
        assert bench.running() == needed & can_start
        assert bench.guard.interested() == len(in_force)
    for number, source in bench.made.items():
        assert source.asked.count("stop") <= source.asked.count("start"), number


def test_one_source_is_shared_and_stops_after_the_last() -> None:
    bench = Bench()
    assert [bench.guard.install(7, n, 0, 1, wants(1, 1, n), 9000, 0) for n in range(3)] == [INSTALLED] * 3
    assert bench.guard.install(7, 3, 0, 1, wants(1, 1, 3), 1000, 0) == INSTALLED
    for n in range(3):
        assert bench.running() == {2}
        bench.guard.remove(7, n, 0, 0)
    assert bench.running() == {2}
    bench.guard.expire(1000)
    assert bench.running() == set()
    assert bench.made[2].asked == ["start", "stop"]
    bench.guard.install(7, 4, 0, 1, wants(1, 1, 4), 9000, 1000)
    assert bench.made[2].asked == ["start", "stop", "start"], "the same object goes on"


def test_what_is_not_served_costs_nothing() -> None:
    bench = Bench()
    assert bench.guard.install(7, 0, 0, 1, wants(1, 0b11), 9000, 0) == NOT_MEASURED
    assert bench.guard.install(7, 0, 0, 1, wants(5, 1), 9000, 0) == NOT_MEASURED
    assert bench.guard.install(7, 0, 0, 1, wants(2, 1), 9000, 0) == UNKNOWN_SOURCE
    assert bench.made == {}
    assert bench.guard.install(7, 0, 0, 1, wants(3, 1), 9000, 0) == SOURCE_FAILED
    assert bench.told == [(4, "start", "no start")]
    assert bench.guard.interested() == 0
    assert bench.guard.counters["refused"] == 4
    assert bench.environment.failed == {"start": 1, "read": 0, "stop": 0}


def test_what_its_filter_refuses_leaves_nothing_running() -> None:
    bench = Bench(pool=Pool(1, 5 + 14, 1))
    assert bench.guard.install(7, 0, 0, 1, wants(1, 1), 9000, 0) == INSTALLED
    assert bench.guard.install(7, 1, 0, 1, wants(0, 1, 1), 9000, 0) == FULL
    assert bench.guard.install(7, 1, 0, 1, bytes(6) + wants(0, 1)[-2:], 9000, 0) == BAD_VECTOR
    assert bench.guard.install(7, 1, 0, 1, b"\x01", 9000, 0) == BAD_VECTOR
    assert bench.running() == {2}


def test_a_filter_that_raises_leaves_nothing_running() -> None:
    class Broken:
        def add(self, key: tuple[int, int], vector: bytes) -> None:
            raise ArithmeticError("a defect")

        def remove(self, key: tuple[int, int]) -> None:
            """Forget nothing."""

    bench = Bench()
    guard = Watchdog({1: Broken()}, environment=bench.environment)
    with pytest.raises(ArithmeticError):
        guard.install(7, 0, 0, 1, wants(0, 1), 9000, 0)
    assert bench.running() == set()


def test_failure_is_reported_once_until_the_verb_succeeds() -> None:
    bench = Bench({2: frozenset({"read"})})
    bench.guard.install(7, 0, 0, 1, wants(1, 1), 9000, 0)
    reading = Reading()
    assert [bench.environment.read_into(2, reading, 0) for _ in range(3)] == [False] * 3
    assert bench.told == [(2, "read", "no read")]
    assert bench.environment.failed["read"] == 3
    bench.made[2].refuses = frozenset()
    assert bench.environment.read_into(2, reading, 0)
    bench.made[2].refuses = frozenset({"read", "stop"})
    assert not bench.environment.read_into(2, reading, 0)
    bench.guard.remove(7, 0, 0, 0)
    assert bench.told[1:] == [(2, "read", "no read"), (2, "stop", "no stop")]
    assert bench.running() == set()


def test_one_that_could_not_be_started_is_tried_again_with_the_next_reading() -> None:
    bench = Bench({0: frozenset({"start"})})
    assert bench.guard.install(7, 0, 0, 1, wants(0, 1), 9000, 0) == INSTALLED
    assert bench.running() == {1}
    bench.made[0].refuses = frozenset()
    assert bench.environment.read_into(0, Reading(), 0)
    assert bench.running() == {0, 1}


def test_a_language_that_takes_the_place_of_another_keeps_the_source() -> None:
    bench = Bench()
    guard = Watchdog({1: FuzzyFilter(), 2: FuzzyFilter()}, environment=bench.environment)
    assert guard.install(7, 0, 0, 1, wants(1, 1), 9000, 0) == INSTALLED
    assert guard.install(7, 0, 1, 2, wants(1, 1, 0, 1), 9000, 0) == REPLACED
    assert bench.running() == {2}
    guard.remove(7, 0, 1, 0)
    assert bench.running() == set()


TABLE = load_mission_table(["medical", "weather"])
LOOKUPS = {number: language.lookup(TABLE) for number, language in languages().items()}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["patient", "weather"]), st.integers(1, 127), st.sampled_from(["i2c", "adc"])
        ),
        max_size=4,
    ),
    subscriptions(TABLE.feature_bytes),
)
def test_a_board_and_the_dictionary_of_a_host_find_the_same_sources(
    offers: list[tuple[str, int, str]], vector: bytes
) -> None:
    local = LocalDataDictionary(TABLE)
    for event, attributes, protocol in offers:
        names = [one.name for one in TABLE.event(event).attributes if attributes >> one.index & 1]
        if names:
            local.offer(event, names, protocol)
    host = LocalSources(local, LOOKUPS)
    board = OfferedSources(local.extract(1))
    try:
        wanted = host.serving(1, vector[5:])
    except VectorError:
        return  # A board has no table; what the table does not know it does not offer.
    assert board.serving(1, vector) == wanted
    assert len(board.pairs) == len(host.pairs)


class Wire:
    """A sensor that has to be switched on."""

    def __init__(self, is_there: bool = True) -> None:
        self.is_on = False
        self.is_there = is_there

    def start(self) -> None:
        if not self.is_there:
            raise OSError(19)
        self.is_on = True

    def stop(self) -> None:
        if not self.is_there:
            raise OSError(19)
        self.is_on = False

    def read(self) -> int | None:
        return 7 if self.is_on else None


class Plain:
    """A sensor that is always on."""

    def read(self) -> int:
        return 5


def test_sensors_are_switched_on_and_off_with_their_source() -> None:
    wires = [Wire(is_there=False), Wire()]
    gauges = [Gauge(number, 0, 255, 0) for number in range(3)]
    source = SensorSource(0, gauges, [*wires, Plain()], {"clipped": 0, "missing": 0})
    reading = Reading()
    source.start()
    source.read_into(reading, 0)
    assert [reading.has(number) for number in range(3)] == [False, True, True]
    source.stop()
    assert not wires[1].is_on
    assert source.failed == 2
    alone = SensorSource(0, gauges[:1], wires[:1], {"clipped": 0, "missing": 0})
    with pytest.raises(OSError, match="19"):
        alone.start()


def read_all(source: CsvSource) -> list[int]:
    reading = Reading()
    found = []
    while source.read_into(reading, 0):
        found.append(reading.row[0])
    return found


def test_a_file_goes_on_where_it_was_left(tmp_path: Path) -> None:
    path = tmp_path / "vitals.csv"
    source = CsvSource(str(path), 0, {"t": Gauge(0, 0, 255, 0)}, {"clipped": 0, "missing": 0})
    with pytest.raises(OSError, match="vitals"):
        source.start()
    path.write_text("t\n10\n")
    source.start()
    assert read_all(source) == [10]
    source.stop()
    with path.open("a") as file:
        file.write("11\n12\n")
    source.start()
    assert read_all(source) == [11, 12]
    source.stop()
    path.write_text("x,t\n0,13\n0,14\n0,15\n0,16\n")
    source.start()
    assert read_all(source) == [13, 14, 15, 16]
    assert (source.rotations, source.number) == (1, 7)
    source.close()
