"""Messages to replay: time, source and destination.

Three forms are read: The ONE's report of created messages (`time ID size from to TTL isResponse`), its
creation events (`time C ID from to size …`), and plain `time ID from to`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dens.config.problems import DocumentError
from emulation.contacts.contact import Contacts
from emulation.recordings.lines import Line, Lines, misfit, node_number, time_ms
from emulation.recordings.text import TextBounds

MOST_MESSAGES: Final = 2_000_000
"""Limit of lines: a replay keeps every message at every node that has it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message to one destination."""

    name: str
    created_ms: float
    source: int
    destination: int


def read_messages(path: Path, contacts: Contacts | None = None) -> list[Message]:
    """Return the messages of a file, oldest first, or raise `DocumentError`.

    With contacts, a message from or to a node outside the range of their node numbers is a problem too; a
    number within the range may be a node without contacts.
    """
    lines = Lines(path, TextBounds(most_lines=MOST_MESSAGES))
    messages: list[Message] = []
    first_lines: dict[str, int] = {}
    for line in lines:
        message = _message(line)
        if message is None:
            lines.complain(line.number, "D313", _misfit(line))
        elif (first := first_lines.setdefault(message.name, line.number)) != line.number:
            lines.complain(line.number, "D313", f"line {first} has a message {message.name} already")
        elif contacts is not None and (stranger := _stranger(message, contacts)) is not None:
            least, most = _numbers(contacts)
            text = f"node {stranger} is unknown: the contacts are among {least} to {most}"
            lines.complain(line.number, "D321", text)
        elif messages and message.created_ms < messages[-1].created_ms:
            lines.complain(line.number, "D314", "this time is before the line above; sort the file")
        else:
            messages.append(message)
    lines.refuse_if_wrong()
    if not messages:
        raise DocumentError.of_file(lines.file, "D313", "holds no message")
    return messages


def _numbers(contacts: Contacts) -> tuple[int, int]:
    return (int(contacts.a.min()), int(contacts.b.max())) if len(contacts) else (0, -1)


def _stranger(message: Message, contacts: Contacts) -> int | None:
    least, most = _numbers(contacts)
    return next((node for node in (message.source, message.destination) if not least <= node <= most), None)


def _named(words: list[str]) -> tuple[str, str, str] | None:
    """Return the words for (message, from, to), or None if there are too few."""
    if len(words) >= 5 and words[1] == "C":
        return words[2], words[3], words[4]
    if len(words) == 4:
        return words[1], words[2], words[3]
    return (words[1], words[3], words[4]) if len(words) >= 5 else None


def _misfit(line: Line) -> str:
    """Return why a line is not a message."""
    named = _named(line.words)
    if named is None:
        expected = '"time ID size from to …", "time C ID from to …" or "time ID from to"'
        return f"a message is written {expected}"
    _, source, destination = named
    if node_number(source) is not None and node_number(source) == node_number(destination):
        return f"node {node_number(source)} cannot send to itself"
    return misfit((source, destination), line.words[:1])


def _message(line: Line) -> Message | None:
    words = line.words
    named = _named(words)
    if named is None:
        return None
    name, source, destination = named
    created_ms, sender, receiver = time_ms(words[0]), node_number(source), node_number(destination)
    if created_ms is None or sender is None or receiver is None or sender == receiver:
        return None
    return Message(name, created_ms, sender, receiver)
