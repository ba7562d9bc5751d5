"""Walks that change during a run, and their exact contacts.

Everything before a change is final. After it, only the contacts of the node that changed its course are
computed again; all others stay identical.
"""

from collections.abc import Sequence

import numpy as np

from emulation.contacts.contact import COLUMNS, Contacts, contacts_from_pieces
from emulation.contacts.detection import SAME_MOMENT_MS, Indexes, longer_than_a_moment
from emulation.contacts.windows import Windows, find_pieces_in_windows
from emulation.mobility.model import Legs


class Courses:
    """The planned walks of all nodes and their contacts."""

    def __init__(
        self, walks: Sequence[Legs], contacts: Contacts, windows: Windows, duration_ms: float
    ) -> None:
        self.walks = list(walks)
        self.contacts = contacts
        self._windows = windows
        self._duration_ms = duration_ms

    def turn(self, node: int, at_ms: float, rest: Legs) -> Contacts:
        """Replace the rest of a node's walk from a moment on; return its contacts that are open then or
        later.
        """
        walk = self.walks[node].until(at_ms).then(rest) if at_ms > 0.0 else rest
        walks = [*self.walks[:node], walk, *self.walks[node + 1 :]]
        known = self.contacts
        is_over = known.end_ms < at_ms
        is_its = ((known.a == node) | (known.b == node)) & ~is_over
        lasting = is_its & (known.begin_ms < at_ms)
        other, begin, end = find_pieces_in_windows(node, walks, self._windows, at_ms, self._duration_ms)
        its = contacts_from_pieces(
            np.concatenate([known.a[lasting], np.full(len(other), node, np.int32)]),
            np.concatenate([known.b[lasting], other.astype(np.int32)]),
            np.concatenate([known.begin_ms[lasting], begin]),
            np.concatenate([np.full(int(lasting.sum()), at_ms), end]),
            self._duration_ms,
            SAME_MOMENT_MS,
        )
        its = longer_than_a_moment(its)
        self.walks, self.contacts = walks, _together(known, ~is_its, its)
        return its

    def contacts_until(self, at_ms: float, *, since_ms: float = 0.0, cut: bool = False) -> Contacts:
        """Return the contacts that ended between two moments, ordered by their ends. With `cut`, also those
        that are open at the later moment, ending there.
        """
        found = self.contacts
        keep = (found.begin_ms < at_ms if cut else found.end_ms < at_ms) & (found.end_ms >= since_ms)
        end = np.minimum(found.end_ms[keep], at_ms)
        order = np.lexsort((found.b[keep], found.a[keep], end))
        return Contacts(
            found.a[keep][order], found.b[keep][order], found.begin_ms[keep][order], end[order],
            end[order] >= at_ms,
        )  # fmt: skip

    def motion_until(self, at_ms: float, *, since_ms: float = 0.0, cut: bool = False) -> tuple[Indexes, Legs]:
        """Return the legs that ended between two moments with their nodes, ordered by their ends. With `cut`,
        also the current legs at the later moment, ending there."""
        walks = [walk.until(at_ms) for walk in self.walks] if cut and at_ms > 0.0 else self.walks
        ends = np.concatenate([walk.end_ms for walk in walks])
        keep = np.flatnonzero((ends <= at_ms if cut else ends < at_ms) & (ends >= since_ms))
        node = np.repeat(np.arange(len(walks)), [len(walk) for walk in walks])
        order = keep[np.lexsort((node[keep], ends[keep]))]
        columns = (np.concatenate([getattr(walk, name) for walk in walks]) for name in Legs.__slots__)
        return node[order], Legs(*(column[order] for column in columns))


def _together(known: Contacts, kept: np.ndarray, its: Contacts) -> Contacts:
    a, b, begin, end, censored = (
        np.concatenate([getattr(known, name)[kept], getattr(its, name)]) for name in COLUMNS
    )
    order = np.lexsort((b, a, begin))
    return Contacts(a[order], b[order], begin[order], end[order], censored[order])
