"""Which plain message comes when, from whom and to whom.

As in The ONE's message event generator: one message at every interval, its source uniform among the senders,
its destination uniform among the other devices.
"""

from collections.abc import Sequence

import numpy as np

from dens.item import lifetime_code_ms
from emulation.direct_messages import notification_for
from emulation.node import Node
from emulation.scenario.settings import TrafficSettings


class MessagePlan:
    """The messages of one `[[traffic]]` entry, drawn from a stream of their own."""

    def __init__(
        self,
        settings: TrafficSettings,
        sources: Sequence[Node],
        destinations: Sequence[Node],
        chance: np.random.Generator,
    ) -> None:
        self.lifetime_q = lifetime_code_ms(int(settings.lifetime_s * 1000))
        self._settings = settings
        self._sources = sources
        self._destinations = destinations
        self._chance = chance
        self._payload = bytes(settings.size_bytes)

    def at_ms(self, index: int) -> int:
        """Return when the message of this index is made."""
        return int((self._settings.first_s + index * self._settings.every_s) * 1000)

    def draw(self) -> tuple[Node, bytes]:
        """Return who makes the next message, and its bytes."""
        source = self._sources[int(self._chance.integers(len(self._sources)))]
        others = [node for node in self._destinations if node.slot.device != source.slot.device]
        destination = others[int(self._chance.integers(len(others)))]
        return source, notification_for(destination.number, self._payload)
