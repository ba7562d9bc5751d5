"""Replication of notifications among mediators, as the replication policy decides.

A policy may be third-party code: an exception is reported, and no copy is shared.
"""

from collections.abc import Collection
from typing import Final

from dens.overlay.mediator.composition import Composition
from dens.overlay.policies.policy import ReplicationPolicy
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.quarantine import Work
from dens.overlay.storage.notification_store import NotificationStore
from dens.overlay.storage.reservations import COUNTED, RETURNED, Reservation
from dens.overlay.wire.codes import LINK_NUMBER, MEDIATOR, PUBLISHER, SUMMARY
from dens.overlay.wire.item import Item, ItemId
from dens.overlay.wire.messages import NOTE_BYTES, Satisfied

COPIES_MAX: Final = 7
"""A copies code has three bits in messages."""
STATE_BYTES: Final = 65_536
"""Maximum size of the stored state of a policy."""


def checked_copies(code: int) -> int:
    """Return the copies code of a policy; one that does not fit three bits is a defect of the policy."""
    if not 0 <= code <= COPIES_MAX:
        raise ValueError(f"a copies code is 0 to {COPIES_MAX}, the policy gave {code}")
    return code


class Replication:
    """Decides which mediators get copies of which notifications."""

    __slots__ = (
        "_carried",
        "_composition",
        "_durable",
        "_hosts",
        "_node",
        "_policy",
        "_quarantine",
        "asks_who_is_owed",
        "counts_copies",
        "made",
        "shares_everything",
    )

    def __init__(
        self,
        context: NodeContext,
        policy: ReplicationPolicy,
        carried: NotificationStore,
        composition: Composition,
        hosts: frozenset[int],
    ) -> None:
        self._node = context.node
        self._durable = context.durable
        self._quarantine = context.quarantine
        self._policy = policy
        self._carried = carried
        self._composition = composition
        self._hosts = hosts
        self.asks_who_is_owed = policy.asks_who_is_owed
        self.shares_everything = policy.shares_everything
        self.counts_copies = policy.counts_copies
        self.made = composition.languages if policy.shares_everything else frozenset()
        """The composed languages whose notifications other mediators derive themselves."""

    def note(self, session: PeerSession, now_ms: int) -> bytes:
        """Return the summary note: of the policy for mediators; whether it counts copies for publishers."""
        if session.role is not MEDIATOR:
            return COUNTED if self.counts_copies and session.role is PUBLISHER else b""
        try:
            return self._checked_note(now_ms)
        except Exception as error:
            own = Item(SUMMARY, 0, self._node, LINK_NUMBER, now_ms, 0, 0, b"")
            self._quarantine.put(Work.SHARING, own, error, now_ms, session.peer)
            return b""

    def _checked_note(self, now_ms: int) -> bytes:
        note = self._policy.note(now_ms)
        if len(note) > NOTE_BYTES:
            raise ValueError(f"a note has at most {NOTE_BYTES} bytes, here are {len(note)}")
        return note

    def met(self, session: PeerSession, note: bytes, now_ms: int) -> None:
        """Inform the policy of a peer and its note. A note that it fails with is ignored."""
        is_mediator = session.role is MEDIATOR
        try:
            self._policy.met(session.peer, is_mediator, note, now_ms, session.hosts)
            self._durable.note_policy(self._checked_state())
        except Exception as error:
            theirs = Item(SUMMARY, 0, session.peer, session.summary_number, now_ms, 0, 0, note)
            self._quarantine.put(Work.SHARING, theirs, error, now_ms, session.peer)

    def _checked_state(self) -> bytes:
        state = self._policy.state()
        if len(state) > STATE_BYTES:
            raise ValueError(f"a policy keeps at most {STATE_BYTES} bytes, here are {len(state)}")
        return state

    def restore(self, now_ms: int) -> None:
        """Restore the state of the policy after a restart."""
        if state := self._durable.policy_state:
            own = Item(SUMMARY, 0, self._node, LINK_NUMBER, now_ms, 0, 0, b"")
            self._quarantine.attempt(Work.SHARING, own, now_ms, self._policy.restore, state, otherwise=None)

    def hosts_for(self, session: PeerSession) -> tuple[int, ...]:
        """Return the endpoints of this device, for mediators that need them."""
        is_of_use = session.role is MEDIATOR and not self.shares_everything
        return tuple(sorted(self._hosts)) if is_of_use else ()

    def relays_plain(self, item: Item) -> bool:
        """Return whether a subscription to plain messages is relayed to other mediators.

        A plain message names its receiver, so its subscription is needed only by mediators that meet the
        receiver or its host, which send it themselves; unless the policy uses pending deliveries.
        """
        policy = self._policy
        return policy.asks_who_is_owed or (item.origin in self._hosts and not self.shares_everything)

    def share(self, item: Item, peer: int, now_ms: int) -> int | None:
        """Return the copies code of a mediator's copy, or None for no copy: what is reserved for it, else
        what others returned, else what the policy gives.

        Endpoints of this device are left out of the policy's decision: no carrier meets them more surely.
        """
        if self.shares_everything:
            return 0
        reserved = self._durable.reservations.by_item.get(item.id)
        if reserved is not None:
            own = reserved.get(peer)
            if own is not None:
                return own.given
        pending_for: Collection[int] = ()
        if self.asks_who_is_owed:
            pending_for = self._carried.pending_subscribers(item.id)
            if item.language in self._composition.listeners:
                pending_for = {*pending_for, *self._composition.wanted_by(item, now_ms)}
            if self._hosts:
                pending_for = [subscriber for subscriber in pending_for if subscriber not in self._hosts]
        if reserved is not None:
            for place, returned in reserved.items():
                if place >= RETURNED:
                    before = item.replace(copies=returned.before)
                    if self._ask(before, pending_for, peer, now_ms) == returned.given:
                        return returned.given
        return self._ask(item, pending_for, peer, now_ms)

    def _ask(self, item: Item, pending_for: Collection[int], peer: int, now_ms: int) -> int | None:
        return self._quarantine.attempt(
            Work.SHARING,
            item,
            now_ms,
            self._policy_shares,
            item,
            pending_for,
            peer,
            now_ms,
            otherwise=None,
            peer=peer,
        )

    def is_composed_there(self, item: Item, session: PeerSession, now_ms: int) -> bool:
        """Return whether a mediator that gets everything derives this composite itself."""
        return self._composition.is_made_by(session.peer, item, session.knows, now_ms)

    def pending_for_hosted(self, item_id: ItemId, session: PeerSession) -> dict[int, Satisfied] | None:
        """Return the satisfied subscriptions of an endpoint that this mediator hosts, or None if the
        notification is pending for none of them.
        """
        if session.hosts and (carried := self._carried.get(item_id)) is not None:
            for end in session.hosts:
                if end in carried.pending and end not in self._hosts:
                    return carried.pending[end]
        return None

    def reserve(self, held: Item, given: int, session: PeerSession, now_ms: int) -> int:
        """Reserve a copy with this code for a mediator; return the code that stays here."""
        durable, peer = self._durable, session.peer
        reserved = durable.reservations.by_item.get(held.id)
        if reserved is not None:
            if peer in reserved:
                return held.copies
            for place, returned in reserved.items():
                if place >= RETURNED and returned.given == given:
                    durable.settle(held.id, place)
                    durable.reserve(held.id, peer, Reservation(returned.before, given, session.peer_session))
                    return held.copies
        durable.reserve(held.id, peer, Reservation(held.copies, given, session.peer_session))
        return self._kept(held, given, now_ms)

    def give_back(self, held: Item, peer: int, now_ms: int) -> int:
        """Take back a copy that a peer did not accept; return the code that is here now. If nothing else was
        given since, that is the code from before; otherwise the copy waits for another peer.
        """
        durable, code = self._durable, held.copies
        reserved = durable.reservations.by_item[held.id]
        durable.reserve(held.id, durable.reservations.place_for_returned(held.id), reserved[peer])
        durable.settle(held.id, peer)
        is_merged = True
        while is_merged:
            is_merged = False
            for place, returned in reserved.items():
                if place >= RETURNED:
                    kept = self._kept(held.replace(copies=returned.before), returned.given, now_ms)
                    if kept == code:
                        code, is_merged = returned.before, True
                        durable.settle(held.id, place)
                        break
        return code

    def _kept(self, held: Item, given: int, now_ms: int) -> int:
        """Return the copies code that stays here, as the policy decides."""
        return self._quarantine.attempt(
            Work.SHARING, held, now_ms, self._policy_keeps, held, given, otherwise=held.copies
        )

    def _policy_shares(self, item: Item, pending_for: Collection[int], peer: int, now_ms: int) -> int | None:
        code = self._policy.share(item, pending_for, peer, now_ms)
        return None if code is None else checked_copies(code)

    def _policy_keeps(self, held: Item, given: int) -> int:
        return checked_copies(self._policy.kept(held, given))
