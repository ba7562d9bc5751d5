"""Composites at a source, which sees every reading: matches and predictions instead of parts.

Uses the same stacks as a mediator, filled with complete readings. Here the stream is complete, so `first` and
probabilities of completion can be evaluated.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge_manager.mission_table import MissionTable
from plugins.composite.composites import CONFIRMED, LAPSED, MATCH, Composite, encode_composite
from plugins.composite.prediction.prediction import PredictionEvent, Predictor
from plugins.composite.search.events import NUMBERS, Event
from plugins.composite.search.finder import Finder, Found, composite_of
from plugins.composite.search.memory import Memory
from plugins.composite.search.progress import Progress, Step
from plugins.composite.search.watched import Watched, watched
from plugins.composite.vectors import decode_body
from plugins.language import MatcherFactory, Release, SubscriptionKey
from watchdog.reading import Reading
from watchdog.vector import ONE_HOUR


@dataclass(slots=True)
class Served:
    """A subscription at a source, its progress, and its open predictions."""

    one: Watched
    progress: Progress
    predictor: Predictor | None
    readings: int = 0
    """Number of readings of its classes."""


class CompositeSourceFilter:
    """Turns readings into composites and predictions.

    `introduce` sets the source, `announce` the next subscription: composites contain both. Without them, the
    key of a subscription is used.
    """

    def __init__(self, table: MissionTable, atoms: MatcherFactory) -> None:
        self._table = table
        self._memory = Memory(table, atoms, keeps_all=True)
        self._finder = Finder()
        self._served: dict[SubscriptionKey, Served] = {}
        self._items: deque[tuple[int, int]] = deque()
        """Items and their seconds, oldest first."""
        self._next = 0
        self._node = 0
        self._asking: tuple[int, int, int] | None = None
        self._newest_s: int | None = None
        self.work_limit: int | None = None
        """Maximum units of work per call of `feed`, which then raises `WorkExceeded`: the results of the
        reading are undecided. None: no limit."""

    @property
    def work(self) -> int:
        """Return the units of work since creation."""
        return self._finder.meter.spent + self._memory.meter.spent

    def introduce(self, node: int) -> None:
        self._node = node

    def announce(self, origin: int, id: int, revision: int) -> None:
        self._asking = origin, id, revision

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        width = self._table.feature_bytes
        *named, revision = self._asking or (*key, 0)
        self._asking = None
        new = watched((named[0], named[1]), revision, body, decode_body(body, width, self._table), width)
        self.remove(key)
        self._memory.watch(new)
        wanted = new.body.prediction
        predictor = None if wanted is None else Predictor(wanted)
        self._served[key] = Served(new, Progress(new, self._finder), predictor)

    def remove(self, key: SubscriptionKey) -> None:
        known = self._served.pop(key, None)
        if known is not None:
            self._memory.ignore(known.one)

    def feed(self, reading: Reading) -> list[Release]:
        """Return the composites that this reading completes, and prediction events."""
        if not self._served or not any(reading.mask):
            return []
        meter, limit = self._finder.meter, self.work_limit
        event = self._taken(reading)
        meter.limit = None if limit is None else meter.spent + limit
        try:
            return [release for served in self._served.values() for release in self._releases(served, event)]
        finally:
            meter.limit = None
            self._forget(event.seconds)

    def _taken(self, reading: Reading) -> Event:
        vector = whole_notification(reading)
        second = self._unrolled(reading.stamp_s)
        item, self._next = self._next, self._next + 1
        self._items.append((item, second))
        return self._memory.take(item, self._node, vector, 1000 * second)[-1][0]

    def _unrolled(self, stamp_s: int) -> int:
        """Return a timestamp that continues after 65,535; one that goes back is a clock reset."""
        newest = self._newest_s
        if newest is None:
            self._newest_s = stamp_s
            return stamp_s
        ahead = (stamp_s - newest) % NUMBERS
        second = newest + (ahead if ahead < NUMBERS // 2 else ahead - NUMBERS)
        self._newest_s = max(newest, second)
        return second

    def _forget(self, now_s: int) -> None:
        """Remove everything before all windows."""
        longest = max(served.one.body.window_s for served in self._served.values())
        while self._items and self._items[0][1] < now_s - longest:
            self._memory.forget(self._items.popleft()[0])

    def _releases(self, served: Served, event: Event) -> Iterator[Release]:
        one, progress = served.one, served.progress
        if event.event not in progress.classes:
            return
        served.readings += 1
        steps = list(progress.advance(event))
        completed = {step.key: step.completed for step in steps if step.completed is not None}
        ends = list(self._ends(one, event, completed))
        ending = {key for _, key in ends}
        confirmed: dict[bytes, PredictionEvent] = {}
        predicted = (
            [] if served.predictor is None else served.predictor.note(steps, event, served.readings, ending)
        )
        for step, prediction in predicted:
            if prediction.kind == CONFIRMED:
                confirmed[step.key] = prediction
            else:
                yield self._release(_of_prediction(one, event, step, prediction), prediction.lifetime_q)
        for found, key in ends:
            kind, opening = MATCH, None
            if key in confirmed:
                kind, opening = CONFIRMED, confirmed[key].opening
            name = one.name_of(event, key)
            if one.body.select == "all":
                name = tuple((leaf, *part.name) for leaf, part in found.events)
            if name not in one.reported or kind == CONFIRMED:
                one.reported.add(name)
                event.reported.append((one.reported, name))
                yield self._release(composite_of(one, found, key, kind, opening), None)

    def _ends(
        self, one: Watched, event: Event, completed: dict[bytes, Found]
    ) -> Iterator[tuple[Found, bytes]]:
        """Yield the results of this reading: completions only if they consume, else every match that ends
        here.
        """
        if one.body.select == "first":
            yield from ((found, key) for key, found in completed.items())
            return
        slots = {one.slots[leaf] for leaf in one.last_leaves if one.primitives[leaf] in event.degrees}
        for key in sorted({slot.key_of(event) for slot in slots}):
            for found in self._finder.matches(one, event, key):
                yield found, key

    def _release(self, composite: Composite, lifetime_q: int | None) -> Release:
        lives = composite.keep_q if lifetime_q is None else lifetime_q
        vector = encode_composite(composite, self._table.feature_bytes)
        return Release(vector, 17 * composite.degree, lives)


def _of_prediction(one: Watched, event: Event, step: Step, prediction: PredictionEvent) -> Composite:
    """Return the composite of a prediction event, with the prefix of the match if there is one."""
    events = step.best
    degree = min((event.degrees[one.primitives[leaf]] for leaf, event in events), default=0)
    if prediction.kind >= LAPSED - 1:
        events = ()
    return composite_of(one, Found(event, degree, events), step.key, prediction.kind, prediction.opening)


def whole_notification(reading: Reading) -> bytes:
    """Return a reading as a notification of the boards' language with all measured values."""
    width = len(reading.mask)
    indexes = [index for index in range(8 * width) if reading.has(index)]
    head = reading.number.to_bytes(2, "big") + bytes((ONE_HOUR,)) + reading.stamp_s.to_bytes(2, "big") + b"\0"
    values = bytes(reading.row[index] for index in indexes)
    return head + values + (1 << reading.event).to_bytes(width, "big") + bytes(reading.mask)
