"""SocialBlueConn's form: `id id time`, one Bluetooth sighting a line, times in milliseconds since 1970.

Sightings are points of time. Those of a pair that lie no further apart than `JOIN_MS`, about two pauses
between scans, are one contact; a sighting that stands alone is a contact of no length, unless a least length
is asked for. Times are counted from the first sighting of the file.
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
    a, b, at, said = array("i"), array("i"), array("d"), array("q")
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
            said.append(line.number)
    lines.refuse_if_wrong()
    times = np.array(at) - min(at, default=0.0)
    pairs = (np.array(a, dtype=np.int32), np.array(b, dtype=np.int32))
    order = FileOrder(np.array(said, dtype=np.int64), np.array(said, dtype=np.int64))
    return contacts_from_pieces(*pairs, times, times + least_ms, float("inf"), JOIN_MS, order)
