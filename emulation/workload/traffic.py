"""Which plain message comes when, from whom and to whom.

As in The ONE's message event generator: one message at every interval, its source uniform among the senders,
its destination uniform among the other devices.
"""

from collections.abc import Sequence

import numpy as np

from dens.overlay.wire.item import lifetime_code_ms
from emulation.direct_messages import notification_for
from emulation.scenario.settings.settings import TrafficSettings
from emulation.world.node import Node


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
        self._place = {node.slot.device: place for place, node in enumerate(destinations)}
        """Where among the destinations a device is, if it is one."""
        self._chance = chance
        self._payload = bytes(settings.size_bytes)

    def at_ms(self, index: int) -> int:
        """Return when the message of this index is made."""
        return int((self._settings.first_s + index * self._settings.every_s) * 1000)

    def draw(self) -> tuple[Node, bytes]:
        """Return who makes the next message, and its bytes."""
        source = self._sources[int(self._chance.integers(len(self._sources)))]
        own = self._place.get(source.slot.device)
        place = int(self._chance.integers(len(self._destinations) - (own is not None)))
        if own is not None and place >= own:
            place += 1
        return source, notification_for(self._destinations[place].number, self._payload)
