"""Stacks compared with plain automata, one per pattern. Both get the primitives that a reading satisfies.

*Dense*: 3 % of the patterns end at every event. Every reading satisfies 3 % of the primitives, and the window
is so long that what must come before is nearly always there.

*Sparse*: one reading in twenty satisfies anything at all. The source does not state how many it
satisfies then; here it is the same 3 %, and also 0.3 %, at which most patterns are not touched.

The goals are for pure Python on both sides. Compiled stacks are also compared with the
automata in Python. This does not compare algorithms, so it has no goal.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from benchmarks.composite import workload as workload
from benchmarks.engine_forms import EARLIER, PURE, forms
from benchmarks.measurement import Measurement, at_least, beside
from benchmarks.sizes import sized
from plugins.composite.search.finder import chain_ending
from plugins.composite.search.memory import Memory
from plugins.composite.search.watched import Watched, watched
from plugins.composite.vectors import decode_body
from plugins.language import Match, SubscriptionKey, grades_of
from plugins.work import WorkMeter

COUNT = sized(1_000, 10)
READINGS = sized(600, 40)
WARM = sized(300, 10)
WINDOW_S = 600


class Automaton:
    """A chain a; b; c: for each state the latest second at which what reached it began."""

    __slots__ = ("begins", "leaves", "window")

    def __init__(self, leaves: Sequence[int], window: int) -> None:
        self.leaves = tuple(leaves)
        self.window = window
        self.begins = [-(1 << 40)] * len(leaves)

    def feed(self, satisfied: set[int], second: int) -> bool:
        """Move by a reading; return whether a match ends."""
        begins, leaves = self.begins, self.leaves
        ended = False
        for place in range(len(leaves) - 1, -1, -1):
            if leaves[place] in satisfied:
                begin = second if place == 0 else begins[place - 1]
                if second - begin <= self.window:
                    begins[place] = max(begins[place], begin)
                    ended = ended or place == len(leaves) - 1
        return ended


class Foreknown:
    """A matcher that knows beforehand what every notification satisfies."""

    def __init__(self, answers: Mapping[bytes, dict[int, int]]) -> None:
        self._answers = answers

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Hold nothing."""

    def remove(self, key: SubscriptionKey) -> None:
        """Hold nothing."""

    def grades(self, vector: bytes, event_ms: int, now_ms: int) -> dict[int, int]:
        """Return what is known."""
        return self._answers[vector]

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return what is known."""
        return [Match((key >> 8, key & 255), degree) for key, degree in self._answers[vector].items()]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        """Yield what is known."""
        for place, (vector, event_ms) in enumerate(notifications):
            yield place, self.match(vector, event_ms, now_ms)


class Stacks:
    """The stacks and the one algorithm, without what a DENS node makes of their answers."""

    def __init__(self, bodies: Sequence[bytes], answers: Mapping[bytes, dict[int, int]]) -> None:
        mission = workload.table()
        self.memory = Memory(mission, lambda _: Foreknown(answers))
        self.meter = WorkMeter()
        self.all: list[Watched] = []
        for place, body in enumerate(bodies):
            one = watched((0, place), 0, body, decode_body(body, 1, mission), 1)
            self.memory.watch(one)
            self.all.append(one)

    def ends(self, place: int, vector: bytes) -> int:
        """Take a reading; return how many patterns end with it."""
        found = 0
        for event, fresh in self.memory.take(place, 1, vector, 1000 * place):
            for _, one in self.memory.possible_ends(event, fresh):
                found += chain_ending(one, one.plans[0], event, b"", self.meter) is not None
        return found


CASES = {"dense": (0.03, 1.0, 2.0), "sparse": (0.03, 0.05, 50.0), "sparse_little": (0.003, 0.05, 50.0)}
"""Which share of primitives a reading satisfies, which share of readings satisfy anything, and the goal."""


def measure() -> Iterator[Measurement]:
    """Compare where every reading satisfies something, and where one in twenty does, in each form."""
    for form in forms():
        if form.name == EARLIER:
            continue
        for name, (_, _, goal) in CASES.items():
            found = Compared(**form.run("from benchmarks.composite.automata import main; main()", name))
            if form.name == PURE:
                yield at_least(f"automata_beside_stacks_{name}_both_pure", found.plain, found.stacks, goal)
                yield beside(
                    f"automata_by_letter_beside_stacks_{name}_both_pure", found.lettered, found.stacks
                )
                ends = found.ends / (READINGS - WARM)
                yield beside(f"patterns_that_end_at_a_reading_{name}", ends, COUNT)
            else:
                yield beside(f"pure_automata_beside_compiled_stacks_{name}", found.plain, found.stacks)


def main() -> None:
    """Print the time of one case in the form (compiled or not) of this process."""
    share, satisfying, _ = CASES[sys.argv[1]]
    with workload.undisturbed():
        found = _compared(share, satisfying)
    sys.stdout.write(json.dumps(asdict(found)) + "\n")


@dataclass(frozen=True, slots=True)
class Compared:
    """Processor seconds of each way, and how often patterns ended."""

    stacks: float
    plain: float
    lettered: float
    ends: int


def _compared(share: float, satisfying: float) -> Compared:
    chains = workload.chains(COUNT, share, 1, WINDOW_S)
    vectors = workload.readings(READINGS, 2, satisfying)
    judge = grades_of(workload.judge([one for _, own in chains for one in own], workload.table()))
    answers = {vector: judge(vector, 0, 0) for vector in vectors}
    stacks = Stacks([body for body, _ in chains], answers)
    numbers = [one.primitives for one in stacks.all]
    automata = [Automaton(own, WINDOW_S) for own in numbers]
    lettered = [Automaton(own, WINDOW_S) for own in numbers]
    by_letter: dict[int, set[int]] = {}
    for place, own in enumerate(numbers):
        for number in own:
            by_letter.setdefault(number, set()).add(place)
    seconds, places = [0.0] * 3, range(READINGS)
    satisfied = [set(answers[vector]) for vector in vectors]

    def touched(place: int) -> int:
        one_by_one = {one for number in satisfied[place] for one in by_letter.get(number, ())}
        return sum([lettered[one].feed(satisfied[place], place) for one in one_by_one])

    ways: tuple[Callable[[int], int], ...] = (
        lambda place: stacks.ends(place, vectors[place]),
        lambda place: sum([one.feed(satisfied[place], place) for one in automata]),
        touched,
    )
    ended = [[way(place) for place in places[:WARM]] for way in ways]
    for chosen, way in enumerate(ways):
        begin = time.process_time()
        ended[chosen] += [way(place) for place in places[WARM:]]
        seconds[chosen] = time.process_time() - begin
    assert ended[0] == ended[1] == ended[2], "all find the same"
    return Compared(*seconds, sum(ended[0][WARM:]))
