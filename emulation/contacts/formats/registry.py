"""The forms of recorded contacts by name, and which one a file is in."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from emulation.contacts.contact import Contacts
from emulation.contacts.formats.dtnsim2 import dtnsim2, read_dtnsim2
from emulation.contacts.formats.intervals import intervals, read_intervals
from emulation.contacts.formats.one_events import one_events, read_one_events
from emulation.contacts.formats.recording import Lines


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


def format_of(path: Path) -> str:
    """Return the name of the form of a file, judged by its first line that is no comment."""
    first = next(iter(Lines(path)), None)
    if first is None:
        return "one"
    if first.words[0].startswith("@"):
        return "dtnsim2"
    return "csv" if "," in first.words[0] else "one"


def read_contacts(path: Path, least_ms: float = 0.0) -> Contacts:
    """Return the contacts of a recording in any of the forms; what is wrong raises `DocumentError`."""
    return FORMATS[format_of(path)].read(path, least_ms)
