"""Reads a folder of feeds, matches new items, and writes one feed per subscription.

An item whose title starts with `GQL` is a subscription: its description is the query. Other subscriptions are
in files. Names of output files are made from numbers, never from the content of a feed.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dens.app.graphs.feed_items import FEED_SUFFIXES, at_item, read_feed_file, statements_of, vector_of
from dens.app.graphs.feed_state import Change, ConnectorState
from dens.config.atomic_write import write_whole
from dens.config.problems import DocumentError, Problem
from dens.config.reading import read_document
from knowledge_manager.feeds.item import DATE, Feed, FeedItem
from knowledge_manager.feeds.text import plain_query
from knowledge_manager.feeds.writer import Channel, write_feed
from knowledge_manager.graphs.graph_reader import read_graph
from knowledge_manager.graphs.terms import Graph, Iri
from knowledge_manager.mission_table import MissionTable
from plugins.language import Matcher, SubscriptionLanguage
from plugins.registry import authoring_of

SUBSCRIPTION: Final = "GQL"
"""Prefix of the title of an item that is a subscription (figure 5.36)."""
SUBSCRIPTION_SUFFIXES: Final = frozenset((".xml", ".rq"))
MAX_ITEMS: Final = 100
"""Items per output feed. Feed readers poll more often than this many items match."""


@dataclass(frozen=True, slots=True)
class FeedSubscription:
    """A subscription: its source, its title, and its body."""

    source: str
    title: str
    link: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Looked:
    """The result of one pass over the folders."""

    change: Change
    subscriptions: int
    matches: int
    problems: tuple[Problem, ...]

    def differs_from(self, before: "Looked") -> bool:
        """Return whether this result has anything that was not reported before."""
        now = (self.subscriptions, self.matches, self.problems)
        return self.change != Change() or now != (before.subscriptions, before.matches, before.problems)


@dataclass(slots=True)
class Connector:
    """Reads and writes the folders. What must survive a restart is in `state`."""

    feeds: Path
    out: Path
    subscriptions: Path | None
    table: MissionTable
    language: SubscriptionLanguage
    state: ConnectorState
    _read: dict[Path, tuple[tuple[int, int], Feed | DocumentError]] = field(default_factory=dict)
    _vectors: dict[str, bytes] = field(default_factory=dict)
    _held: dict[int, bytes] | None = None
    _matcher: Matcher | None = None
    _judged: dict[str, frozenset[int]] = field(default_factory=dict)
    """Numbers of the subscriptions that an item satisfies, by its statements."""

    def look(self) -> Looked:
        """Read all feeds, write all feeds, and save the state."""
        problems: list[Problem] = []
        subscriptions = list(self._of_files(problems))
        change = Change()
        for name, feed in self._feeds(problems):
            subscriptions += self._of_items(name, feed, problems)
            publications = [item for item in feed.items if not _is_subscription(item)]
            change += self.state.look(name, list(self._valid(name, publications, problems)))
        matches = self._write(tuple(subscriptions))
        self.state.save(self.out)
        return Looked(change, len(subscriptions), matches, tuple(problems))

    def _feeds(self, problems: list[Problem]) -> Iterator[tuple[str, Feed]]:
        """Yield the valid feeds. An invalid one leaves its known items unchanged."""
        for path in sorted(self.feeds.iterdir()):
            if path.suffix.lower() not in FEED_SUFFIXES or not path.is_file():
                continue
            found = self._feed(path)
            if isinstance(found, DocumentError):
                problems.extend(found.problems)
            else:
                problems.extend(found.problems)
                yield path.name, found

    def _feed(self, path: Path) -> Feed | DocumentError:
        facts = path.stat()
        sign = (facts.st_mtime_ns, facts.st_size)
        known = self._read.get(path)
        if known is None or known[0] != sign:
            try:
                self._read[path] = sign, read_feed_file(path, self.table)
            except DocumentError as error:
                self._read[path] = sign, error
        return self._read[path][1]

    def _valid(
        self, name: str, items: list[FeedItem], problems: list[Problem]
    ) -> Iterator[tuple[str, str, str]]:
        """Yield (subject, statements, date) of the items that are valid publications."""
        for item in items:
            statements = statements_of(item.graph)
            try:
                self._vector(statements)
            except DocumentError as error:
                problems += at_item(error, self.feeds / name, item)
                continue
            yield item.subject.text, statements, item.first(DATE)

    def _of_files(self, problems: list[Problem]) -> Iterator[FeedSubscription]:
        if self.subscriptions is None:
            return
        for path in sorted(self.subscriptions.iterdir()):
            if path.suffix.lower() in SUBSCRIPTION_SUFFIXES and path.is_file():
                try:
                    body = self._compiled(read_document(path), str(path))
                except DocumentError as error:
                    problems.extend(error.problems)
                else:
                    yield FeedSubscription(f"file {path.name}", path.stem, "", body)

    def _of_items(self, name: str, feed: Feed, problems: list[Problem]) -> Iterator[FeedSubscription]:
        for item in feed.items:
            if not _is_subscription(item):
                continue
            title = item.title.strip().removeprefix(SUBSCRIPTION).strip(" :–-") or item.subject.text
            try:
                body = self._compiled(plain_query(item.text).encode(), f"{name}.rq")
            except DocumentError as error:
                where = str(self.feeds / name)
                problems += [
                    Problem(where, item.line, 1, one.severity, one.code, f'"{item.title}": {one.message}')
                    for one in error.problems
                ]
            else:
                yield FeedSubscription(f"item {item.subject.text}", title, item.subject.text, body)

    def _compiled(self, source: bytes, file: str) -> bytes:
        return authoring_of(self.language).compile(source, file, self.table).body

    def _write(self, subscriptions: tuple[FeedSubscription, ...]) -> int:
        """Write one feed per subscription, and remove those of removed subscriptions."""
        numbers = {self.state.number_of(one.source): one for one in subscriptions}
        self._hold(numbers)
        found: dict[int, list[tuple[Iri, Graph]]] = {number: [] for number in numbers}
        items = self.state.items()
        for item in items:
            for number in self._satisfied(item.statements):
                found[number].append((Iri(item.subject), _graph(item.statements)))
        for number, matched in found.items():
            self._write_feed(number, numbers[number], matched[:MAX_ITEMS])
        wanted = {_file_name(number) for number in numbers}
        for path in self.out.glob(_file_name("*")):
            if path.name not in wanted:
                path.unlink()
        self._write_list(numbers, found)
        self._forget_all_but({item.statements for item in items})
        return sum(map(len, found.values()))

    def _hold(self, numbers: dict[int, FeedSubscription]) -> None:
        """Make sure that the matcher has exactly these subscriptions."""
        bodies = {number: one.body for number, one in numbers.items()}
        if bodies == self._held:
            return
        self._held, self._judged, self._matcher = bodies, {}, self.language.matcher(self.table)
        for number, body in bodies.items():
            self._matcher.add((number, 0), body)

    def _satisfied(self, statements: str) -> frozenset[int]:
        if statements not in self._judged:
            assert self._matcher is not None, "subscriptions are held before items are matched"
            matches = self._matcher.match(self._vector(statements), 0, 0)
            self._judged[statements] = frozenset(match.key[0] for match in matches)
        return self._judged[statements]

    def _forget_all_but(self, known: set[str]) -> None:
        """Drop cached results of removed items."""
        self._vectors = {one: vector for one, vector in self._vectors.items() if one in known}
        self._judged = {one: numbers for one, numbers in self._judged.items() if one in known}

    def _vector(self, statements: str) -> bytes:
        if statements not in self._vectors:
            self._vectors[statements] = vector_of(statements, self.table, self.language)
        return self._vectors[statements]

    def _write_feed(
        self, number: int, subscription: FeedSubscription, items: list[tuple[Iri, Graph]]
    ) -> None:
        about = f"urn:dens:feed:{number}"
        channel = Channel(
            about, subscription.title, subscription.link or about, f"What subscription {number} asks for"
        )
        content = write_feed(channel, items)
        path = self.out / _file_name(number)
        if not path.is_file() or path.read_bytes() != content:
            write_whole(path, content, within=self.out)

    def _write_list(
        self, numbers: dict[int, FeedSubscription], found: dict[int, list[tuple[Iri, Graph]]]
    ) -> None:
        listed = [
            {"number": number, "title": one.title, "source": one.source, "items": len(found[number])}
            for number, one in sorted(numbers.items())
        ]
        content = (json.dumps(listed, indent=2, ensure_ascii=False) + "\n").encode()
        write_whole(self.out / "subscriptions.json", content, within=self.out)


def _file_name(number: int | str) -> str:
    return f"subscription-{number}.rss"


def _is_subscription(item: FeedItem) -> bool:
    return item.title.strip().startswith(SUBSCRIPTION)


def _graph(statements: str) -> Graph:
    return read_graph(statements.encode(), "item.nt", "nt").graph


def looks(
    connector: Connector, every_s: float | None, wait: Callable[[float], None] = time.sleep
) -> Iterator[Looked]:
    """Yield the first result, and each later one that differs from the one before; without `every_s` only
    the first. A problem is therefore reported once, not at every pass.
    """
    last = connector.look()
    yield last
    while every_s is not None:
        wait(every_s)
        looked = connector.look()
        if looked.differs_from(last):
            yield looked
        last = looked
