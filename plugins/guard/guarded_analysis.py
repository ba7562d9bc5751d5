"""What brokers and Spark ask of a language, behind its guard."""

from typing import Any

from plugins.guard.guard import Guard
from watchdog.vector import VectorError


class GuardedRelations:
    """Relations of bodies."""

    def __init__(self, guard: Guard, inner: Any) -> None:
        self._guard = guard
        self._inner = inner

    def covers(self, one: bytes, other: bytes) -> bool:
        """Say whether whatever satisfies `other` satisfies `one` too."""
        return bool(self._guard.call("covers()", lambda: self._inner.covers(one, other), lets=(VectorError,)))

    def intersects(self, one: bytes, other: bytes) -> bool:
        """Say whether something may satisfy both."""
        return bool(
            self._guard.call("intersects()", lambda: self._inner.intersects(one, other), lets=(VectorError,))
        )

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return a body that lets pass whatever satisfies either, or None."""
        found: bytes | None = self._guard.call(
            "merge()", lambda: self._inner.merge(one, other), lets=(VectorError,)
        )
        self._guard.demand(found is None or isinstance(found, bytes), "merge()", "no body")
        return found

    def forest(self) -> Any:
        """Return an empty forest of coverings."""
        found = self._guard.call("forest()", lambda: self._inner.forest())
        self._guard.demand(hasattr(found, "add"), "forest()", "no forest")
        return found


class GuardedGroundTruth:
    """Ground truth of readings."""

    def __init__(self, guard: Guard, inner: Any) -> None:
        self._guard = guard
        self._inner = inner

    def add(self, number: int, body: bytes) -> None:
        """Hold a subscription."""
        self._guard.call("ground_truth.add()", lambda: self._inner.add(number, body), lets=(VectorError,))

    def remove(self, number: int) -> None:
        """Forget it."""
        self._guard.call("ground_truth.remove()", lambda: self._inner.remove(number))

    def judge(self, readings: Any) -> Any:
        """Return what each reading satisfies."""
        return self._guard.call(
            "ground_truth.judge()", lambda: self._inner.judge(readings), lets=(VectorError,)
        )
