"""State of the connector between passes, as one JSON document.

The subject of an item decides whether it is new, its statements whether it changed. Feeds drop their oldest
items: a missing item was *pushed out* if the feed is at least as long as before and all remaining known items
are newer; then its matches are kept. Otherwise it was *taken back*.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from dens.config.atomic_write import write_whole
from dens.config.json_documents import LARGEST_JSON, parse_json
from dens.config.problems import DocumentError
from dens.config.reading import read_document

FORMAT: Final = 1
FILE: Final = "state.json"
CODE: Final = "D524"
MOST_PUSHED_OUT: Final = 500
"""Pushed-out items that are kept per feed."""


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A publication: its statements as N-Triples, and its position in the order of arrival."""

    subject: str
    statements: str
    date: str
    seen: int
    is_pushed_out: bool = False


@dataclass(slots=True)
class KnownFeed:
    """The items of one feed, by subject, and how many it had."""

    items: dict[str, KnownItem] = field(default_factory=dict)
    length: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """Numbers of new, changed and taken-back items."""

    new: int = 0
    changed: int = 0
    taken_back: int = 0

    def __add__(self, other: "Change") -> "Change":
        return Change(self.new + other.new, self.changed + other.changed, self.taken_back + other.taken_back)


@dataclass(slots=True)
class ConnectorState:
    """What survives a restart."""

    feeds: dict[str, KnownFeed] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    """Numbers of subscriptions by their source. A number is never reused."""
    last_number: int = 0
    last_seen: int = 0

    def number_of(self, source: str) -> int:
        """Return the number of a subscription; assign one at first use."""
        if source not in self.numbers:
            self.last_number += 1
            self.numbers[source] = self.last_number
        return self.numbers[source]

    def look(self, feed: str, items: Iterable[tuple[str, str, str]]) -> Change:
        """Update a feed with its current items (subject, statements, date), newest first."""
        known = self.feeds.setdefault(feed, KnownFeed())
        now = {subject: (statements, date) for subject, statements, date in items}
        new = changed = 0
        for subject, (statements, date) in reversed(now.items()):
            before = known.items.get(subject)
            if before is not None and before.statements == statements and not before.is_pushed_out:
                continue
            new += before is None
            changed += before is not None and before.statements != statements
            self.last_seen += 1
            seen = self.last_seen if before is None else before.seen
            known.items[subject] = KnownItem(subject, statements, date, seen)
        taken_back = _classify_missing(known, now)
        known.length = len(now)
        return Change(new, changed, taken_back)

    def items(self) -> list[KnownItem]:
        """Return all items, newest first."""
        found = (item for feed in self.feeds.values() for item in feed.items.values())
        return sorted(found, key=lambda item: (item.date, item.seen), reverse=True)

    def save(self, folder: Path) -> None:
        """Write the state atomically."""
        text = json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, indent=1)
        write_whole(folder / FILE, text.encode() + b"\n", within=folder)


def load_state(folder: Path) -> ConnectorState:
    """Read the state of a folder; a new folder has an empty one."""
    path = folder / FILE
    if not path.exists():
        return ConnectorState()
    document = parse_json(read_document(path, 8 * LARGEST_JSON), str(path), CODE)
    try:
        if document["format"] != FORMAT:
            raise ValueError(f"format {document['format']!r}")
        return ConnectorState(
            {name: _feed(feed) for name, feed in document["feeds"].items()},
            {str(source): int(number) for source, number in document["numbers"].items()},
            int(document["last_number"]),
            int(document["last_seen"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"cannot be read ({type(error).__name__}: {error}); remove it to start again"
        raise DocumentError.of_file(str(path), CODE, message) from None


def _feed(document: Mapping[str, Any]) -> KnownFeed:
    items = {
        str(subject): KnownItem(
            str(item["subject"]),
            str(item["statements"]),
            str(item["date"]),
            int(item["seen"]),
            bool(item["is_pushed_out"]),
        )
        for subject, item in document["items"].items()
    }
    return KnownFeed(items, int(document["length"]))


def _classify_missing(known: KnownFeed, now: Mapping[str, object]) -> int:
    """Classify the missing items; return how many were taken back."""
    left = [item for subject, item in known.items.items() if subject in now and item.seen]
    oldest = min(((item.date, item.seen) for item in left), default=None)
    gone = [item for subject, item in known.items.items() if subject not in now and not item.is_pushed_out]
    taken_back = 0
    for item in gone:
        was_pushed = len(now) >= known.length and oldest is not None and (item.date, item.seen) < oldest
        if was_pushed:
            known.items[item.subject] = KnownItem(
                item.subject, item.statements, item.date, item.seen, is_pushed_out=True
            )
        else:
            del known.items[item.subject]
            taken_back += 1
    pushed = sorted((one.seen, one.subject) for one in known.items.values() if one.is_pushed_out)
    for _, subject in pushed[: max(0, len(pushed) - MOST_PUSHED_OUT)]:
        del known.items[subject]
    return taken_back
