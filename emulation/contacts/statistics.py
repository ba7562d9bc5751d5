"""What contacts are like, in numbers by which traces are compared."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from emulation.contacts.contact import Contacts


@dataclass(frozen=True, slots=True)
class ContactStatistics:
    """Counts, and times in seconds. Means and medians of nothing are None."""

    nodes: int
    pairs: int
    contacts: int
    censored: int
    contact_total_s: float
    contact_mean_s: float | None
    contact_median_s: float | None
    inter_contact_mean_s: float | None
    inter_contact_median_s: float | None

    def as_document(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return asdict(self)


def contact_statistics(contacts: Contacts) -> ContactStatistics:
    """Return the figures; an inter-contact time is that from the end of a pair's contact to its next one."""
    lengths_s = (contacts.end_ms - contacts.begin_ms) / 1000.0
    order = np.lexsort((contacts.begin_ms, contacts.b, contacts.a))
    a, b = contacts.a[order], contacts.b[order]
    begin, end = contacts.begin_ms[order], contacts.end_ms[order]
    same_pair = (np.diff(a) == 0) & (np.diff(b) == 0)
    gaps_s = (begin[1:] - end[:-1])[same_pair] / 1000.0
    some, again = len(lengths_s) > 0, len(gaps_s) > 0
    return ContactStatistics(
        nodes=len(np.union1d(contacts.a, contacts.b)),
        pairs=int((~same_pair).sum()) + 1 if some else 0,
        contacts=len(contacts),
        censored=int(contacts.censored.sum()),
        contact_total_s=float(lengths_s.sum()),
        contact_mean_s=float(lengths_s.mean()) if some else None,
        contact_median_s=float(np.median(lengths_s)) if some else None,
        inter_contact_mean_s=float(gaps_s.mean()) if again else None,
        inter_contact_median_s=float(np.median(gaps_s)) if again else None,
    )
