"""`crisp`: matching without uncertainty, on either side (ICDE 2004, section 5).

A shape becomes its support (`pessimistic`), its core (`optimistic`), or the middle of both (`middle`); a
value becomes its core, or its middle. The axis counts double, so that halves are integers.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.matching.naive import NaiveMatcher
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.degrees import Degrees
from plugins.atopss.shapes.scale import INFINITE
from plugins.atopss.shapes.shapes import Shape, interval, point
from plugins.language import SubscriptionKey


def _doubled(corner: int) -> int:
    return corner if abs(corner) == INFINITE else 2 * corner


def _half_way(corner: int, other: int) -> int:
    return corner if abs(corner) == INFINITE else corner + other


PREDICATES: Final[Mapping[str, Callable[[Shape], Shape]]] = MappingProxyType(
    {
        "pessimistic": lambda shape: interval(_doubled(shape.m1), _doubled(shape.m4)),
        "middle": lambda shape: interval(_half_way(shape.m1, shape.m2), _half_way(shape.m4, shape.m3)),
        "optimistic": lambda shape: interval(_doubled(shape.m2), _doubled(shape.m3)),
    }
)
"""Conversions of the shape of a predicate."""


def _middle(value: Shape) -> Shape:
    """Return the middle of a core; without one end, the other end."""
    if abs(value.m2) == INFINITE or abs(value.m3) == INFINITE:
        ends = [corner for corner in (value.m2, value.m3) if abs(corner) != INFINITE]
        return point(_doubled(ends[0])) if ends else interval(value.m2, value.m3)
    return point(value.m2 + value.m3)


VALUES: Final[Mapping[str, Callable[[Shape], Shape]]] = MappingProxyType(
    {
        "approximate": lambda value: Shape(
            _doubled(value.m1),
            _doubled(value.m2),
            _doubled(value.m3),
            _doubled(value.m4),
            value.left,
            value.right,
            _doubled(value.begin),
            _doubled(value.end),
        ),
        "interval": lambda value: interval(_doubled(value.m2), _doubled(value.m3)),
        "point": _middle,
    }
)
"""Conversions of a value."""


class CrispMatcher(NaiveMatcher):
    """Evaluates each subscription with crisp shapes and values."""

    __slots__ = ("_shape", "_value")

    def __init__(
        self, table: MissionTable | None, predicates: str = "pessimistic", values: str = "interval"
    ) -> None:
        super().__init__(table)
        self._shape = PREDICATES[predicates]
        self._value = VALUES[values]

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription with crisp shapes. An invalid body raises `VectorError` and
        changes nothing.
        """
        wanted = self._codec.subscription(body)
        crisp = tuple(replace(one, shape=self._shape(one.shape)) for one in wanted.predicates)
        self.held[key] = replace(wanted, predicates=crisp)

    def satisfied(self, notification: Notification) -> list[tuple[SubscriptionKey, Degrees]]:
        """Return what the converted values satisfy."""
        values = {attribute: self._value(value) for attribute, value in notification.values.items()}
        return super().satisfied(replace(notification, values=values))
