"""Statistics of contacts, by which traces are compared.

Times are as observed, with a mark for those that were cut off. `dens contacts` and reports estimate medians
from them in the same way.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emulation.contacts.contact import Contacts
from emulation.mobility.model import Floats


@dataclass(frozen=True, slots=True)
class WatchedTimes:
    """Times, and which of them are censored: known only as a lower bound."""

    times_ms: Floats
    censored: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ContactStatistics:
    """Counts, contact times and inter-contact times."""

    nodes: int
    pairs: int
    contacts: int
    contact_total_s: float
    contact: WatchedTimes
    inter_contact: WatchedTimes


def contact_statistics(contacts: Contacts, end_ms: float | None = None) -> ContactStatistics:
    """Return the statistics of contacts observed from 0 to `end_ms`, by default to the end of the last one.

    A contact that was open at 0 or at the end is censored. An inter-contact time lasts from the end of a
    pair's contact to its next one; the one after its last contact is censored.
    """
    order = np.lexsort((contacts.begin_ms, contacts.b, contacts.a))
    a, b = contacts.a[order], contacts.b[order]
    begin, end, is_open = contacts.begin_ms[order], contacts.end_ms[order], contacts.censored[order]
    until_ms = float(end.max(initial=0.0)) if end_ms is None else end_ms
    is_last = np.ones(len(a), dtype=np.bool_)
    is_last[:-1] = (np.diff(a) != 0) | (np.diff(b) != 0)
    following = np.append(begin[1:], until_ms)
    following[is_last] = until_ms
    has_gap = ~(is_last & is_open)
    return ContactStatistics(
        nodes=len(np.union1d(contacts.a, contacts.b)),
        pairs=int(is_last.sum()),
        contacts=len(contacts),
        contact_total_s=float((end - begin).sum() / 1000.0),
        contact=WatchedTimes(end - begin, is_open | (begin <= 0)),
        inter_contact=WatchedTimes((following - end)[has_gap], is_last[has_gap]),
    )
