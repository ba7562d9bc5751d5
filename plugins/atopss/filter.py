"""Filter at the source: the matcher's arithmetic on what the source knows."""

from collections.abc import Collection

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.degrees import Degrees
from plugins.atopss.notifications import Notification
from plugins.atopss.scale import FIFTEENTH
from plugins.atopss.shapes import Shape
from plugins.atopss.subscriptions import Subscription
from plugins.atopss.told_values import values_of_reading
from plugins.atopss.vectors import encode_notification
from plugins.language import Release, SubscriptionKey
from watchdog.lifetime import lifetime_code
from watchdog.reading import Reading

DEGREES_AT = 5
"""Where in a notification the degrees stand with which it was released."""


class AtopssFilter:
    """Lets a reading pass, once, when it satisfies a subscription; told are the attributes that any satisfied
    one names.

    Whoever installs fewer subscriptions than there are, because one stands for others, must have sources tell
    whole readings (`is_whole`): one that covers another may name fewer attributes.
    """

    __slots__ = ("_codec", "_held", "_is_whole", "_table")

    def __init__(self, table: MissionTable, *, is_whole: bool = False) -> None:
        self._table = table
        self._codec = AtopssCodec(table)
        self._held: dict[SubscriptionKey, Subscription] = {}
        self._is_whole = is_whole

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Start to look for this subscription; a bad body raises `VectorError` and changes nothing."""
        self._held[key] = self._codec.subscription(body)

    def remove(self, key: SubscriptionKey) -> None:
        """Stop looking for it; an unknown key is no error."""
        self._held.pop(key, None)

    def feed(self, reading: Reading) -> list[Release]:
        """Return the one notification that this reading is worth, or none."""
        if not self._held:
            return []
        values = values_of_reading(reading, self._table)
        satisfied, best = self._satisfied(reading.event, values)
        if not satisfied:
            return []
        named = set(values) if self._is_whole else {at for one in satisfied for at in one.attributes}
        lifetime = lifetime_code(self._table.event_at(reading.event).notification_lifetime_s)
        told = Notification(
            number=reading.number,
            valid=lifetime,
            stamp_s=reading.stamp_s,
            event=reading.event,
            values={at: shape for at, shape in values.items() if at in named},
            possibility=best[0] // FIFTEENTH,
            necessity=best[1] // FIFTEENTH,
        )
        return [Release(encode_notification(told), best[0], lifetime)]

    def offer(self, document: bytes) -> list[Release]:
        """Return a publication, with the degrees that release it, where it satisfies a subscription."""
        told = self._codec.notification(document)
        satisfied, best = self._satisfied(told.event, told.values)
        if not satisfied:
            return []
        degrees = bytes([best[0] // FIFTEENTH << 4 | best[1] // FIFTEENTH])
        vector = document[:DEGREES_AT] + degrees + document[DEGREES_AT + 1 :]
        return [Release(vector, best[0], told.valid)]

    def _satisfied(self, event: int, values: dict[int, Shape]) -> tuple[Collection[Subscription], Degrees]:
        """Return the subscriptions that these values satisfy, and the best degrees of one."""
        found = [
            (degrees, wanted)
            for wanted in self._held.values()
            if wanted.event == event and (degrees := wanted.judge(values)) is not None
        ]
        return [wanted for _, wanted in found], max((degrees for degrees, _ in found), default=(0, 0))
