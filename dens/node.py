"""A DENS node: it stores subscriptions, finds publishers, matches notifications, carries and forwards.

What it holds and learns is in dens/holdings.py; here is whom it tells of it:

    SUBSCRIBE, RENEW   relay, install where it can be served
    UNSUBSCRIBE        relay, remove its filters
    ANNOUNCE           relay, install at that publisher what it can serve
    NOTIFICATION       relay as the policy says, notify whom it is owed to
    NOTIFY             notify the ends of this device, for whom alone it came
    RECEIPT            relay

A mediator hosts the subscribers on its own device, and says so to the mediators it meets: meeting it is
meeting them (docs/decisions/0012-hosted-ends.md).
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from dens.collaborators import Directory, Identities, MatcherFactory, SubscriptionKey
from dens.engine import HAS_IT
from dens.events import (
    CopyReplicated,
    MessageStored,
)
from dens.holdings import Holdings
from dens.identity import is_its_owners
from dens.item import NEVER_MS, Item, ItemId, quick_tuple
from dens.limits import Limits
from dens.messages import NOTE_BYTES, Notify, Satisfied, SummaryMessage
from dens.notification_store import Carried
from dens.numbers import (
    DIRECT_LANGUAGE,
    INSTALL,
    LINK_NUMBER,
    MEDIATOR,
    NO_ROOM,
    NOT_SIGNED,
    NOTIFICATION,
    NOTIFY,
    PUBLISHER,
    REMOVE,
    STORED,
    SUBSCRIBE,
    SUBSCRIBER,
    SUMMARY,
    SUPERSEDED,
    UNEXPECTED,
    UNKNOWN_LANGUAGE,
    UNSUBSCRIBE,
    MessageType,
    Status,
)
from dens.parts import TakesApart
from dens.peer_session import PeerSession
from dens.policies.epidemic import Epidemic
from dens.policies.policy import ReplicationPolicy
from dens.quarantine import Work
from dens.seal import Sealer
from dens.store import Store
from dens.summary import Summary

_PRIORITY: Final = {
    int(MessageType.UNSUBSCRIBE): 0,
    int(MessageType.SUBSCRIBE): 1,
    int(MessageType.RENEW): 1,
    int(MessageType.RECEIPT): 2,
    int(MessageType.ANNOUNCE): 3,
    int(MessageType.NOTIFICATION): 4,
}
_DELIVERY: Final = 0
"""What an end in contact is owed goes first, whether the end is met itself or its host."""
_EVENTS: Final = frozenset({NOTIFICATION, NOTIFY})
_ASKING: Final = frozenset({int(MessageType.SUBSCRIBE), int(MessageType.RENEW)})
_REFUSES_WHOLE: Final = frozenset({UNKNOWN_LANGUAGE, NO_ROOM})
"""After these answers a publisher may take the parts of a subscription."""


def _notify_of(item: Item, satisfied: Mapping[int, Satisfied] | None) -> Item | None:
    """Return a notification as whoever is owed it for these subscriptions gets it; None for none."""
    if not satisfied:
        return None
    notify = Notify(tuple(satisfied.values()), item.payload)
    return item.but(type=NOTIFY, payload=notify.encode(), copies=0)


class DensNode(Holdings):
    """A mediator of the overlay."""

    role = MEDIATOR

    def __init__(
        self,
        node: int,
        table_check: int,
        store: Store,
        now_ms: int,
        *,
        matchers: Mapping[int, MatcherFactory],
        listens_to: Mapping[int, Mapping[int, MatcherFactory]] | None = None,
        parts: Mapping[int, TakesApart] | None = None,
        directory: Directory,
        policy: ReplicationPolicy | None = None,
        hosts: frozenset[int] = frozenset(),
        identities: Identities | None = None,
        sealer: Sealer | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._identities = identities
        self._policy = policy or Epidemic()
        self._find_ms = NEVER_MS
        super().__init__(
            node,
            table_check,
            store,
            now_ms,
            matchers=matchers,
            listens_to=listens_to,
            parts=parts,
            directory=directory,
            hosts=hosts,
            sealer=sealer,
            limits=limits,
        )

    def _understand(self, message: SummaryMessage) -> Summary:
        if message.hello.role == MEDIATOR:
            return self._ledger.known.compare(message.known)
        return super()._understand(message)

    def _note(self, session: PeerSession, now_ms: int) -> bytes:
        if session.role is not MEDIATOR:
            return b""
        own = Item(SUMMARY, 0, self.node, LINK_NUMBER, now_ms, 0, 0, b"")
        return self._quarantine.attempt(
            Work.SHARING, own, now_ms, self._checked_note, now_ms, otherwise=b"", peer=session.peer
        )

    def _checked_note(self, now_ms: int) -> bytes:
        note = self._policy.note(now_ms)
        if len(note) > NOTE_BYTES:
            raise ValueError(f"a note has at most {NOTE_BYTES} bytes, here are {len(note)}")
        return note

    def _tell_policy(self, session: PeerSession, note: bytes, now_ms: int) -> None:
        """Tell the policy of a peer and of what its policy says; a note that it fails with is ignored."""
        theirs = Item(SUMMARY, 0, session.peer, session.summary_number, now_ms, 0, 0, note)
        is_mediator = session.role is MEDIATOR
        self._quarantine.attempt(
            Work.SHARING,
            theirs,
            now_ms,
            self._policy.met,
            session.peer,
            is_mediator,
            note,
            now_ms,
            session.hosts,
            otherwise=None,
            peer=session.peer,
        )

    def _told_hosts(self, session: PeerSession) -> tuple[int, ...]:
        is_of_use = session.role is MEDIATOR and not self._policy.shares_everything
        return tuple(sorted(self._hosts)) if is_of_use else ()

    # ------------------------------------------------------------------ taking messages

    def _take(self, item: Item, session: PeerSession, now_ms: int) -> Status:
        if self._next_end_ms() <= now_ms:
            self.timer_due(now_ms)
        if self._identities is not None and not self._is_its_owners(item, session, now_ms):
            return NOT_SIGNED
        if item.type == NOTIFY and session.role is not MEDIATOR:
            return UNEXPECTED
        status = self._learn(item, session.peer, now_ms)
        if status is STORED:
            happened = CopyReplicated if session.role is MEDIATOR else MessageStored
            word = None if session.flags == self._flags else self._mark(item.id, session)
            self._events.append(quick_tuple(happened, (now_ms, item, session.peer, word, ())))
            self._spread(item, session, now_ms)
            self._find_by(now_ms)
        elif status is SUPERSEDED and item.type != NOTIFY:
            self._ledger.know(item)
        return status

    def _is_its_owners(self, item: Item, session: PeerSession, now_ms: int) -> bool:
        """Say whether a message may be believed; one that cannot be verified may not."""
        return self._quarantine.attempt(
            Work.TAKING,
            item,
            now_ms,
            is_its_owners,
            item,
            self._identities,
            otherwise=False,
            peer=session.peer,
        )

    # ------------------------------------------------------------------ giving messages

    def _summary_for(self, session: PeerSession, most_bytes: int) -> bytes:
        if session.role is MEDIATOR:
            return self._ledger.known.encode_all(most_bytes)
        return self._ledger.known.encode_only(session.peer, most_bytes)

    def _peer_ready(self, session: PeerSession, known: Summary, note: bytes, now_ms: int) -> None:
        role = session.role
        self._tell_policy(session, note, now_ms)
        if role is MEDIATOR:
            missing = [item for id in known.lacking if (item := self._items.get(id)) is not None]
            missing.sort(key=lambda item: item.created_ms)
            for item in missing:
                self._offer(item, session, now_ms)
        elif role is SUBSCRIBER:
            if self._carried.is_deferred(session.peer):
                self._find_owed(session.peer, now_ms)
            for item_id in self._carried.owed_to(session.peer):
                if session.knows(item_id):
                    self._carried.delivered(item_id, session.peer)
                else:
                    session.offer(0, item_id, NOTIFY)
            self._find_by(now_ms)
        else:
            self._offer_removals(session)
            self._offer_installs(session)

    def _offer(self, item: Item, session: PeerSession, now_ms: int) -> None:
        """Queue a message for a mediator that has use for it; what came for the ends of this device alone
        goes to no other.
        """
        type = item.type
        if type == NOTIFY or not session.lacks(item.id):
            return
        priority = _PRIORITY[type]
        if type == NOTIFICATION:
            if self._share(item, session.peer, now_ms) is None:
                if self._hosted_and_owed(item.id, session) is None:
                    return
                priority = _DELIVERY
        elif type in _ASKING and item.language == DIRECT_LANGUAGE and not self._tells_plain(item):
            return
        session.enqueue(priority, item.id, type, item.size)

    def _tells_plain(self, item: Item) -> bool:
        """Say whether other mediators are told of this subscription to plain messages.

        A plain message names its receiver, so who wants it need be known only where the receiver is met.
        There the receiver says so itself, or its host for it; unless the policy asks.
        """
        policy = self._policy
        return policy.asks_who_is_owed or (item.origin in self._hosts and not policy.shares_everything)

    def _share(self, item: Item, peer: int, now_ms: int) -> int | None:
        """Ask the policy for the copies code of a mediator's copy, or None for no copy.

        An end of this device is met by nobody more surely than here, so the policy does not hear of it.
        """
        policy = self._policy
        owed_to: Collection[int] = ()
        if policy.asks_who_is_owed:
            owed_to = self._carried.subscribers_owed(item.id)
            if self._hosts:
                owed_to = [subscriber for subscriber in owed_to if subscriber not in self._hosts]
        return self._quarantine.attempt(
            Work.SHARING,
            item,
            now_ms,
            policy.share,
            item,
            owed_to,
            peer,
            now_ms,
            otherwise=None,
            peer=peer,
        )

    def _hosted_and_owed(self, item_id: ItemId, session: PeerSession) -> dict[int, Satisfied] | None:
        """Return what this notification satisfies of an end that this mediator hosts, or None where none of
        them is owed it.
        """
        if session.hosts and (carried := self._carried.get(item_id)) is not None:
            for end in session.hosts:
                if end in carried.owed and end not in self._hosts:
                    return carried.owed[end]
        return None

    def _offer_removals(self, session: PeerSession) -> None:
        for tombstone in self._table.tombstones():
            if session.has_any_of(tombstone.item.origin):
                self._offer_removal(tombstone.item, session)

    def _offer_removal(self, tombstone: Item, session: PeerSession) -> None:
        session.offer(0, tombstone.id, REMOVE)
        for part in self._parts.of(tombstone.id):
            session.offer(0, part.id, REMOVE)

    def _offer_installs(self, session: PeerSession) -> None:
        for key in self._services.served_by(session.peer):
            subscription = self._table.get(key)
            if subscription is not None:
                self._offer_install(key, subscription.item, session)

    def _offer_install(self, key: SubscriptionKey, item: Item, session: PeerSession) -> None:
        """Ask a publisher to look for a subscription; for its parts, if it has some of them or would not take
        it whole. What it has shown it does not know is offered no more.
        """
        parts, book, peer = self._parts.of(item.id), self._parts, session.peer
        if parts and (
            book.is_refused(peer, key, item.language) or any(session.knows(part.id) for part in parts)
        ):
            for part in parts:
                if book.knows_language(peer, part.language):
                    session.offer(1, part.id, INSTALL)
        elif book.knows_language(peer, item.language):
            session.offer(1, item.id, INSTALL)

    def _install_refused(self, item: Item, status: int, session: PeerSession) -> None:
        """Learn that a publisher does not take a subscription, or a part of one, as it is."""
        if self._services.announcement(session.peer) is None:
            return  # Nothing is remembered of a publisher that is not known.
        if status == UNKNOWN_LANGUAGE:
            self._parts.does_not_know(session.peer, item.language)
        subscription = self._table.get((item.origin, item.payload[0]))
        if subscription is not None and subscription.item.id == item.id:
            if status == NO_ROOM and self._parts.of(item.id):
                self._parts.has_no_room(session.peer, subscription.key)
            self._offer_install(subscription.key, subscription.item, session)

    def _offer_to_publishers(self, key: SubscriptionKey, item: Item, publishers: Iterable[int]) -> None:
        for publisher in publishers:
            session = self._sessions.get(publisher)
            if session is not None and session.is_ready and session.role is PUBLISHER:
                self._offer_install(key, item, session)

    def _offer_to_publisher(self, publisher: int) -> None:
        session = self._sessions.get(publisher)
        if session is not None and session.is_ready:
            self._offer_installs(session)

    def _spread(self, item: Item, giver: PeerSession, now_ms: int) -> None:
        """Give a message that has just been learnt to those in contact whom it concerns, but not back."""
        for session in self._sessions.values():
            if session is giver or not session.is_ready:
                continue
            if session.role is MEDIATOR:
                self._offer(item, session, now_ms)
            elif session.role is PUBLISHER and item.type == UNSUBSCRIBE:
                self._offer_removal(item, session)
        if item.type in _EVENTS:
            carried = self._carried.get(item.id)
            if carried is not None:
                for subscriber in carried.owed:
                    self._notify_end(carried, subscriber)

    def _notify(self, carried: Carried, subscriber: int, now_ms: int) -> None:
        self._notify_end(carried, subscriber)
        asks = self._policy.asks_who_is_owed
        for session in self._sessions.values():
            if (asks or subscriber in session.hosts) and session.is_ready and session.role is MEDIATOR:
                self._offer(carried.item, session, now_ms)

    def _notify_end(self, carried: Carried, subscriber: int) -> None:
        session = self._sessions.get(subscriber)
        if session is not None and session.is_ready and session.role is SUBSCRIBER:
            session.may_want(carried.item.id)
            session.offer(0, carried.item.id, NOTIFY, carried.item.size)

    def _held(self, item_id: ItemId) -> Item | None:
        return self._items.get(item_id) or self._parts.get(item_id)

    def _frame(self, item: Item, type: int, session: PeerSession, now_ms: int) -> Item | None:
        if type in _EVENTS:
            if session.role is MEDIATOR:
                return self._frame_for_mediator(item, session, now_ms)
            carried = self._carried.get(item.id)
            return None if carried is None else _notify_of(item, carried.owed.get(session.peer))
        if type == INSTALL:
            if item.type not in _ASKING:
                return None  # Somebody gave the number of a part to something else.
            payload = item.payload if item.type == SUBSCRIBE else item.payload[4:]
            return item.but(type=int(type), payload=payload, signature=b"")
        if type == REMOVE:
            return item.but(type=int(type), payload=item.payload[:2], signature=b"")
        return item

    def _frame_for_mediator(self, item: Item, session: PeerSession, now_ms: int) -> Item | None:
        """Return a notification as a mediator gets it: with what the policy shares, or else for the ends that
        it hosts, as they themselves would get it. It then names the subscriptions of one of them; the host
        finds the others'.
        """
        copies = self._share(item, session.peer, now_ms)
        if copies is None:
            return _notify_of(item, self._hosted_and_owed(item.id, session))
        return item if copies == item.copies else item.but(copies=copies)

    def _acknowledged(self, item: Item, status: int, session: PeerSession, now_ms: int) -> None:
        if item.type == NOTIFY:
            if session.role is MEDIATOR:
                return  # Whether its ends have it their receipts say.
            if status in HAS_IT:
                self._carried.delivered(item.id, session.peer)
                self._let_go_if_done(item.id, now_ms)
            elif status == SUPERSEDED:
                self._owe_other_revisions_only(item, session)
                self._let_go_if_done(item.id, now_ms)
            self._find_more_owed(session, now_ms)
        elif item.type == NOTIFICATION and status == STORED:
            held = self._items.get(item.id)
            kept = 0 if held is None else self._kept(held, item.copies, session, now_ms)
            if held is not None and kept != held.copies:
                lighter = held.but(copies=kept)
                self._items[item.id] = lighter
                self._carried.replace(lighter)
                self._ledger.rewrite(lighter)
        elif item.type == INSTALL and status in _REFUSES_WHOLE:
            self._install_refused(item, status, session)

    def _has_already(self, subscriber: int, item_id: ItemId) -> bool:
        session = self._sessions.get(subscriber)
        return session is not None and session.knows(item_id)

    def _find_more_owed(self, session: PeerSession, now_ms: int) -> None:
        """Find what else a subscriber in contact is owed when all that was kept is across; later, if that was
        done too often, or something is under way still.
        """
        peer = session.peer
        if self._carried.is_deferred(peer):
            if not self._carried.owed_to(peer) and self._rate_limit.admits(peer, now_ms):
                self._find_owed(peer, now_ms)
            self._find_by(now_ms + self.limits.session_ms)

    def _find_by(self, at_ms: int) -> None:
        """Look again then at the latest, if there is anybody for whom not everything is kept."""
        if at_ms < self._find_ms and self._carried.has_deferred:
            self._find_ms = at_ms

    def timer_due(self, now_ms: int) -> None:
        """Do what has become due, and find what subscribers in contact are owed that was put off."""
        super().timer_due(now_ms)
        if self._find_ms <= now_ms:
            self._find_ms = NEVER_MS
            for session in self._sessions.values():
                if session.is_ready and session.role is SUBSCRIBER:
                    self._find_more_owed(session, now_ms)

    def _next_end_ms(self) -> int:
        return min(super()._next_end_ms(), self._find_ms)

    def _kept(self, held: Item, given: int, session: PeerSession, now_ms: int) -> int:
        """Ask the policy for the copies code that stays here."""
        return self._quarantine.attempt(
            Work.SHARING,
            held,
            now_ms,
            self._policy.kept,
            held,
            given,
            otherwise=held.copies,
            peer=session.peer,
        )

    def _owe_other_revisions_only(self, refused: Item, session: PeerSession) -> None:
        """Owe a subscriber no more for what it no longer wants; a newer revision may have come meanwhile."""
        self._carried.release_refused(refused.id, session.peer, Notify.decode(refused.payload).satisfied)
        if session.peer in self._carried.subscribers_owed(refused.id):
            session.may_want(refused.id)
            session.offer(0, refused.id, NOTIFY)
