"""What a notification tells: an event, and for each attribute what is known of its value."""

from dataclasses import dataclass

from plugins.atopss.shapes.shapes import Shape


@dataclass(frozen=True, slots=True)
class Notification:
    """An event as it was told. `possibility` and `necessity` are those of the best subscription that released
    it, in fifteenths; 0 in what nobody has judged yet.
    """

    number: int
    valid: int
    stamp_s: int
    event: int
    values: dict[int, Shape]
    possibility: int = 0
    necessity: int = 0
