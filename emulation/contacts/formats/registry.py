"""The forms of recorded contacts by name, and which one a file is in."""

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
    """How one form is read (with a least length in ms) and written (line by line)."""

    read: Callable[[Path, float], Contacts]
    lines: Callable[[Contacts], Iterator[str]]


FORMATS: Final = {
    "one": ContactFormat(read_one_events, one_events),
    "dtnsim2": ContactFormat(read_dtnsim2, dtnsim2),
    "csv": ContactFormat(read_intervals, intervals),
}
"""The forms that are read and written."""
READ_ONLY: Final[dict[str, Callable[[Path, float], Contacts]]] = {
    "haggle": read_haggle,
    "socialblueconn": read_socialblueconn,
}
"""The forms of recordings that are read only."""


def format_of(path: Path) -> str:
    """Return the name of the form of a file, judged by its first line that is no comment."""
    first = next(iter(Lines(path)), None)
    if first is None:
        return "one"
    if first.words[0].startswith("@"):
        return "dtnsim2"
    if all(word.isdecimal() for word in first.words) and len(first.words) in (3, 4, 6):
        return "socialblueconn" if len(first.words) == 3 else "haggle"
    return "csv" if "," in first.words[0] else "one"


def read_contacts(path: Path, least_ms: float = 0.0) -> Contacts:
    """Return the contacts of a recording in any of the forms; what is wrong, also that there are none, raises
    `DocumentError`."""
    form = format_of(path)
    read = READ_ONLY[form] if form in READ_ONLY else FORMATS[form].read
    contacts = read(path, least_ms)
    if not len(contacts):
        raise DocumentError.of_file(str(path), "D313", "holds no contact")
    return contacts
