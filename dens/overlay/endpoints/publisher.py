"""PUB/DENS, the endpoint of a publisher: it announces what it can measure, runs filters, and publishes
notifications.

This module has the interface of the application; publisher_state.py has the outbox, the advertisements and
the reaction to messages, installed_filters.py the filters.
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
"""2²¹ seconds, about 24 days: announcements seldom change."""


class PublisherEndpoint(Engine):
    """Engine of a publisher."""

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
        """With a directory the endpoint looks up and keeps the offers of other publishers
        (dens/overlay/endpoints/directory_client.py).
        """
        context = NodeContext(node, store, mission.authenticator(node), mission.limits)
        self.directory: Final = directory
        """Offers of other publishers; for reading."""
        self.state: Final = PublisherState(
            context, filter_host, DirectoryClient(context, directory), mission.covering
        )
        super().__init__(context, mission.table_check, self.state, now_ms)

    # ------------------------------------------------------------------ called by the application

    def announce(self, extract: bytes, now_ms: int, lifetime_q: int = ANNOUNCE_LIFETIME_Q) -> ItemId:
        """Announce what this node can measure, in place of the previous announcement; an equal one changes
        nothing.
        """
        check_bytes(extract, "an extract")
        self.expire(now_ms)
        older = self.state.announcement
        if older is not None and older.payload == extract and older.lifetime_q == lifetime_q:
            return older.id
        item = self.context.make(MessageType.ANNOUNCE, 0, lifetime_q, extract, now_ms)
        self.state.announce(item, now_ms)
        return item.id

    def advertise(self, vector: bytes, language: int, now_ms: int) -> ItemId:
        """Advertise to brokers what this node may publish. The vector is that of a subscription: id,
        revision, lifetime code, body; an empty body covers everything in this language.

        A body is also installed as a filter of this node, which then publishes what matches. A newer revision
        of the same id replaces the older one; `next_advertisement` returns an unused revision.
        """
        check_bytes(vector, "an advertisement's vector")
        if len(vector) < BODY_AT:
            raise LocalProtocolError(
                f"a vector begins with id, revision and lifetime, not {len(vector)} bytes"
            )
        self.expire(now_ms)
        id, seq, lifetime_q = vector[HEADER_ID], vector[HEADER_REVISION], vector[HEADER_LIFETIME]
        state = self.state
        state.advertisements.check_free(id, seq)
        item = self.context.make(MessageType.ADVERTISE, language, lifetime_q, b"", now_ms)
        payload = Advertised(state.advertisements.generation(item.number), vector)
        item = item.replace(payload=payload.encode())
        state.advertise(item, now_ms)
        return item.id

    def advertises(self, id: int, body: bytes | None = None) -> bool:
        """Return whether an advertisement with this id, and with this body if given, is in force."""
        current = self.state.advertisements.in_force.get(id)
        return current is not None and body in (None, current.body)

    def next_advertisement(self, id: int) -> int:
        """Return a revision that `advertise` accepts for this id."""
        return self.state.advertisements.next_seq(id)

    def unadvertise(self, id: int, now_ms: int) -> ItemId:
        """Withdraw the advertisement with this id."""
        self.expire(now_ms)
        advertisements = self.state.advertisements
        payload = advertisements.withdrawal(id)
        lifetime_q = min(lifetime_code_ms(max(0, advertisements.until_ms(id) - now_ms)) + 1, 255)
        item = self.context.make(MessageType.UNADVERTISE, 0, lifetime_q, payload.encode(), now_ms)
        self.state.unadvertise(item, now_ms)
        return item.id

    def publish(self, language: int, vector: bytes, lifetime_q: int, now_ms: int) -> ItemId:
        """Publish a notification with the current time as event time."""
        check_bytes(vector, "a notification vector")
        self.expire(now_ms)
        item = self.context.make(MessageType.NOTIFICATION, language, lifetime_q, vector, now_ms)
        self.state.publish(item, now_ms)
        return item.id

    def held(self) -> tuple[int, int, int]:
        """Return the number of filters and of notifications, and the bytes of the latter."""
        return len(self.state.filters), len(self.state.outbox), self.state.outbox.total_bytes

    @property
    def notification_count(self) -> int:
        """Return the number of notifications in the outbox."""
        return len(self.state.outbox)

    @property
    def notification_bytes(self) -> int:
        """Return the bytes of the outbox."""
        return self.state.outbox.total_bytes

    @property
    def filter_count(self) -> int:
        """Return the number of installed filters."""
        return len(self.state.filters)

    def is_taken(self, item_id: ItemId) -> bool:
        """Return whether a mediator in contact has this message: it acknowledged it in this contact, or its
        summary names it (if the acknowledgement of an earlier contact was lost).
        """
        return self.state.is_taken(item_id)
