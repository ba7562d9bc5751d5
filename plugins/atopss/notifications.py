"""Content of a notification: an event, and the value of each attribute."""

from dataclasses import dataclass

from plugins.atopss.shapes.shapes import Shape


@dataclass(frozen=True, slots=True)
class Notification:
    """A published event. `possibility` and `necessity` are those of the best subscription that released it,
    in fifteenths; 0 before filtering.
    """

    number: int
    valid: int
    stamp_s: int
    event: int
    values: dict[int, Shape]
    possibility: int = 0
    necessity: int = 0
