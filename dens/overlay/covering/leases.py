"""Leases of mediators on the filters of a source.

A mediator that finds a cover at a source does not install what it covers
(dens/overlay/covering/suppression.py). The source does not see that, so it grants a lease on a filter to
every mediator that got its summary since the filter was installed. With covering, therefore, a source

- states in its summary that it grants leases (`RELIABLE`), if that summary is complete;
- filters one lifetime step longer than requested, about 9 %;
- removes a filter when all mediators with a lease have requested that, or when it expires;
- goes on filtering for a body that a newer revision replaced, under its own name, until it expires;
- never names an install in summaries that it did not accept.

The sessions in which mediators got a summary are durable, so a restart changes nothing.
"""

from typing import Final

from dens.interfaces import SubscriptionKey
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.storage.subscription_table import Subscription, is_newer
from dens.overlay.wire.codes import LINK_NUMBER

RELIABLE: Final = b"\x01"
"""Summary note of a source that grants leases. Mediators have the note of their policy there."""
CUT: Final = b"\x02"
"""Summary note of a source whose summary is incomplete: it may know messages of any origin."""
MEDIATORS_MAX: Final = 256
"""Mediators remembered one by one. Beyond that, those met longest ago are merged into one that never
requests a removal."""
_OTHERS: Final = LINK_NUMBER
"""Number of the merged mediators; no node has it."""
_NO_SESSION: Final = 0
"""Sessions are numbered from 1."""
_LONGEST_CODE: Final = 255


def longer_code(lifetime_q: int) -> int:
    """Return the code of one lifetime step more."""
    return min(lifetime_q + 1, _LONGEST_CODE)


class Leases:
    """Which mediators got a summary with which filters, and therefore have a lease on them."""

    __slots__ = (
        "_durable",
        "_in_contact",
        "_installed",
        "_moment",
        "_released",
        "_reported",
        "_sent",
        "_sessions",
    )

    def __init__(self, context: NodeContext) -> None:
        self._durable = context.durable
        self._sessions = context.sessions
        self._moment = 0
        """Counts events, so that two can be ordered without a clock."""
        self._sent: dict[int, tuple[int, int, bytes, bool]] = {}
        """By mediator in contact: the two sessions, the summary that was sent, and whether it was complete.
        """
        self._reported: dict[int, int] = {}
        """By mediator: the moment of its last complete summary."""
        self._installed: dict[SubscriptionKey, int] = {}
        """The moment of installation; unknown for filters from before a restart."""
        self._in_contact: dict[SubscriptionKey, dict[int, int]] = {}
        """The mediators in contact at installation, and their session."""
        self._released: dict[SubscriptionKey, dict[int, int]] = {}
        """The mediators that requested the removal of a filter, and up to which revision."""

    def summary_sent(self, session: PeerSession) -> bytes | None:
        """Return the summary that a mediator got in this session, or None. A retransmission must be
        identical, so that it is certain what the mediator knows.
        """
        sent = self._sent.get(session.peer)
        is_same = sent is not None and sent[:2] == (session.own_session, session.peer_session)
        return sent[2] if sent is not None and is_same else None

    def got_whole_summary(self, session: PeerSession) -> bool:
        """Return whether a mediator got a complete summary in this session; otherwise it has no leases."""
        return self.summary_sent(session) is not None and self._sent[session.peer][3]

    def note_summary(self, session: PeerSession, summary: bytes, *, is_whole: bool) -> None:
        """Note that a mediator gets this summary of the filters, complete or not."""
        for peer in [one for one in self._sent if one not in self._sessions]:
            del self._sent[peer]
        self._sent[session.peer] = session.own_session, session.peer_session, summary, is_whole
        if is_whole:
            self._note(session)

    def _note(self, session: PeerSession) -> None:
        known = self._durable.sessions_with
        if known.get(session.peer, 0) < session.own_session:
            for released in self._released.values():  # It may have restarted; then it repeats its requests.
                released.pop(session.peer, None)
        if session.peer not in known and len(known) >= MEDIATORS_MAX:
            self._merge_into_others(min((one for one in known if one != _OTHERS), key=known.__getitem__))
        self._durable.note_session(session.peer, session.own_session)
        self._moment += 1
        self._reported[session.peer] = self._moment

    def _merge_into_others(self, mediator: int) -> None:
        self._durable.note_session(_OTHERS, self._durable.sessions_with[mediator])
        self._durable.forget_sessions(mediator)
        self._reported[_OTHERS] = max(self._reported.get(_OTHERS, 0), self._reported.pop(mediator, 0))

    def installed(self, new: Subscription) -> None:
        """Note that a filter was installed."""
        self._moment += 1
        self._installed[new.key] = self._moment
        self._in_contact[new.key] = {
            session.peer: session.own_session
            for session in self._sessions.values()
            if self.got_whole_summary(session)
        }

    def renewed(self, old: Subscription) -> None:
        """Note that another message renews a filter; mediators that sent the older one keep their lease."""
        in_contact = self._in_contact.get(old.key)
        if in_contact is not None:
            for session in self._sessions.values():
                if session.knows(old.item.id):
                    in_contact[session.peer] = _NO_SESSION

    def may_remove(self, held: Subscription, mediator: int, seq: int) -> bool:
        """Note that a mediator released its lease on this revision and older ones; return whether no lease is
        left. A request for an older revision does not release this one.
        """
        released = self._released.setdefault(held.key, {})
        released[mediator] = seq
        finished = {peer for peer, up_to in released.items() if not is_newer(held.seq, up_to)}
        return not any(
            peer not in finished and self._has_lease(peer, held) for peer in self._durable.sessions_with
        )

    def _has_lease(self, mediator: int, held: Subscription) -> bool:
        """Return whether a mediator has a lease on a filter: by a later summary, or by the answer to its own
        install in the contact in which the filter was installed. After that contact it counts as leased.
        """
        installed = self._installed.get(held.key)
        if installed is None or self._reported.get(mediator, 0) > installed:
            return True
        number = self._in_contact[held.key].get(mediator)
        if number is None:
            return False
        session = self._sessions.get(mediator)
        return session is None or session.own_session != number or session.knows(held.item.id)

    def ended(self, key: SubscriptionKey) -> None:
        """Forget a removed filter."""
        self._installed.pop(key, None)
        self._in_contact.pop(key, None)
        self._released.pop(key, None)
