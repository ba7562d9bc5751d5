"""Life cycle of a prediction at a source: opened once, then confirmed, withdrawn or lapsed.

A prediction is opened at the first reading whose state is likely enough (β ≥ p) and that ends no match, if
none is open for that key. It ends exactly once: with the match that confirms it, when β falls below p/2, or
when its horizon is over.
"""

from collections import deque
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

from plugins.composite.bounds import LEAST_HORIZON_S, LIVE_WEIGHT, WITHDRAWN_BELOW
from plugins.composite.composites import CONFIRMED, LAPSED, PREDICTED, WITHDRAWN, Opening
from plugins.composite.prediction.model import Counted, beta_byte, wait_class
from plugins.composite.search.events import Event
from plugins.composite.search.progress import Step
from plugins.composite.vectors import DURATION, Prediction
from watchdog.lifetime import lifetime_code, lifetime_s


@dataclass(slots=True)
class Visit:
    """State of a key after a reading, until it is known whether the pattern was completed in time."""

    key: bytes
    mask: int
    wait: int
    at: int
    """The number of the reading."""
    second: int
    is_decided: bool = False
    is_completed: bool = False


@dataclass(slots=True)
class Horizon:
    """Estimator: decides every visit of every key within the horizon of a prediction, and counts it.

    A visit is completed if the next completion of its key is within the horizon, and failed at the first
    reading, of any key, after which none can be. Visits whose horizon exceeds the data remain undecided.
    """

    wanted: Prediction
    counted: Counted = field(default_factory=Counted)
    _waiting: deque[Visit] = field(default_factory=deque)
    """Visits of all keys, oldest first; decided ones are dropped at the front."""
    _by_key: dict[bytes, deque[Visit]] = field(default_factory=dict)
    """Undecided visits by key, oldest first."""

    def note(self, steps: Iterable[Step], readings: int, second: int) -> list[Visit]:
        """Process the steps of all keys at this reading; return the visits that it decides. Call it for every
        reading, with or without steps.
        """
        decided: list[Visit] = []
        begun: list[Step] = []
        for step in steps:
            if step.completed is not None:
                for visit in self._by_key.pop(step.key, ()):
                    self._decide(visit, not self._is_over(visit, readings, second), decided)
            if step.mask:
                begun.append(step)
        while self._waiting and (
            self._waiting[0].is_decided or self._is_due(self._waiting[0], readings, second)
        ):
            visit = self._waiting.popleft()
            if not visit.is_decided:
                self._decide(visit, False, decided)
                of_key = self._by_key[visit.key]
                of_key.popleft()
                if not of_key:
                    del self._by_key[visit.key]
        for step in begun:
            visit = Visit(step.key, step.mask, wait_class(step.readings), readings, second)
            self._waiting.append(visit)
            self._by_key.setdefault(step.key, deque()).append(visit)
        return decided

    def finish(self) -> Counted:
        """Return the counts, including the number of undecided visits."""
        self.counted.undecided += sum(map(len, self._by_key.values()))
        self._waiting.clear()
        self._by_key.clear()
        return self.counted

    def _decide(self, visit: Visit, is_completed: bool, decided: list[Visit]) -> None:
        visit.is_decided, visit.is_completed = True, is_completed
        self.counted.note(visit.mask, visit.wait, completed=is_completed)
        decided.append(visit)

    def _is_over(self, visit: Visit, readings: int, second: int) -> bool:
        """Return whether a completion at this reading is too late."""
        if self.wanted.unit == DURATION:
            return second - visit.second > lifetime_s(self.wanted.horizon)
        return readings - visit.at > self.wanted.horizon

    def _is_due(self, visit: Visit, readings: int, second: int) -> bool:
        """Return whether no later reading can be in time."""
        if self.wanted.unit == DURATION:
            return second - visit.second > lifetime_s(self.wanted.horizon)
        return readings - visit.at >= self.wanted.horizon


@dataclass(frozen=True, slots=True)
class PredictionEvent:
    """A prediction event: its kind, its opening, and the lifetime of the message (None: that of
    composites).
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

    def note(
        self, steps: Sequence[Step], event: Event, readings: int, ending: Set[bytes]
    ) -> list[tuple[Step, PredictionEvent]]:
        """Process the steps of all keys at this reading; return the prediction events to publish. Call it for
        every reading, with or without steps.

        For keys in `ending` a match ends with the reading. No prediction is opened for them, even if that
        match began before the last completion and so completes nothing: its subscriber gets the match in the
        same second.
        """
        second = event.seconds
        if self._first_s is None:
            self._first_s = second
        if self._live is not None:
            self._live.note(steps, readings, second)
        found = []
        for step in steps:
            noted = self._noted(step, event, readings, is_end=step.key in ending)
            if noted is not None:
                found.append((step, noted))
        return found

    def _noted(self, step: Step, event: Event, readings: int, *, is_end: bool) -> PredictionEvent | None:
        second = event.seconds
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
        return PredictionEvent(kind, self._closing(life, readings, second))

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

    def _opened(self, step: Step, event: Event, readings: int, beta: int) -> PredictionEvent:
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
        return PredictionEvent(PREDICTED, opening, lifetime_code(max(seconds, LEAST_HORIZON_S)))

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
        """Return the probability of a completion in time, of 255; None if unknown."""
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
