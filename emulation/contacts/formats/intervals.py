"""Intervals as CSV: a header `a,b,begin_s,end_s`, then one contact per line, in any order.

Intervals of one pair may overlap, in either order of the nodes (each device logs its own sighting): they are
merged. Further columns are ignored.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from dens.config.problems import did_you_mean, listed
from emulation.contacts.contact import Contacts
from emulation.contacts.formats.recording import Sightings, contacts_from_sightings, seconds
from emulation.recordings.lines import Lines, misfit, node_number, time_ms

COLUMNS: Final = ("a", "b", "begin_s", "end_s")


def read_intervals(path: Path, least_ms: float = 0.0) -> Contacts:
    """Return the contacts of such a file; the recording ends with its last contact."""
    lines = Lines(path)
    rows = csv.reader(lines.texts())
    try:
        return contacts_from_sightings(_sightings(rows, lines), float("inf"), least_ms)
    except csv.Error as error:
        lines.complain(rows.line_num, "D313", f"not CSV: {error}")
        lines.refuse_if_wrong()
        raise


def _sightings(rows: Any, lines: Lines) -> Sightings:
    header = [name.strip() for name in next(rows, [])]
    for name in COLUMNS:
        if name not in header:
            hint = f"{did_you_mean(name, header)} (it has {listed(header)})"
            lines.complain(1, "D313", f'column "{name}" is missing{hint}')
        elif header.count(name) > 1:
            lines.complain(1, "D313", f'there are {header.count(name)} columns "{name}"')
    lines.refuse_if_wrong()
    places = [header.index(name) for name in COLUMNS]
    sightings = Sightings()
    for row in rows:
        if not row:
            continue
        if len(row) != len(header):
            fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
            lines.complain(rows.line_num, "D313", f"{fields}, the header has {len(header)}")
            continue
        a, b, begin, end = (row[place].strip() for place in places)
        one, other, begin_ms, end_ms = node_number(a), node_number(b), time_ms(begin), time_ms(end)
        if one is None or other is None or begin_ms is None or end_ms is None:
            lines.complain(rows.line_num, "D313", misfit((a, b), (begin, end)))
        elif one == other:
            lines.complain(rows.line_num, "D313", f"node {one} cannot be in contact with itself")
        elif end_ms < begin_ms:
            lines.complain(rows.line_num, "D314", "the contact ends before it begins")
        else:
            sightings.append((one, other, begin_ms, end_ms), rows.line_num, rows.line_num)
    lines.refuse_if_wrong()
    return sightings


def intervals(contacts: Contacts) -> Iterator[str]:
    """Yield the lines of such a file."""
    yield ",".join(COLUMNS)
    rows = zip(
        contacts.a.tolist(),
        contacts.b.tolist(),
        contacts.begin_ms.tolist(),
        contacts.end_ms.tolist(),
        strict=True,
    )
    for a, b, begin_ms, end_ms in rows:
        yield f"{a},{b},{seconds(begin_ms)},{seconds(end_ms)}"
