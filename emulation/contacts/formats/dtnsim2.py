"""DTNSim2's format: `@time name1 <-> name2 up|down`, as The ONE's Dtnsim2 report writes it."""

from collections.abc import Iterator
from pathlib import Path

from emulation.contacts.contact import Contacts
from emulation.contacts.formats.recording import UpsAndDowns, changes_of, seconds
from emulation.recordings.lines import Lines


def read_dtnsim2(path: Path, least_ms: float = 0.0) -> Contacts:
    """Return the contacts of such a file."""
    lines = Lines(path)
    changes = UpsAndDowns(lines)
    for line in lines:
        words = line.words
        if (
            len(words) != 5
            or not words[0].startswith("@")
            or words[2] != "<->"
            or words[4] not in ("up", "down")
        ):
            lines.complain(line.number, "D313", 'a contact is written "@time node <-> node up|down"')
            continue
        changes.take(line.number, words[0][1:], words[1], words[3], words[4])
    return changes.contacts(least_ms)


def dtnsim2(contacts: Contacts) -> Iterator[str]:
    """Yield the lines of such a file; a censored contact has no line for its end."""
    for at_ms, is_down, a, b in changes_of(contacts):
        yield f"@{seconds(at_ms)} {a} <-> {b} {'down' if is_down else 'up'}"
