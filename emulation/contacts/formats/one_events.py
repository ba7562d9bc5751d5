"""The ONE's standard events: `time CONN node1 node2 up|down`, as its connectivity report writes them.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     file = Path(folder) / "trace.txt"
...     _ = file.write_text("1.0 CONN 3 n7 up\\n5.5 CONN 7 3 down\\n")
...     read_one_events(file).end_ms.tolist()
[5500.0]
"""

from collections.abc import Iterator
from pathlib import Path

from emulation.contacts.contact import Contacts
from emulation.contacts.formats.recording import UpsAndDowns, changes_of, seconds
from emulation.recordings.lines import Lines


def read_one_events(path: Path, least_ms: float = 0.0) -> Contacts:
    """Return the contacts of such a file; lines about messages are ignored."""
    lines = Lines(path)
    changes = UpsAndDowns(lines)
    for line in lines:
        words = line.words
        if len(words) > 1 and words[1] != "CONN":
            if words[1] not in {"C", "S", "DE", "A", "DR", "R"}:
                lines.complain(line.number, "D313", f'unknown event "{words[1]}" of The ONE')
            continue
        if len(words) != 5 or words[4] not in ("up", "down"):
            lines.complain(line.number, "D313", 'a contact is written "time CONN node node up|down"')
            continue
        changes.take(line.number, words[0], words[2], words[3], words[4])
    return changes.contacts(least_ms)


def one_events(contacts: Contacts) -> Iterator[str]:
    """Yield the lines of such a file; a censored contact has no line for its end."""
    for at_ms, is_down, a, b in changes_of(contacts):
        yield f"{seconds(at_ms)} CONN {a} {b} {'down' if is_down else 'up'}"
