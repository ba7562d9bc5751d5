"""What the connector remembers from one look at its folder to the next, as one JSON document.

Who an item is decides whether it is new; what it states, whether it changed. A feed drops its oldest items:
an item that vanished was *pushed out* where the feed is as long as before and all that is left of what was
known is newer, and then its matches stay. Otherwise it was *taken back*.
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
"""Items of a feed that are remembered after it dropped them."""


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A publication that was seen: what it states (N-Triples), and when, counted."""

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
    """What a look at a feed brought: how many items are new, changed, taken back."""

    new: int = 0
    changed: int = 0
    taken_back: int = 0

    def __add__(self, other: "Change") -> "Change":
        """Return both together."""
        return Change(self.new + other.new, self.changed + other.changed, self.taken_back + other.taken_back)


@dataclass(slots=True)
class ConnectorState:
    """Everything that survives a restart."""

    feeds: dict[str, KnownFeed] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    """Of subscriptions, by where they stand; a number is never given twice."""
    last_number: int = 0
    last_seen: int = 0

    def number_of(self, source: str) -> int:
        """Return the number of a subscription, a new one if it has none yet."""
        if source not in self.numbers:
            self.last_number += 1
            self.numbers[source] = self.last_number
        return self.numbers[source]

    def look(self, feed: str, items: Iterable[tuple[str, str, str]]) -> Change:
        """Take what a feed has now, each (subject, statements, date), the newest first."""
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
        taken_back = _let_go(known, now)
        known.length = len(now)
        return Change(new, changed, taken_back)

    def items(self) -> list[KnownItem]:
        """Return all items, the newest first."""
        found = (item for feed in self.feeds.values() for item in feed.items.values())
        return sorted(found, key=lambda item: (item.date, item.seen), reverse=True)

    def save(self, folder: Path) -> None:
        """Write it to its folder, whole."""
        text = json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, indent=1)
        write_whole(folder / FILE, text.encode() + b"\n", within=folder)


def load_state(folder: Path) -> ConnectorState:
    """Return what a folder remembers, nothing where it is new; what is damaged raises `DocumentError`."""
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
        message = f"cannot be gone on with ({type(error).__name__}: {error}); remove it to begin anew"
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


def _let_go(known: KnownFeed, now: Mapping[str, object]) -> int:
    """Decide about the items that vanished; return how many were taken back."""
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
