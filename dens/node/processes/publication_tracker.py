"""Publications of an endpoint, tracked until its node acknowledged them."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.events import Event, FilterInstalled, MessageAcknowledged
from dens.overlay.wire.item import ItemId

SETTLE_S: Final = 2.0
"""Time within which brokers build the tree of a new publisher on fast links."""


@dataclass(slots=True)
class PublicationTracker:
    """Publishes notifications and waits for their acknowledgements."""

    end: PublisherEndpoint
    show: Callable[[Event], None]
    settle_s: float = 0.0
    """Delay between the first contact with the node and the first notification."""
    published: int = 0
    _pending: set[ItemId] = field(default_factory=set)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def on_event(self, event: Event) -> None:
        if isinstance(event, MessageAcknowledged) and event.reason is None:
            self._pending.discard(event.item.id)
        if isinstance(event, FilterInstalled | MessageAcknowledged):
            self._changed.set()
        self.show(event)

    def publish(self, language: int, vector: bytes, lifetime_q: int, now_ms: int) -> None:
        self._pending.add(self.end.publish(language, vector, lifetime_q, now_ms))
        self.published += 1

    async def wait_for_routes(self) -> None:
        """Give brokers time to learn the route: notifications sent earlier would reach no subscriber."""
        await asyncio.sleep(self.settle_s)

    @property
    def taken(self) -> int:
        """Return how many publications the node has acknowledged."""
        return self.published - len(self._pending)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition that only events can change."""
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    async def wait_until_taken(self, wait_s: float, say: Callable[[str], None]) -> bool:
        """Wait up to `wait_s` for all acknowledgements; return whether the node has everything."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.until(lambda: not self._pending), wait_s)
        self._pending = {id for id in self._pending if not self.end.is_taken(id)}
        if self._pending:
            say(
                f"the node has not acknowledged {len(self._pending):,} of {self.published:,} notifications; "
                "they stay in the store and are offered next time"
            )
        return not self._pending
