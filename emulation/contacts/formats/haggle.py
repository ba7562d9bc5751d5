"""Haggle's format (the iMote experiments): `id id begin end …`, one sighting per line, times in seconds.

Every device records whom it saw, so a contact may be in the file twice with slightly different times:
overlapping intervals of a pair are merged. A contact seen in a single scan has no length, unless there is a
minimum length. Further columns (the number of the contact, the time since the last) are ignored.
"""

from pathlib import Path

from emulation.contacts.contact import Contacts
from emulation.contacts.formats.recording import Sightings, contacts_from_sightings
from emulation.recordings.lines import Lines, misfit, node_number, time_ms


def read_haggle(path: Path, least_ms: float = 0.0) -> Contacts:
    """Return the contacts of such a file, whose lines may be in any order."""
    lines = Lines(path)
    sightings = Sightings()
    for line in lines:
        words = line.words
        if len(words) not in (4, 6):
            lines.complain(line.number, "D313", 'a contact is written "id id begin end number pause"')
            continue
        one, other = node_number(words[0]), node_number(words[1])
        begin_ms, end_ms = time_ms(words[2]), time_ms(words[3])
        if one is None or other is None or begin_ms is None or end_ms is None:
            lines.complain(line.number, "D313", misfit(words[:2], words[2:4]))
        elif one == other:
            lines.complain(line.number, "D313", f"node {one} cannot be in contact with itself")
        elif end_ms < begin_ms:
            lines.complain(line.number, "D314", "the contact ends before it begins")
        else:
            sightings.append((one, other, begin_ms, end_ms), line.number, line.number)
    lines.refuse_if_wrong()
    return contacts_from_sightings(sightings, float("inf"), least_ms)
