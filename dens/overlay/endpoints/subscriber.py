"""SUB/DENS, the endpoint of a subscriber: it subscribes, receives notifications, and makes receipts for them.

This module has the interface of the application; subscriber_state.py has the durable state and the reaction
to messages.

A notification is delivered to the application exactly once: it leaves the durable inbox just before
`next_event` returns it. After a crash the inbox is delivered first. An application that could not process a
delivery, because its output ended, hands it back (`hand_back`).
"""

from collections.abc import Mapping
from typing import Final

from dens.interfaces import Directory, Signer
from dens.overlay.endpoints.directory_client import DirectoryClient
from dens.overlay.endpoints.subscriber_state import SubscriberState
from dens.overlay.errors import LocalProtocolError
from dens.overlay.events import Event, NotificationDelivered
from dens.overlay.mission import Mission
from dens.overlay.session.arguments import check_bytes, check_code
from dens.overlay.session.context import NodeContext
from dens.overlay.session.engine import Engine
from dens.overlay.session.results import ResultTracker
from dens.overlay.storage.store import Store
from dens.overlay.storage.subscription_table import Subscription, is_newer
from dens.overlay.wire.codes import UNVERIFIED, MessageType, Reason
from dens.overlay.wire.item import AT_ONCE_MS, LIFETIME_MS, OLDEST_AGE_MS, ItemId
from dens.overlay.wire.messages import Notify, Subscribed
from watchdog.header import HEADER_ID, HEADER_LIFETIME, HEADER_REVISION, body_of
from watchdog.vector import VectorError


class SubscriberEndpoint(Engine):
    """Engine of a subscriber."""

    def __init__(
        self,
        node: int,
        mission: Mission,
        store: Store,
        now_ms: int,
        *,
        signer: Signer | None = None,
        directory: Directory | None = None,
    ) -> None:
        """With a directory the endpoint looks up and keeps the offers of publishers
        (dens/overlay/endpoints/directory_client.py).
        """
        context = NodeContext(node, store, mission.authenticator(node), mission.limits)
        self.directory: Final = directory
        """Offers of publishers; for reading."""
        self._languages = mission.languages
        self.state: Final = SubscriberState(
            context, signer, DirectoryClient(context, directory), ResultTracker(context, mission.results)
        )
        super().__init__(context, mission.table_check, self.state, now_ms)

    # ------------------------------------------------------------------ called by the application

    def subscribe(
        self,
        vector: bytes,
        language: int,
        now_ms: int,
        *,
        occupies: int | None = None,
        label: str | None = None,
    ) -> ItemId:
        """Put a subscription in force. The first three bytes of its vector are id, revision and lifetime
        code.

        `label` names the subscription in this subscriber's store. It is never sent.

        A newer revision of the same id replaces the older one. A revision that is not newer than one that may
        still exist at a node is refused. A subscription that mediators may decompose
        (dens/overlay/covering/decomposition.py) occupies the ids of its parts, which follow its own, and as
        many message numbers; `occupies` defaults to the number of parts in its language.
        """
        check_bytes(vector, "a subscription vector")
        if len(vector) < 3:
            raise LocalProtocolError(
                f"a subscription vector begins with id, revision and lifetime, not {len(vector)} bytes"
            )
        id, seq, lifetime_q = vector[HEADER_ID], vector[HEADER_REVISION], vector[HEADER_LIFETIME]
        self.expire(now_ms)
        if occupies is None:
            occupies = self._count_parts(vector, language)
        self.state.check_free(id, seq, occupies)
        used, reach = self.state.used.get(id), self.state.reach.get(id, 0)
        self._durable.require_numbers(2 + occupies + reach)
        item = self.state.make(MessageType.SUBSCRIBE, language, lifetime_q, vector, now_ms)
        self._durable.occupy(item.id, occupies)
        if used is not None and (used[1] > item.expires_ms or occupies or reach):
            # The older revision outlives this one, or a source may have it in another form.
            self.state.withdraw(id, used[0], used[1], now_ms)
        self._durable.label(id, label)
        self.state.put_in_force(item, Subscribed(0, vector), now_ms)
        self._lookups.start_due(now_ms)
        return item.id

    def set_label(self, id: int, label: str) -> None:
        """Set the name of a subscription in force."""
        self._durable.label(id, label)

    @property
    def labels(self) -> Mapping[int, str]:
        """Return the names of the subscriptions in force, by id."""
        return {id: self._durable.labels[id] for id in self.state.in_force if id in self._durable.labels}

    def fits(self, id: int, occupies: int) -> bool:
        """Return whether the id and that many following ones are free of other subscriptions."""
        return self.state.is_free(id, id + occupies, except_for=id) and id + occupies <= 255

    def free_id(self, occupies: int, now_ms: int) -> int | None:
        """Return the lowest id that fits a subscription with that many parts, or None."""
        self.expire(now_ms)
        free = (id for id in range(256 - occupies) if self.state.is_free(id, id + occupies))
        return next(free, None)

    def _count_parts(self, vector: bytes, language: int) -> int:
        bound = self._languages.get(language)
        if bound is None or bound.decompose is None:
            return 0
        try:
            return len(bound.decompose(body_of(vector)))
        except VectorError as error:
            raise LocalProtocolError(f"invalid subscription in language {language}: {error}") from None

    def next_seq(self, id: int, occupies: int = 0) -> int:
        """Return a revision that `subscribe` accepts for this id and those that it occupies: newer than all
        that may still exist at a node.
        """
        ids = range(id, id + occupies + 1)
        used = [self.state.used[used_id][0] for used_id in ids if used_id in self.state.used]
        if not used:
            return 0
        for step in range(1, 128):
            seq = (used[0] + step) % 256
            if all(is_newer(seq, used_seq) for used_seq in used):
                return seq
        raise LocalProtocolError(
            f"no revision is newer than all used ones of the ids {id} to {id + occupies}; use other ids"
        )

    def renew(self, id: int, lifetime_q: int, now_ms: int) -> ItemId:
        """Extend a subscription to this lifetime from now on, without changing it."""
        check_code(lifetime_q, "lifetime code")
        self.expire(now_ms)
        current = self.state.current(id, now_ms)
        since_ms = now_ms if current.since_ms == AT_ONCE_MS else current.since_ms
        in_force_ms = max(0, now_ms - since_ms)  # The clock may have been set back.
        if in_force_ms > OLDEST_AGE_MS:
            raise LocalProtocolError(f"subscription {id} is too old to be renewed; subscribe again")
        renewal = Subscribed(in_force_ms, current.vector)
        if now_ms + LIFETIME_MS[lifetime_q] < current.until_ms:
            raise LocalProtocolError(
                f"subscription {id} is in force for longer than that; a renewal never shortens"
            )
        occupies = self._durable.occupied(current.item.id)
        self._durable.require_numbers(1 + occupies)
        item = self.state.make(
            MessageType.RENEW, current.item.language, lifetime_q, renewal.encode_renew(), now_ms
        )
        self._durable.occupy(item.id, occupies)
        self.state.put_in_force(item, renewal, now_ms)
        self._lookups.start_due(now_ms)
        return item.id

    def unsubscribe(self, id: int, now_ms: int) -> ItemId:
        """Withdraw a subscription: no node serves it after receiving the tombstone."""
        self.expire(now_ms)
        current = self.state.current(id, now_ms)
        self._durable.require_numbers(1 + self.state.reach.get(id, 0))
        del self.state.in_force[id]
        self._durable.label(id, None)
        self.state.drop(current.item, Reason.WITHDRAWN, now_ms)
        return self.state.withdraw(id, current.seq, self.state.used[id][1], now_ms)

    def signed_withdrawal(self, id: int) -> ItemId | None:
        """Return the withdrawal of this subscription that was made without this signer and signed at this
        start: a node may have refused it before. None if there is none, or if the id is in force again.
        """
        return None if id in self.state.in_force else self.state.signed_withdrawals.get(id)

    def held(self) -> tuple[int, int, int]:
        """Return the number of subscriptions in force; notifications are not held."""
        return len(self.state.in_force), 0, 0

    @property
    def in_force(self) -> tuple[Subscription, ...]:
        """Return the subscriptions in force, by id."""
        return tuple(self.state.in_force[id] for id in sorted(self.state.in_force))

    # ------------------------------------------------------------------ events

    def next_event(self) -> Event | None:
        """Return the next event, or None; a delivery leaves the inbox durably first."""
        event = super().next_event()
        if isinstance(event, NotificationDelivered):
            self._durable.remove_from_inbox(event.item.id)
            self._durable.commit()
        return event

    def hand_back(self, event: NotificationDelivered) -> None:
        """Return a delivery that the application could not process to the inbox, durably, for the
        next start.
        """
        notify = Notify(event.satisfied, event.item.payload)
        self._durable.add_to_inbox(event.item.replace(payload=notify.encode()))
        if event.reason == UNVERIFIED:
            self._durable.mark_unverified(event.item.id)
        self._durable.commit()
