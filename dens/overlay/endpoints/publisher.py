"""PUB/DENS, the publisher's end: it says what it can measure, looks for what it is asked for, and sends what
it found.

A notification stays in the outbox until it expires (or room is needed), and every mediator that does not
know it gets it: which mediator will be the first to meet the subscriber, a publisher cannot know. Where
mediators count copies, one of them gets it, with the whole budget. Filters
are installed in the filter host (a watchdog) with their remaining lifetime, survive a restart, and are never
brought back by an older copy.
"""

from typing import Final

from dens.interfaces import Directory, FilterHost
from dens.overlay.endpoints.directory_client import DirectoryClient
from dens.overlay.endpoints.publisher_state import PublisherState
from dens.overlay.errors import LocalProtocolError
from dens.overlay.mission import Mission
from dens.overlay.session.arguments import check_bytes
from dens.overlay.session.context import NodeContext
from dens.overlay.session.engine import Engine
from dens.overlay.storage.store import Store
from dens.overlay.wire.broker_messages import Advertised
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.item import ItemId, lifetime_code_ms
from watchdog.header import BODY_AT, HEADER_ID, HEADER_LIFETIME, HEADER_REVISION

ANNOUNCE_LIFETIME_Q: Final = 168
"""2²¹ seconds, about 24 days: what a publisher can measure seldom changes."""


class PublisherEndpoint(Engine):
    """A node that measures."""

    def __init__(
        self,
        node: int,
        mission: Mission,
        store: Store,
        now_ms: int,
        *,
        filter_host: FilterHost,
        directory: Directory | None = None,
    ) -> None:
        """With a directory it keeps what it hears of others' offers, and asks for it
        (dens/overlay/endpoints/directory_client.py)."""
        context = NodeContext(node, store, mission.authenticator(node), mission.limits)
        self.directory: Final = directory
        """What it has heard of others' offers; for reading."""
        self.state: Final = PublisherState(
            context, filter_host, DirectoryClient(context, directory), mission.covering
        )
        super().__init__(context, mission.table_check, self.state, now_ms)

    # ------------------------------------------------------------------ what the application asks

    def announce(self, extract: bytes, now_ms: int, lifetime_q: int = ANNOUNCE_LIFETIME_Q) -> ItemId:
        """Say what this node can measure; it replaces what was said before. The same again is nothing new."""
        check_bytes(extract, "an extract")
        self.expire(now_ms)
        older = self.state.announcement
        if older is not None and older.payload == extract and older.lifetime_q == lifetime_q:
            return older.id
        item = self.context.make(MessageType.ANNOUNCE, 0, lifetime_q, extract, now_ms)
        self.state.announce(item, now_ms)
        return item.id

    def advertise(self, vector: bytes, language: int, now_ms: int) -> ItemId:
        """Say what this node may publish, to brokers; the vector is as of a subscription: id, revision,
        lifetime code, body. No body is for whatever it publishes in this language.

        With a body it is the node's own filter too: what it measures of that, it tells. A newer revision of
        the same id replaces the older one; `next_advertisement` says which revision is.
        """
        check_bytes(vector, "an advertisement's vector")
        if len(vector) < BODY_AT:
            raise LocalProtocolError(
                f"{len(vector)} bytes are no vector; it begins with id, revision, lifetime"
            )
        self.expire(now_ms)
        id, seq, lifetime_q = vector[HEADER_ID], vector[HEADER_REVISION], vector[HEADER_LIFETIME]
        state = self.state
        state.advertisements.check_free(id, seq)
        item = self.context.make(MessageType.ADVERTISE, language, lifetime_q, b"", now_ms)
        said = Advertised(state.advertisements.generation(item.number), vector)
        item = item.replace(payload=said.encode())
        state.advertise(item, now_ms)
        return item.id

    def advertises(self, id: int, body: bytes | None = None) -> bool:
        """Return whether something is advertised under this id, or just this."""
        current = self.state.advertisements.in_force.get(id)
        return current is not None and body in (None, current.body)

    def next_advertisement(self, id: int) -> int:
        """Return a revision under which `advertise` takes this id."""
        return self.state.advertisements.next_seq(id)

    def unadvertise(self, id: int, now_ms: int) -> ItemId:
        """Publish no more of what is advertised under this id, and say so."""
        self.expire(now_ms)
        advertising = self.state.advertisements
        said = advertising.withdrawal(id)
        lifetime_q = min(lifetime_code_ms(max(0, advertising.until_ms(id) - now_ms)) + 1, 255)
        item = self.context.make(MessageType.UNADVERTISE, 0, lifetime_q, said.encode(), now_ms)
        self.state.unadvertise(item, now_ms)
        return item.id

    def publish(self, language: int, vector: bytes, lifetime_q: int, now_ms: int) -> ItemId:
        """Send this notification to whoever asked; its event time is now."""
        check_bytes(vector, "a notification vector")
        self.expire(now_ms)
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
        """Return whether a mediator in contact has this message: it acknowledged it in this contact, or its
        summary names it, where the acknowledgement of an earlier contact was lost.
        """
        return self.state.is_taken(item_id)
