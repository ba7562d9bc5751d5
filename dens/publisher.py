"""PUB/DENS, the publisher's end: it says what it can measure, looks for what it is asked for, and sends what
it found.

A notification stays in the outbox until it expires (or room is needed), and every mediator that does not
know it gets it: which mediator will be the first to meet the subscriber, a publisher cannot know. Filters
are installed in the filter host (a watchdog) with their remaining lifetime, survive a restart, and are never
brought back by an older copy.
"""

from typing import Final

from dens.arguments import checked_bytes
from dens.authentication import Authenticator
from dens.context import NodeContext
from dens.engine import Engine
from dens.interfaces import FilterHost
from dens.item import ItemId
from dens.limits import Limits
from dens.numbers import MessageType
from dens.publisher_state import PublisherState
from dens.store import Store

ANNOUNCE_LIFETIME_Q: Final = 168
"""2²¹ seconds, about 24 days: what a publisher can measure seldom changes."""


class PublisherEnd(Engine):
    """A node that measures."""

    def __init__(
        self,
        node: int,
        table_check: int,
        store: Store,
        now_ms: int,
        *,
        filter_host: FilterHost,
        authenticator: Authenticator | None = None,
        limits: Limits | None = None,
    ) -> None:
        context = NodeContext(node, store, authenticator, limits)
        self.state: Final = PublisherState(context, filter_host)
        super().__init__(context, table_check, self.state, now_ms)

    # ------------------------------------------------------------------ what the application asks

    def announce(self, extract: bytes, now_ms: int, lifetime_q: int = ANNOUNCE_LIFETIME_Q) -> ItemId:
        """Say what this node can measure; it replaces what was said before. The same again is nothing new."""
        checked_bytes(extract, "an extract")
        self.end_what_is_over(now_ms)
        older = self.state.announcement
        if older is not None and older.payload == extract and older.lifetime_q == lifetime_q:
            return older.id
        item = self.context.make(MessageType.ANNOUNCE, 0, lifetime_q, extract, now_ms)
        self.state.announce(item, now_ms)
        return item.id

    def publish(self, language: int, vector: bytes, lifetime_q: int, now_ms: int) -> ItemId:
        """Send this notification to whoever asked; its event time is now."""
        checked_bytes(vector, "a notification vector")
        self.end_what_is_over(now_ms)
        item = self.context.make(MessageType.NOTIFICATION, language, lifetime_q, vector, now_ms)
        self.state.publish(item, now_ms)
        return item.id

    def held(self) -> tuple[int, int, int]:
        """Return how many filters and notifications are held, and the bytes of the latter."""
        return len(self.state.filters), len(self.state.outbox), self.state.outbox.total_bytes

    @property
    def notification_count(self) -> int:
        """Return how many notifications are kept."""
        return len(self.state.outbox)

    @property
    def notification_bytes(self) -> int:
        """Return their bytes."""
        return self.state.outbox.total_bytes

    @property
    def filter_count(self) -> int:
        """Return how many subscriptions are installed."""
        return len(self.state.filters)

    def is_taken(self, item_id: ItemId) -> bool:
        """Say whether a mediator in contact has this message: it acknowledged it in this contact, or its
        summary names it, where the acknowledgement of an earlier contact was lost.
        """
        return self.state.is_taken(item_id)
