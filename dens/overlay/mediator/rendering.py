"""Renders messages of a mediator in the form that their receiver needs.

NOTIFY, INSTALL and REMOVE are forms of a notification, subscription or withdrawal, with the same identity,
age and lifetime.
"""

from collections.abc import Mapping
from typing import Final

from dens.overlay.mediator.installation import install_of
from dens.overlay.mediator.replication import Replication
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.wire.codes import ASKING, INSTALL, MEDIATOR, NOTIFICATION, NOTIFY, REMOVE
from dens.overlay.wire.item import Item
from dens.overlay.wire.messages import Notify, Satisfied

_EVENTS: Final = frozenset({NOTIFICATION, NOTIFY})


def notify_of(item: Item, satisfied: Mapping[int, Satisfied] | None) -> Item | None:
    """Return the NOTIFY of a notification for these subscriptions; None if there are none."""
    if not satisfied:
        return None
    notify = Notify(tuple(satisfied.values()), item.payload)
    return item.replace(type=NOTIFY, payload=notify.encode(), copies=0)


class MessageRenderer:
    """Renders messages for publishers, subscribers and other mediators."""

    __slots__ = ("_carried", "_replication")

    def __init__(self, state: MediatorState, replication: Replication) -> None:
        self._carried = state.carried
        self._replication = replication

    def frame(self, item: Item, type: int, session: PeerSession, now_ms: int) -> Item | None:
        """Return a message in the form that its receiver needs; None if it is not needed any more."""
        if type in _EVENTS:
            if session.role is MEDIATOR:
                return self._frame_for_mediator(item, session, now_ms)
            carried = self._carried.get(item.id)
            return None if carried is None else notify_of(item, carried.pending.get(session.peer))
        if type == INSTALL:
            if item.type not in ASKING:
                return None  # Another message has the number that was reserved for a part.
            return install_of(item)
        if type == REMOVE:
            return item.replace(type=int(type), payload=item.payload[:2], signature=b"")
        return item

    def _frame_for_mediator(self, item: Item, session: PeerSession, now_ms: int) -> Item | None:
        """Return a notification for a mediator: with the copies that the policy shares, or else as the NOTIFY
        for an endpoint that the mediator hosts. That names the subscriptions of one endpoint; the host
        matches for the others.
        """
        copies = self._replication.share(item, session.peer, now_ms)
        if copies is None:
            return notify_of(item, self._replication.pending_for_hosted(item.id, session))
        return item if copies == item.copies else item.replace(copies=copies)
