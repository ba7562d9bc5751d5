"""How far neighbours are from each publisher, as their summaries state it.

A broker names in the note of its summary the trees that it knows, without those in which the receiver is its
parent: publisher (4 bytes), generation (4), hops (1), at most 1,820 of them, by publisher. Within one life
and generation a broker's distance only falls, so what a neighbour stated at the beginning of a contact is
never too low later.
"""

from collections.abc import Iterable, Mapping
from struct import Struct
from typing import Final

from dens.overlay.broker.advertisements import Tree
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.wire.messages import NOTE_BYTES

_ENTRY: Final = Struct(">IIB")
_ENTRIES_MAX: Final = NOTE_BYTES // _ENTRY.size
MOST_HOPS: Final = 255


class Distances:
    """What the neighbours in contact have stated."""

    __slots__ = ("_heard", "_sessions")

    def __init__(self, sessions: Mapping[int, PeerSession]) -> None:
        self._sessions = sessions
        self._heard: dict[int, tuple[int, dict[tuple[int, int], int]]] = {}
        """By neighbour: the session, and the hops by publisher and generation."""

    @staticmethod
    def note(trees: Mapping[int, Tree], receiver: int) -> bytes:
        """Return the note for a neighbour."""
        roots = [root for root in sorted(trees) if receiver not in (root, trees[root].parent)]
        return b"".join(
            _ENTRY.pack(root, trees[root].generation, min(trees[root].hops, MOST_HOPS))
            for root in roots[:_ENTRIES_MAX]
        )

    def hear(self, session: PeerSession, note: bytes) -> Iterable[int]:
        """Take a neighbour's note; return the publishers that it names. A malformed one states nothing."""
        for gone in [one for one in self._heard if one not in self._sessions]:
            del self._heard[gone]
        entries = list(_ENTRY.iter_unpack(note)) if len(note) % _ENTRY.size == 0 else []
        stated = {(publisher, generation): max(1, hops) for publisher, generation, hops in entries}
        self._heard[session.peer] = session.own_session, stated
        return dict.fromkeys(publisher for publisher, _, _ in entries)

    def nearest(self, publisher: int, generation: int) -> tuple[int, int] | None:
        """Return the hops of the neighbour in contact that is nearest to a publisher, and the neighbour."""
        found = [
            (stated[publisher, generation], neighbour)
            for neighbour, (number, stated) in self._heard.items()
            if (publisher, generation) in stated
            and (session := self._sessions.get(neighbour)) is not None
            and session.is_ready
            and session.own_session == number
        ]
        return min(found, default=None)
