"""What brokers ask of a language, behind its guard."""

from collections.abc import Callable, Iterable
from typing import Any

from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.guard.guard import MOST_BYTES, Guard
from plugins.language import SubscriptionKey
from plugins.routing import Changes
from watchdog.vector import VectorError


def _are_bodies(found: Any) -> bool:
    return isinstance(found, tuple | list) and all(
        isinstance(body, bytes) and len(body) <= MOST_BYTES for body in found
    )


class GuardedRouting:
    """Answers about advertisements, and tables."""

    def __init__(self, guard: Guard, inner: Any) -> None:
        self._guard = guard
        self._inner = inner

    def _ask(self, verb: str, ask: Callable[[], Any]) -> bool:
        return bool(self._guard.call(f"routing.{verb}()", ask, lets=(VectorError,)))

    def includes(self, one: bytes, other: bytes) -> bool:
        """Say whether one advertisement announces all that another does."""
        return self._ask("includes", lambda: self._inner.includes(one, other))

    def advertises(self, advertisement: bytes, wanted: bytes) -> bool:
        """Say whether what is announced may satisfy a subscription."""
        return self._ask("advertises", lambda: self._inner.advertises(advertisement, wanted))

    def admits(self, advertisement: bytes, vector: bytes) -> bool:
        """Say whether a notification was announced."""
        return self._ask("admits", lambda: self._inner.admits(advertisement, vector))

    def table(self) -> "GuardedTable":
        """Return an empty table."""
        return GuardedTable(self._guard, self._guard.call("routing.table()", self._inner.table))

    def advertisement(self, event: EventClass, attributes: Iterable[Attribute]) -> bytes | None:
        """Return what announces everything about these attributes, or None."""
        found: bytes | None = self._guard.call(
            "routing.advertisement()", lambda: self._inner.advertisement(event, attributes)
        )
        is_sound = found is None or _are_bodies((found,))
        self._guard.demand(is_sound, "routing.advertisement()", "no body")
        return found


class GuardedTable:
    """A table whose changes add up: what is announced is told then, and what is withdrawn was."""

    def __init__(self, guard: Guard, inner: Any) -> None:
        self._guard = guard
        self._inner = inner
        self._told: dict[bytes, None] = {}

    def insert(self, key: SubscriptionKey, body: bytes) -> Changes:
        """Hold a body."""
        changes = self._guard.call(
            "routing.table().insert()", lambda: self._inner.insert(key, body), lets=(VectorError,)
        )
        return self._checked(changes)

    def remove(self, key: SubscriptionKey) -> Changes:
        """Forget it."""
        return self._checked(self._guard.call("routing.table().remove()", lambda: self._inner.remove(key)))

    def _checked(self, found: Any) -> Changes:
        are_sound = (
            hasattr(found, "announced")
            and hasattr(found, "withdrawn")
            and _are_bodies(found.announced)
            and _are_bodies(found.withdrawn)
            and all(body in self._told for body in found.withdrawn)
        )
        self._guard.demand(are_sound, "routing.table()", "changes that do not add up")
        changes = Changes(tuple(found.announced), tuple(found.withdrawn))
        for body in changes.withdrawn:
            self._told.pop(body, None)
        self._told |= dict.fromkeys(changes.announced)
        return changes

    def bodies(self) -> list[bytes]:
        """Return what is told."""
        return list(self._told)

    @property
    def covered(self) -> int:
        """Return how many something else stands for."""
        return int(self._guard.call("routing.table().covered", lambda: self._inner.covered))

    @property
    def mergers(self) -> int:
        """Return how many were made of several."""
        return int(self._guard.call("routing.table().mergers", lambda: self._inner.mergers))
