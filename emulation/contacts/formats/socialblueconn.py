"""SocialBlueConn's format: `id id time`, one Bluetooth sighting per line, times in milliseconds since 1970.

Sightings of a pair that lie at most `JOIN_MS` apart, about two scan intervals, are one contact. A single
sighting is a contact of no length, unless there is a minimum length. Times are counted from the first
sighting of the file.
"""

from array import array
from pathlib import Path
from typing import Final

import numpy as np

from emulation.contacts.contact import Contacts, FileOrder, contacts_from_pieces
from emulation.recordings.lines import Lines, misfit, node_number, time_ms

JOIN_MS: Final = 600_000.0


def read_socialblueconn(path: Path, least_ms: float = 0.0) -> Contacts:
    """Return the contacts of such a file, whose lines may be in any order."""
    lines = Lines(path)
    a, b, at, numbers = array("i"), array("i"), array("d"), array("q")
    for line in lines:
        words = line.words
        if len(words) != 3:
            lines.complain(line.number, "D313", 'a sighting is written "id id milliseconds"')
            continue
        one, other, seen = node_number(words[0]), node_number(words[1]), time_ms(words[2])
        if one is None or other is None or seen is None:
            lines.complain(line.number, "D313", misfit(words[:2], words[2:3]))
        elif one == other:
            lines.complain(line.number, "D313", f"node {one} cannot see itself")
        else:
            a.append(one)
            b.append(other)
            at.append(seen / 1000.0)
            numbers.append(line.number)
    lines.refuse_if_wrong()
    times = np.array(at) - min(at, default=0.0)
    pairs = (np.array(a, dtype=np.int32), np.array(b, dtype=np.int32))
    order = FileOrder(np.array(numbers, dtype=np.int64), np.array(numbers, dtype=np.int64))
    return contacts_from_pieces(*pairs, times, times + least_ms, float("inf"), JOIN_MS, order)
