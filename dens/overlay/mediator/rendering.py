"""What a mediator makes of a message for the one who gets it.

Notify, install and remove are the same item in the form that its receiver needs: identity, age and lifetime
are those of the notification, subscription or withdrawal.
"""

from collections.abc import Mapping
from typing import Final

from dens.overlay.mediator.installation import install_of
from dens.overlay.mediator.replication import Sharing
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.wire.codes import ASKING, INSTALL, MEDIATOR, NOTIFICATION, NOTIFY, REMOVE
from dens.overlay.wire.item import Item
from dens.overlay.wire.messages import Notify, Satisfied

_EVENTS: Final = frozenset({NOTIFICATION, NOTIFY})


def notify_of(item: Item, satisfied: Mapping[int, Satisfied] | None) -> Item | None:
    """Return a notification as whoever is owed it for these subscriptions gets it; None for none."""
    if not satisfied:
        return None
    notify = Notify(tuple(satisfied.values()), item.payload)
    return item.replace(type=NOTIFY, payload=notify.encode(), copies=0)


class Framing:
    """Forms messages for publishers, subscribers and other mediators."""

    __slots__ = ("_carried", "_sharing")

    def __init__(self, state: MediatorState, sharing: Sharing) -> None:
        self._carried = state.carried
        self._sharing = sharing

    def frame(self, item: Item, type: int, session: PeerSession, now_ms: int) -> Item | None:
        """Return a message in the form that its receiver needs."""
        if type in _EVENTS:
            if session.role is MEDIATOR:
                return self._frame_for_mediator(item, session, now_ms)
            carried = self._carried.get(item.id)
            return None if carried is None else notify_of(item, carried.pending.get(session.peer))
        if type == INSTALL:
            if item.type not in ASKING:
                return None  # Somebody gave the number of a part to something else.
            return install_of(item)
        if type == REMOVE:
            return item.replace(type=int(type), payload=item.payload[:2], signature=b"")
        return item

    def _frame_for_mediator(self, item: Item, session: PeerSession, now_ms: int) -> Item | None:
        """Return a notification as a mediator gets it: with what the policy shares, or else for the ends that
        it hosts, as they themselves would get it. It then names the subscriptions of one of them; the host
        finds the others'.
        """
        copies = self._sharing.share(item, session.peer, now_ms)
        if copies is None:
            return notify_of(item, self._sharing.hosted_and_owed(item.id, session))
        return item if copies == item.copies else item.replace(copies=copies)
