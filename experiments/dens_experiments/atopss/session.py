"""The thesis' demonstration (§4.6; VLDB 2004, figure 7) as a stream: a generator feeds a crisp and an
approximate matcher.

Every second subscriptions and publications come and go at rates that may be changed while it runs; each
second is reported in one line: what loading and matching took, and how many predicates and subscriptions
matched, in either model. The approximate model gets the interval [a, b] around a value, the crisp one its
middle; a crisp subscription is the interval half-way up its set. Everything but times follows from the seed
and the changes.
"""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

import numpy as np

from dens_experiments.atopss.workload import ATTRIBUTES, AXIS, SIZE, TOLD
from dens_experiments.session import Refused
from plugins.atopss.canonical import canonical
from plugins.atopss.matching.improved import ImprovedMatcher
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.scale import THIRTIETH, threshold_of
from plugins.atopss.shapes.shapes import Shape, interval, point
from plugins.atopss.subscriptions import Joined, Predicate
from plugins.atopss.vectors import encode_subscription
from plugins.language import SubscriptionKey

MOST_PER_SECOND: Final = 100_000
MOST_HELD: Final = 200_000
_SHARES: Final = ("possibility", "necessity", "half_width")


@dataclass(frozen=True, slots=True)
class Parameters:
    """What people may turn while it runs: rates a second, thresholds of all, and half of b − a as a share of
    the axis.
    """

    subscribe: float = 50.0
    publish: float = 10.0
    unsubscribe: float = 0.0
    unpublish: float = 5.0
    possibility: float = 0.0
    necessity: float = 0.0
    half_width: float = 0.05

    def changed(self, change: Any) -> "Parameters":
        """Return them with a change, or raise `Refused`."""
        names = [field.name for field in fields(self)]
        if not isinstance(change, dict) or not change:
            raise Refused(f"a change is an object with some of: {', '.join(names)}")
        for name, value in change.items():
            if name not in names:
                raise Refused(f"unknown parameter {name!r}; known: {', '.join(names)}")
            most = 1 if name in _SHARES else MOST_PER_SECOND
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
                raise Refused(f"{name} is a number from 0 to {most:,}")
        return replace(self, **{name: float(value) for name, value in change.items()})


@dataclass(slots=True)
class _Model:
    """A matcher, and what it did within a second."""

    matcher: ImprovedMatcher
    loading_s: float = 0.0
    matching_s: float = 0.0
    predicates: int = 0
    subscriptions: int = 0

    def load(self, key: SubscriptionKey, body: bytes) -> None:
        begin = time.process_time()
        self.matcher.add(key, body)
        self.loading_s += time.process_time() - begin

    def match(self, told: Notification, possibility: int, necessity: int) -> None:
        begin = time.process_time()
        found = self.matcher.satisfied(told)
        self.matching_s += time.process_time() - begin
        self.subscriptions += sum(pi >= possibility and n >= necessity for _, (pi, n) in found)
        self.predicates += len(self.matcher.reached(told))

    def told(self) -> dict[str, float]:
        """Return what it did, and begin again."""
        done = {
            "loading_ms": round(1e3 * self.loading_s, 3),
            "matching_ms": round(1e3 * self.matching_s, 3),
            "matched_predicates": self.predicates,
            "matched_subscriptions": self.subscriptions,
        }
        self.loading_s = self.matching_s = 0.0
        self.predicates = self.subscriptions = 0
        return done


class WorkloadSession:
    """The generator and both matchers."""

    def __init__(self, seed: int) -> None:
        self.parameters = Parameters()
        self._rng = np.random.default_rng([seed, 36])
        self._crisp, self._approximate = _Model(ImprovedMatcher(None)), _Model(ImprovedMatcher(None))
        self._held: deque[SubscriptionKey] = deque()
        self._published: deque[int] = deque()
        self._number = 0
        self._due = dict.fromkeys(("subscribe", "publish", "unsubscribe", "unpublish"), 0.0)
        self._second = 0

    def change(self, change: Any) -> None:
        """Turn something, from the next second on; what cannot be raises `Refused`."""
        self.parameters = self.parameters.changed(change)

    def step(self) -> dict[str, Any]:
        """Simulate one second and report it."""
        self._second += 1
        for _ in range(self._times("subscribe")):
            if len(self._held) < MOST_HELD:
                self._subscribe()
        for _ in range(min(self._times("unsubscribe"), len(self._held))):
            key = self._held.popleft()
            for model in (self._crisp, self._approximate):
                model.matcher.remove(key)
        limits = [_least(getattr(self.parameters, name)) for name in ("possibility", "necessity")]
        for told in self._publications(self._times("publish")):
            for model, one in zip((self._crisp, self._approximate), told, strict=True):
                model.match(one, max(limits[0], 1), limits[1])
        for _ in range(min(self._times("unpublish"), len(self._published))):
            self._published.popleft()
        return {
            "second": self._second,
            "subscriptions": len(self._held),
            "publications": len(self._published),
            "parameters": asdict(self.parameters),
            "crisp": self._crisp.told(),
            "approximate": self._approximate.told(),
        }

    def _times(self, what: str) -> int:
        """Return how often something happens in this second; fractions are kept for the next."""
        self._due[what] += getattr(self.parameters, what)
        times = int(self._due[what])
        self._due[what] -= times
        return times

    def _subscribe(self) -> None:
        key = self._number >> 8, self._number & 255
        self._number += 1
        attributes = sorted(self._rng.choice(ATTRIBUTES, SIZE, replace=False).tolist())
        sets = [sorted(self._rng.integers(0, AXIS, 4).tolist()) for _ in attributes]
        shapes = [Shape(*corners) for corners in sets]
        crisp = [interval((s.m1 + s.m2) // 2, (s.m3 + s.m4) // 2) for s in shapes]
        for model, wanted in ((self._crisp, crisp), (self._approximate, shapes)):
            leaves = tuple(map(Predicate, attributes, wanted))
            model.load(key, encode_subscription(canonical(0, Joined(False, leaves))))
        self._held.append(key)

    def _publications(self, count: int) -> Iterator[tuple[Notification, Notification]]:
        """Yield publications for the crisp and the approximate model."""
        half = round(self.parameters.half_width * AXIS)
        for _ in range(count):
            if len(self._published) < MOST_HELD:
                self._published.append(self._second)
            attributes = self._rng.choice(ATTRIBUTES, TOLD, replace=False).tolist()
            values = self._rng.integers(0, AXIS, TOLD).tolist()
            known = {at: point(x) for at, x in zip(attributes, values, strict=True)}
            vague = {at: interval(x - half, x + half) for at, x in zip(attributes, values, strict=True)}
            yield Notification(0, 0, 0, 0, known), Notification(0, 0, 0, 0, vague if half else known)


def _least(share: float) -> int:
    """Return a threshold in 510ths, a fifteenth or one half as in subscriptions."""
    return THIRTIETH * threshold_of(share)
