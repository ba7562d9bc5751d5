"""Choice of the level at which to estimate a batch: fixed, by trial (`round_robin`, the paper's), or from
counts (`replay`).

Controllers take costs as arguments and read no clock, so that runs that count units are equal everywhere.
Levels go from 1, which estimates nothing, to the height of the index. There is one state per class of batch
sizes, ⌈log₂ b⌉, or as in the paper per size (`exact_size`). A policy belongs to one index.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from plugins.boxes.profile import UNITS, Prices, Profile, expected, together

ROUNDS: Final = 64
"""N: batches per compared level in one loop."""
LEAST_THRESHOLD: Final = 1_000
WINDOW: Final = 16
"""Batches that `replay` looks back on, and after which it ignores small improvements."""
POOLED: Final = 512
"""Minimum number of events that it looks back on, if available: fewer are not representative for small
batches."""
WORTH_IT: Final = 0.01
"""Required improvement of another level, as a share."""


def size_class(events: int) -> int:
    """Return the class of a batch size: ⌈log₂ b⌉."""
    return (max(events, 1) - 1).bit_length()


def exact_size(events: int) -> int:
    """Return a batch size as a class of its own, as in the paper."""
    return events


Classes = Callable[[int], int]
"""From a batch size to the class whose state it shares."""


@dataclass(frozen=True, slots=True)
class RanBatch:
    """A batch that was run: its size, its level, its response there, and its profile."""

    events: int
    level: int
    response: float
    profile: Profile


class LevelPolicy(Protocol):
    """Chooses the level of the next batch and learns from previous ones."""

    def level(self, events: int, height: int) -> int:
        """Return the level for a batch of this size."""
        ...

    def ran(self, batch: RanBatch) -> None:
        """Learn from a batch."""
        ...

    def updated(self, boxes: int, held: int) -> None:
        """Learn that this number of boxes were added or removed, and how many are held."""
        ...

    def reloaded(self) -> None:
        """Learn that the index was rebuilt."""
        ...


@dataclass(slots=True)
class Fixed:
    """Always the same level, or the lowest there is."""

    at: int

    def level(self, events: int, height: int) -> int:
        return 1 if events < 2 else min(self.at, height)

    def ran(self, batch: RanBatch) -> None:
        pass

    def updated(self, boxes: int, held: int) -> None:
        pass

    def reloaded(self) -> None:
        pass


@dataclass(slots=True)
class _Trial:
    """State of one class: the level, whether it is stable, and the costs of the compared levels."""

    current: int
    is_stable: bool = False
    updates: int = 0
    threshold: int = 0
    turn: int = 0
    sums: dict[int, float] = field(default_factory=dict)


class RoundRobin:
    """The paper's self-adaptive model (its figure 6).

    Stable: every batch at the current level, until more than a threshold of boxes have changed. Unstable: N
    rounds of one batch each at the current, the upper (-1) and the lower (+1) level, every batch once; if the
    current one is cheapest, or equal to the cheapest, it is stable again, else the cheapest becomes current
    and the loop repeats.
    """

    def __init__(
        self,
        start: int = 1,
        rounds: int = ROUNDS,
        threshold: int | None = None,
        classes: Classes = size_class,
    ) -> None:
        self._start = start
        self._class_of = classes
        self.rounds = rounds
        self._threshold = threshold
        self._held = 0
        self._trials: dict[int, _Trial] = {}

    def is_stable(self, events: int) -> bool:
        known = self._trials.get(self._class_of(events))
        return known is not None and known.is_stable

    def level(self, events: int, height: int) -> int:
        """Return the current level, or the one whose turn it is."""
        if events < 2:
            return 1
        trial = self._trial(events, height)
        if trial.is_stable:
            return trial.current
        compared = _neighbours(trial.current, height)
        return compared[trial.turn % len(compared)]

    def ran(self, batch: RanBatch) -> None:
        """Add the cost of a batch to its level; at the end of a loop, stay or move."""
        height = batch.profile.height
        if batch.events < 2:
            return
        trial = self._trial(batch.events, height)
        if trial.is_stable:
            return
        trial.sums[batch.level] = trial.sums.get(batch.level, 0.0) + batch.response
        trial.turn += 1
        compared = _neighbours(trial.current, height)
        if trial.turn < self.rounds * len(compared):
            return
        best = min(compared, key=lambda one: (trial.sums.get(one, 0.0), one != trial.current))
        trial.is_stable = best == trial.current
        trial.current, trial.turn, trial.sums, trial.updates = best, 0, {}, 0
        if trial.is_stable:
            fifth = max(self._held // 5, LEAST_THRESHOLD)
            trial.threshold = fifth if self._threshold is None else self._threshold

    def updated(self, boxes: int, held: int) -> None:
        """Count changes; a stable class may become unstable."""
        self._held = held
        for trial in self._trials.values():
            if trial.is_stable:
                trial.updates += boxes
                if trial.updates > trial.threshold:
                    trial.is_stable, trial.updates = False, 0

    def reloaded(self) -> None:
        """Ignore: the paper's index is never rebuilt."""

    def _trial(self, events: int, height: int) -> _Trial:
        trial = self._trials.setdefault(self._class_of(events), _Trial(min(self._start, height)))
        if trial.current > height:
            trial.current, trial.turn, trial.sums = height, 0, {}
        return trial


def _neighbours(current: int, height: int) -> list[int]:
    """Return the current, the upper and the lower level, if they exist."""
    return [level for level in (current, current - 1, current + 1) if 1 <= level <= height]


@dataclass(slots=True)
class _Past:
    """State of `replay` for one class: the level, the last batches, and their number."""

    level: int
    seen: deque[Profile] = field(default_factory=deque)
    batches: int = 0

    def add(self, profile: Profile) -> None:
        """Add a batch, and remove those that are too old."""
        if self.seen and self.seen[0].height != profile.height:
            self.forget()
        self.seen.append(profile)
        self.batches += 1
        while len(self.seen) > WINDOW and sum(map(len, self.seen)) - len(self.seen[0]) >= POOLED:
            self.seen.popleft()

    def forget(self) -> None:
        """Remove all batches; the level stays."""
        self.seen.clear()
        self.batches = 0


class Replay:
    """Knows the response of every level after each batch, because completed searches determine it, and takes
    the level with the least expected response over all pairs of the last events
    (`plugins.boxes.profile.expected`). No trial runs, no threshold.
    """

    def __init__(self, start: int = 1, prices: Prices = UNITS, classes: Classes = size_class) -> None:
        self._start = start
        self._prices = prices
        self._class_of = classes
        self._pasts: dict[int, _Past] = {}

    def level(self, events: int, height: int) -> int:
        known = self._pasts.get(self._class_of(events))
        return 1 if events < 2 else min(self._start if known is None else known.level, height)

    def ran(self, batch: RanBatch) -> None:
        """Take the best level until a window is full; from then on only one that is better by more than one
        percent. If no level is better than 1 by that much, nothing is estimated.
        """
        if batch.events < 2:
            return
        past = self._pasts.setdefault(self._class_of(batch.events), _Past(self._start))
        past.add(batch.profile)
        costs = expected(together(past.seen), batch.events, self._prices)
        best = min(range(len(costs)), key=lambda at: (costs[at], at))
        if past.batches >= WINDOW and costs[best] > (1 - WORTH_IT) * costs[0]:
            past.level = 1
        elif past.batches <= WINDOW or costs[best] < (1 - WORTH_IT) * costs[min(past.level, len(costs)) - 1]:
            past.level = best + 1

    def updated(self, boxes: int, held: int) -> None:
        """Ignore: counts are always those of the current index."""

    def reloaded(self) -> None:
        """Remove the counts of the previous index."""
        for past in self._pasts.values():
            past.forget()


POLICIES: Final = {"round_robin": RoundRobin, "replay": Replay}
DEFAULT_POLICY: Final = "replay"
