"""Which mediators may rely on a filter of a source: on its being there, instead of asking for another.

A mediator that finds a cover at a source does not ask for what it covers
(dens/overlay/covering/suppression.py). The source is not told of that, so it goes by whom it has told of
its filters: every mediator that it has sent a summary since a filter was there may rely on it. With
covering, therefore, a source

- says in its summary that it can be relied on (`RELIABLE`), if that summary is whole;
- looks for what it is asked one lifetime step longer, about 9 %;
- takes a filter away when all who may rely on it have asked for that, or its lifetime is over;
- goes on looking for a body that a newer revision replaced, in its own name, for as long as it was asked to;
- names in summaries no install that it did not take.

With which sessions it told which mediators is durable, so a restart changes nothing.
"""

from typing import Final

from dens.interfaces import SubscriptionKey
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.storage.subscription_table import Subscription, is_newer
from dens.overlay.wire.codes import LINK_NUMBER

RELIABLE: Final = b"\x01"
"""What a source that can be relied on says to mediators, where those tell each other their policy's note."""
CUT: Final = b"\x02"
"""What a source says to mediators whose summary leaves something out: it may know messages of any origin."""
MEDIATORS_MAX: Final = 256
"""So many mediators are remembered one by one. Of more, those met longest ago become one that never asks."""
_OTHERS: Final = LINK_NUMBER
"""No node has this number."""
_NO_SESSION: Final = 0
"""Sessions have numbers from 1 on."""
_LONGEST_CODE: Final = 255


def longer_code(lifetime_q: int) -> int:
    """Return the code of one lifetime step more."""
    return min(lifetime_q + 1, _LONGEST_CODE)


class Leases:
    """Who was told of which filters, and who may therefore rely on them."""

    __slots__ = (
        "_asked",
        "_durable",
        "_in_contact",
        "_installed",
        "_moment",
        "_reported",
        "_said",
        "_sessions",
    )

    def __init__(self, context: NodeContext) -> None:
        self._durable = context.durable
        self._sessions = context.sessions
        self._moment = 0
        """Counts what happened, so that two happenings can be ordered without a clock."""
        self._said: dict[int, tuple[int, int, bytes, bool]] = {}
        """For each mediator in contact the two sessions, the summary that it was sent, and whether that says
        all.
        """
        self._reported: dict[int, int] = {}
        """When each mediator was last told of the filters that were there."""
        self._installed: dict[SubscriptionKey, int] = {}
        """When a filter came; of those of an earlier life nothing is known."""
        self._in_contact: dict[SubscriptionKey, dict[int, int]] = {}
        """Who was in contact then, in which session."""
        self._asked: dict[SubscriptionKey, dict[int, int]] = {}
        """Who has asked to take a filter away, up to which revision."""

    def summary_sent(self, session: PeerSession) -> bytes | None:
        """Return what a mediator was told in this session, if it was: a summary that is sent again says the
        same again, so that it is known what whoever has it was told.
        """
        said = self._said.get(session.peer)
        is_same = said is not None and said[:2] == (session.own_session, session.peer_session)
        return said[2] if said is not None and is_same else None

    def got_whole_summary(self, session: PeerSession) -> bool:
        """Return whether a mediator is told of everything in this session; otherwise it relies on nothing."""
        return self.summary_sent(session) is not None and self._said[session.peer][3]

    def tell(self, session: PeerSession, summary: bytes, *, is_whole: bool) -> None:
        """Note that a mediator is told of the filters that are there, of all of them or of some."""
        for peer in [one for one in self._said if one not in self._sessions]:
            del self._said[peer]
        self._said[session.peer] = session.own_session, session.peer_session, summary, is_whole
        if is_whole:
            self._note(session)

    def _note(self, session: PeerSession) -> None:
        known = self._durable.sessions_with
        if known.get(session.peer, 0) < session.own_session:
            for asked in self._asked.values():  # It may have begun anew; if it still wants to, it asks again.
                asked.pop(session.peer, None)
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
        """Note that a filter is there."""
        self._moment += 1
        self._installed[new.key] = self._moment
        self._in_contact[new.key] = {
            session.peer: session.own_session
            for session in self._sessions.values()
            if self.got_whole_summary(session)
        }

    def renewed(self, old: Subscription) -> None:
        """Note that a filter has another message behind it; who had sent the older one may rely on it."""
        in_contact = self._in_contact.get(old.key)
        if in_contact is not None:
            for session in self._sessions.values():
                if session.knows(old.item.id):
                    in_contact[session.peer] = _NO_SESSION

    def may_remove(self, held: Subscription, mediator: int, seq: int) -> bool:
        """Note that a mediator relies on a filter no longer, in this revision or an older one; return whether
        nobody does. Who asked to take an older revision away did not mean this one.
        """
        asked = self._asked.setdefault(held.key, {})
        asked[mediator] = seq
        have_asked = {who for who, up_to in asked.items() if not is_newer(held.seq, up_to)}
        return not any(
            who not in have_asked and self._has_lease(who, held) for who in self._durable.sessions_with
        )

    def _has_lease(self, mediator: int, held: Subscription) -> bool:
        """Return whether a mediator was told of a filter: in a summary since, or by the answer to its own
        install in the contact in which it was when the filter came. Of a contact that is over nobody knows.
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
        """Forget a filter that is gone."""
        self._installed.pop(key, None)
        self._in_contact.pop(key, None)
        self._asked.pop(key, None)
