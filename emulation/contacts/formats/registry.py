"""The formats of recorded contacts by name, and detection of a file's format."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dens.config.problems import DocumentError
from emulation.contacts.contact import Contacts
from emulation.contacts.formats.dtnsim2 import dtnsim2, read_dtnsim2
from emulation.contacts.formats.haggle import read_haggle
from emulation.contacts.formats.intervals import intervals, read_intervals
from emulation.contacts.formats.one_events import one_events, read_one_events
from emulation.contacts.formats.socialblueconn import read_socialblueconn
from emulation.recordings.lines import Lines


@dataclass(frozen=True, slots=True)
class ContactFormat:
    """Functions that read a format (with a minimum length in ms) and write it (line by line)."""

    read: Callable[[Path, float], Contacts]
    lines: Callable[[Contacts], Iterator[str]]


FORMATS: Final = {
    "one": ContactFormat(read_one_events, one_events),
    "dtnsim2": ContactFormat(read_dtnsim2, dtnsim2),
    "csv": ContactFormat(read_intervals, intervals),
}
"""Formats that are read and written."""
READ_ONLY: Final[dict[str, Callable[[Path, float], Contacts]]] = {
    "haggle": read_haggle,
    "socialblueconn": read_socialblueconn,
}
"""Formats that are only read."""


def format_of(path: Path) -> str:
    """Return the name of a file's format, detected from its first line that is not a comment."""
    first = next(iter(Lines(path)), None)
    if first is None:
        return "one"
    if first.words[0].startswith("@"):
        return "dtnsim2"
    if all(word.isdecimal() for word in first.words) and len(first.words) in (3, 4, 6):
        return "socialblueconn" if len(first.words) == 3 else "haggle"
    return "csv" if "," in first.words[0] else "one"


def read_contacts(path: Path, least_ms: float = 0.0) -> Contacts:
    """Return the contacts of a recording in any format, or raise `DocumentError`, also if it has none."""
    name = format_of(path)
    read = READ_ONLY[name] if name in READ_ONLY else FORMATS[name].read
    contacts = read(path, least_ms)
    if not len(contacts):
        raise DocumentError.of_file(str(path), "D313", "holds no contact")
    return contacts
