"""Turns items of feeds into publications."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from dens.config.problems import DocumentError, Problem
from dens.config.reading import read_document
from knowledge_manager.feeds.item import Feed, FeedItem, class_by_label
from knowledge_manager.feeds.reader import read_feed
from knowledge_manager.feeds.tree import LARGEST_FEED
from knowledge_manager.graphs.terms import Graph, written
from knowledge_manager.mission_table import MissionTable
from plugins.language import SubscriptionLanguage
from plugins.registry import offered

FEED_SUFFIXES: Final = frozenset((".rss", ".xml", ".atom", ".rdf", ".cdf"))


def read_feed_file(path: Path, table: MissionTable) -> Feed:
    """Read a feed, and add the classes of the mission that the labels of its items name."""
    feed = read_feed(read_document(path, LARGEST_FEED), str(path))
    class_of = class_by_label(table.taxonomy)
    return replace(feed, items=tuple(item.with_classes(class_of) for item in feed.items))


def statements_of(graph: Graph) -> str:
    """Return a graph as sorted N-Triples."""
    return "".join(sorted(f"{' '.join(map(written, triple))} .\n" for triple in graph))


def vector_of(statements: str, table: MissionTable, language: SubscriptionLanguage) -> bytes:
    """Return the notification vector of some statements."""
    read = offered(language.publications, language, "publications")()
    return read.read(statements.encode(), "item.nt", table).vector


def at_item(error: DocumentError, file: Path, item: FeedItem) -> list[Problem]:
    """Return the problems of a publication at the line of its item."""
    return [replace(one, file=str(file), line=item.line, column=1, span=None) for one in error.problems]
