"""SUB/DENS, the subscriber's end: it asks, hears, and says that it has heard.

What it makes (subscriptions, renewals, withdrawals, receipts) it keeps until it expires and offers to every
mediator that does not know it. A notification is shown to the application once: it is put into a durable
inbox together with the mark that it was seen, acknowledged when both are committed, and leaves the inbox,
durably, just before `next_event` hands it over. After a crash the inbox is handed over first. An application
that could not take a delivery, because its output ended, hands it back.
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
    """A node that subscribes."""

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
        """With a directory it keeps what it hears of others' offers, and asks for it
        (dens/overlay/endpoints/directory_client.py)."""
        context = NodeContext(node, store, mission.authenticator(node), mission.limits)
        self.directory: Final = directory
        """What it has heard of others' offers; for reading."""
        self._languages = mission.languages
        self.state: Final = SubscriberState(
            context, signer, DirectoryClient(context, directory), ResultTracker(context, mission.results)
        )
        super().__init__(context, mission.table_check, self.state, now_ms)

    # ------------------------------------------------------------------ what the application asks

    def subscribe(
        self,
        vector: bytes,
        language: int,
        now_ms: int,
        *,
        occupies: int | None = None,
        label: str | None = None,
    ) -> ItemId:
        """Ask for what this vector describes; its first three bytes are id, revision and lifetime code.

        `label` names the subscription in this subscriber's store. It is never sent.

        A newer revision of the same id replaces the older one. An id whose revision is not newer than one
        that was used and may still be somewhere is refused. A subscription that mediators may take apart
        (dens/overlay/covering/decomposition.py) occupies the ids of its parts, which follow its own, and as
        many message numbers: as many as its language makes of it, if nothing else is said.
        """
        check_bytes(vector, "a subscription vector")
        if len(vector) < 3:
            raise LocalProtocolError(
                f"{len(vector)} bytes are no subscription vector; it begins with id, revision, lifetime"
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
            # The older one outlives this one, or a source may have it in another form than this one.
            self.state.withdraw(id, used[0], used[1], now_ms)
        self._durable.label(id, label)
        self.state.put_in_force(item, Subscribed(0, vector), now_ms)
        self._lookups.start_due(now_ms)
        return item.id

    def set_label(self, id: int, label: str) -> None:
        """Name a subscription in force."""
        self._durable.label(id, label)

    @property
    def labels(self) -> Mapping[int, str]:
        """Return the names of the subscriptions in force, by id."""
        return {id: self._durable.labels[id] for id in self.state.in_force if id in self._durable.labels}

    def fits(self, id: int, occupies: int) -> bool:
        """Return whether this id can have so many parts without another subscription's ids."""
        return self.state.is_free(id, id + occupies, except_for=id) and id + occupies <= 255

    def free_id(self, occupies: int, now_ms: int) -> int | None:
        """Return the lowest id at which a subscription with so many parts fits, or None."""
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
            raise LocalProtocolError(f"this is no subscription of language {language}: {error}") from None

    def next_seq(self, id: int, occupies: int = 0) -> int:
        """Return a revision under which `subscribe` takes this id, and those that it occupies: newer than all
        that may be somewhere.
        """
        used = [self.state.used[one][0] for one in range(id, id + occupies + 1) if one in self.state.used]
        if not used:
            return 0
        for step in range(1, 128):
            seq = (used[0] + step) % 256
            if all(is_newer(seq, one) for one in used):
                return seq
        raise LocalProtocolError(
            f"no revision is newer than all that were used under the ids {id} to {id + occupies}; take others"
        )

    def renew(self, id: int, lifetime_q: int, now_ms: int) -> ItemId:
        """Keep a subscription in force for this lifetime from now on, without changing it."""
        check_code(lifetime_q, "lifetime code")
        self.expire(now_ms)
        current = self.state.current(id, now_ms)
        since_ms = now_ms if current.since_ms == AT_ONCE_MS else current.since_ms
        in_force_ms = max(0, now_ms - since_ms)  # a clock may have been set back
        if in_force_ms > OLDEST_AGE_MS:
            raise LocalProtocolError(f"subscription {id} is too old to be renewed; subscribe anew")
        said = Subscribed(in_force_ms, current.vector)
        if now_ms + LIFETIME_MS[lifetime_q] < current.until_ms:
            raise LocalProtocolError(
                f"subscription {id} is in force for longer than that; a renewal never shortens"
            )
        occupies = self._durable.occupied(current.item.id)
        self._durable.require_numbers(1 + occupies)
        item = self.state.make(
            MessageType.RENEW, current.item.language, lifetime_q, said.encode_renew(), now_ms
        )
        self._durable.occupy(item.id, occupies)
        self.state.put_in_force(item, said, now_ms)
        self._lookups.start_due(now_ms)
        return item.id

    def unsubscribe(self, id: int, now_ms: int) -> ItemId:
        """Take a subscription back: no copy of it, wherever it is, will be served when this has got there."""
        self.expire(now_ms)
        current = self.state.current(id, now_ms)
        self._durable.require_numbers(1 + self.state.reach.get(id, 0))
        del self.state.in_force[id]
        self._durable.label(id, None)
        self.state.drop(current.item, Reason.WITHDRAWN, now_ms)
        return self.state.withdraw(id, current.seq, self.state.used[id][1], now_ms)

    def signed_withdrawal(self, id: int) -> ItemId | None:
        """Return the withdrawal of this subscription that was made without this signer and signed at this
        start: a node may have refused it before. None where there is none, or the id is in force again.
        """
        return None if id in self.state.in_force else self.state.signed_withdrawals.get(id)

    def held(self) -> tuple[int, int, int]:
        """Return how many subscriptions are in force, and that no notification is kept."""
        return len(self.state.in_force), 0, 0

    @property
    def in_force(self) -> tuple[Subscription, ...]:
        """Return the subscriptions in force, by id."""
        return tuple(self.state.in_force[id] for id in sorted(self.state.in_force))

    # ------------------------------------------------------------------ events

    def next_event(self) -> Event | None:
        """Return the next thing that happened; a delivery is taken out of the inbox durably first."""
        event = super().next_event()
        if isinstance(event, NotificationDelivered):
            self._durable.remove_from_inbox(event.item.id)
            self._durable.commit()
        return event

    def hand_back(self, event: NotificationDelivered) -> None:
        """Keep, durably, a delivery that the application could not take, for the next start."""
        shown = Notify(event.satisfied, event.item.payload)
        self._durable.add_to_inbox(event.item.replace(payload=shown.encode()))
        if event.reason == UNVERIFIED:
            self._durable.mark_unverified(event.item.id)
        self._durable.commit()
