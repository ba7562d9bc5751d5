"""The life of a prediction at a source: opened once, and then confirmed, withdrawn or lapsed.

A prediction is opened at the first reading whose state is likely enough (β ≥ p) and with which no match ends,
while none is open for that key. It ends exactly once: with the match that confirms it, when β falls below
p/2, or when its horizon is over.
"""

from collections import deque
from dataclasses import dataclass, field

from plugins.composite.bounds import LEAST_HORIZON_S, LIVE_WEIGHT, WITHDRAWN_BELOW
from plugins.composite.composites import CONFIRMED, LAPSED, PREDICTED, WITHDRAWN, Opening
from plugins.composite.events import Event
from plugins.composite.model import Counted, beta_byte, wait_class
from plugins.composite.progress import Step
from plugins.composite.vectors import DURATION, Prediction
from watchdog.lifetime import lifetime_code, lifetime_s


@dataclass(slots=True)
class Visit:
    """A state that was passed, until it is known whether it was completed in time."""

    mask: int
    wait: int
    at: int
    """How many readings there were before."""
    second: int


@dataclass(slots=True)
class Horizon:
    """Counts what becomes of states within the horizon of a prediction, for each key."""

    wanted: Prediction
    counted: Counted = field(default_factory=Counted)
    _open: dict[bytes, deque[Visit]] = field(default_factory=dict)

    def note(self, step: Step, readings: int, second: int) -> None:
        """Take what the reading with this number left: decide the visits before it, and begin one of its
        own where something has begun.
        """
        waiting = self._open.get(step.key)
        if waiting is None:
            if not step.mask:
                return
            waiting = self._open[step.key] = deque()
        if step.completed is not None:
            for visit in waiting:
                self.counted.note(
                    visit.mask, visit.wait, completed=not self._is_over(visit, readings, second)
                )
            waiting.clear()
        while waiting and self._is_due(waiting[0], readings, second):
            visit = waiting.popleft()
            self.counted.note(visit.mask, visit.wait, completed=False)
        if step.mask:
            waiting.append(Visit(step.mask, wait_class(step.readings), readings, second))

    def finish(self) -> Counted:
        """Return what was counted; what is undecided is left out, and counted as that."""
        for waiting in self._open.values():
            self.counted.undecided += len(waiting)
            waiting.clear()
        return self.counted

    def _is_over(self, visit: Visit, readings: int, second: int) -> bool:
        """Tell whether a completion at this reading comes too late."""
        if self.wanted.unit == DURATION:
            return second - visit.second > lifetime_s(self.wanted.horizon)
        return readings - visit.at > self.wanted.horizon

    def _is_due(self, visit: Visit, readings: int, second: int) -> bool:
        """Tell whether nothing that comes can be in time."""
        if self.wanted.unit == DURATION:
            return second - visit.second > lifetime_s(self.wanted.horizon)
        return readings - visit.at >= self.wanted.horizon


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of a prediction: its kind, when it was opened, and how long the message lives (None: as
    long as composites are kept).
    """

    kind: int
    opening: Opening
    lifetime_q: int | None = None


@dataclass(slots=True)
class _Life:
    opening: Opening
    at: int
    second: int


class Predictor:
    """Opens and ends the predictions of one subscription along one stream."""

    def __init__(self, wanted: Prediction) -> None:
        self._wanted = wanted
        self._live = None if wanted.model else Horizon(wanted)
        self._betas = dict(wanted.model)
        self._open: dict[bytes, _Life] = {}
        self._first_s: int | None = None

    def note(self, step: Step, event: Event, readings: int, *, is_end: bool) -> Told | None:
        """Take what a reading, the so-manieth, left of one key; return what is to be told, if anything.

        Where some match ends with the reading (`is_end`), nothing is opened, even if that match began before
        the last completion and so completes nothing: the reader is told of it in this very second.
        """
        second = event.seconds
        if self._first_s is None:
            self._first_s = second
        if self._live is not None:
            self._live.note(step, readings, second)
        life = self._open.get(step.key)
        beta = self._beta(step)
        if life is None:
            if is_end or beta is None or beta < self._wanted.probability:
                return None
            return self._opened(step, event, readings, beta)
        kind = self._ending(step, life, beta, readings, second)
        if kind is None:
            return None
        del self._open[step.key]
        return Told(kind, self._closing(life, readings, second))

    def _ending(self, step: Step, life: _Life, beta: int | None, readings: int, second: int) -> int | None:
        is_by_time = self._wanted.unit == DURATION
        past = second - life.second if is_by_time else readings - life.at
        horizon = lifetime_s(self._wanted.horizon) if is_by_time else self._wanted.horizon
        if step.completed is not None:
            return CONFIRMED if past <= horizon else LAPSED
        if past > horizon or (past == horizon and not is_by_time):
            return LAPSED
        if (0 if beta is None else beta) * WITHDRAWN_BELOW < self._wanted.probability:
            return WITHDRAWN
        return None

    def _opened(self, step: Step, event: Event, readings: int, beta: int) -> Told:
        wanted = self._wanted
        opening = Opening(
            event.event,
            event.number,
            event.stamp_s,
            beta,
            wanted.unit == DURATION,
            self._live is not None,
            wanted.horizon,
            step.key,
        )
        self._open[step.key] = _Life(opening, readings, event.seconds)
        if wanted.unit == DURATION:
            seconds = lifetime_s(wanted.horizon)
        else:
            mean = (event.seconds - (self._first_s or 0)) / max(readings, 1)
            seconds = int(wanted.horizon * mean)
        return Told(PREDICTED, opening, lifetime_code(max(seconds, LEAST_HORIZON_S)))

    def _closing(self, life: _Life, readings: int, second: int) -> Opening:
        opening = life.opening
        left = 0
        if not opening.is_by_time:
            left = max(0, self._wanted.horizon - (readings - life.at))
        elif (rest := lifetime_s(self._wanted.horizon) - (second - life.second)) > 0:
            left = lifetime_code(rest)
        return Opening(
            opening.event,
            opening.number,
            opening.stamp_s,
            opening.beta,
            opening.is_by_time,
            opening.is_live,
            left,
            opening.key,
        )

    def _beta(self, step: Step) -> int | None:
        """Return how likely a completion in time is, of 255; None where that is not known."""
        if not step.mask:
            return None
        wait = wait_class(step.readings)
        if self._live is None:
            betas = self._betas.get(step.mask)
            return None if betas is None else betas[wait]
        counted = self._live.counted
        if sum(counted.visits.values()) < LIVE_WEIGHT:
            return None
        return beta_byte(counted.beta(step.mask, wait, LIVE_WEIGHT))
