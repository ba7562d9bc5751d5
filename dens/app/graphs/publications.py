"""Reads graph publications from RDF files and feeds."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from dens.app.files import gather
from dens.app.graphs.feed_items import at_item, read_feed_file, statements_of, vector_of
from dens.app.graphs.subscriptions import LANGUAGE
from dens.app.subscriptions.languages import publication_in
from dens.config.problems import DocumentError, Problem
from knowledge_manager.mission_table import MissionTable
from plugins.authoring import Description
from plugins.registry import authoring_of, language_named

FEEDS: Final = (".rss", ".atom", ".cdf")
"""Suffixes of feeds. A file that ends in .rdf is read as one publication."""


def read_publications(
    files: Iterable[Path], table: MissionTable
) -> tuple[list[tuple[Path, Description]], list[Problem]]:
    """Return the publications of files and folders, and warnings about skipped items of feeds.

    Raises one `DocumentError` if any file is invalid.
    """
    language = language_named(LANGUAGE)
    describe = authoring_of(language).describe
    found: list[tuple[Path, Description]] = []
    problems: list[Problem] = []
    for path in gather(files, (*language.publication_suffixes, *FEEDS)):
        if path.suffix.lower() in FEEDS:
            items = _items(path, table, problems)
            found.extend((name, describe(vector, table, "nv")) for name, vector in items)
            continue
        try:
            vector = publication_in(path, language, table)
        except DocumentError as error:
            problems.extend(error.problems)
        else:
            found.append((path, describe(vector, table, "nv")))
    if any(problem.severity == "error" for problem in problems):
        raise DocumentError(problems)
    return found, problems


def _items(path: Path, table: MissionTable, problems: list[Problem]) -> Iterator[tuple[Path, bytes]]:
    """Yield the publications of a feed, each with a name of its own; collect problems."""
    try:
        feed = read_feed_file(path, table)
    except DocumentError as error:
        problems.extend(error.problems)
        return
    problems.extend(feed.problems)
    for number, item in enumerate(feed.items, 1):
        try:
            vector = vector_of(statements_of(item.graph), table, language_named(LANGUAGE))
        except DocumentError as error:
            problems.extend(at_item(error, path, item))
        else:
            yield path.with_name(f"{path.stem}-{number}{path.suffix}"), vector
