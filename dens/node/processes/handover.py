"""What an end publishes until its node has it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.events import Event, FilterInstalled, MessageAcknowledged
from dens.overlay.wire.item import ItemId

SETTLE_S: Final = 2.0
"""A new publisher's tree is there within this time, where links are quick."""


@dataclass(slots=True)
class Handover:
    """Publishes, and waits for answers."""

    end: PublisherEndpoint
    show: Callable[[Event], None]
    settle_s: float = 0.0
    """So long the network is given before the first notification, once its node is there."""
    published: int = 0
    _waiting: set[ItemId] = field(default_factory=set)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, event: Event) -> None:
        """Take what happened."""
        if isinstance(event, MessageAcknowledged) and event.reason is None:
            self._waiting.discard(event.item.id)
        if isinstance(event, FilterInstalled | MessageAcknowledged):
            self._changed.set()
        self.show(event)

    def publish(self, language: int, vector: bytes, lifetime_q: int, now_ms: int) -> None:
        """Publish a notification."""
        self._waiting.add(self.end.publish(language, vector, lifetime_q, now_ms))
        self.published += 1

    async def begin(self) -> None:
        """Let brokers learn the way to a publisher that is new to them: what comes before is for nobody."""
        await asyncio.sleep(self.settle_s)

    @property
    def taken(self) -> int:
        """Return how much of it the node has."""
        return self.published - len(self._waiting)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds that only what happens can change."""
        while not holds():
            self._changed.clear()
            await self._changed.wait()

    async def is_over(self, wait_s: float, say: Callable[[str], None]) -> bool:
        """Wait until the node has everything, for so long; return whether it does."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.until(lambda: not self._waiting), wait_s)
        self._waiting = {id for id in self._waiting if not self.end.is_taken(id)}
        if self._waiting:
            say("the node has not taken all of them; they wait in the store and are offered next time")
        return not self._waiting
