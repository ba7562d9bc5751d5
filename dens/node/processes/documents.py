"""A publisher process for documents: offers each to the filter of its language and publishes it."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dens.config import exit_codes as exits
from dens.config.problems import DocumentError, Problem
from dens.config.reading import read_document
from dens.node.links.runtime import Runtime
from dens.node.processes.publication_tracker import PublicationTracker
from dens.node.processes.reachability import NodeReachability
from knowledge_manager.dictionary.local import LocalDataDictionary
from knowledge_manager.mission_table import MissionTable
from plugins.language import DocumentFilter, SubscriptionLanguage
from plugins.publications import Publication
from plugins.registry import language_of_publication, offered
from watchdog.lifetime import lifetime_code
from watchdog.watchdog import Watchdog

_POLL_S: Final = 0.05
_CONTENT_TYPES: Final = {".ttl": "text/turtle", ".nt": "text/turtle", ".rdf": "application/rdf+xml"}
"""Content type by file suffix; announcements of other files do not state one."""


@dataclass(frozen=True, slots=True)
class Document:
    """A publication and its file."""

    file: str
    language: SubscriptionLanguage
    publication: Publication


def read_documents(
    files: Sequence[Path], table: MissionTable, found_in_folders: Collection[Path] = ()
) -> list[Document]:
    """Read publications; all problems of all files are raised as one `DocumentError`.

    Files found in folders are skipped if they are not publications: subscriptions, recognised by suffix, and
    documents of languages without publications.
    """
    documents: list[Document] = []
    problems: list[Problem] = []
    for file in files:
        try:
            source = read_document(file)
            language = language_of_publication(source, str(file))
            if file in found_in_folders and not _may_be_publication(file, language):
                continue
            reader = offered(language.publications, language, "publications")()
            documents.append(Document(str(file), language, reader.read(source, str(file), table)))
        except DocumentError as error:
            problems.extend(error.problems)
    if problems:
        raise DocumentError(problems)
    return documents


def _may_be_publication(file: Path, language: SubscriptionLanguage) -> bool:
    """Judge by the suffix of the file."""
    return language.publications is not None and file.suffix in (language.publication_suffixes or (".xml",))


def offer_documents(documents: Iterable[Document], dictionary: LocalDataDictionary) -> None:
    """Add the kind of every document to the dictionary, so that look-ups find its publisher."""
    for document in documents:
        content_type = _CONTENT_TYPES.get(Path(document.file).suffix, "")
        dictionary.offer(document.publication.event, document.publication.attributes, "file", content_type)


@dataclass(slots=True)
class DocumentPublishing:
    """Publishes documents that match an installed subscription, or all of them (`anyway`)."""

    tracker: PublicationTracker
    watchdog: Watchdog
    documents: Sequence[Document]
    table: MissionTable
    say: Callable[[str], None]
    reachability: NodeReachability
    anyway: bool
    unmatched: int = 0

    async def publish(self, runtime: Runtime, wait_s: float) -> int:
        """Wait for the node and for matching subscriptions, publish, and wait for acknowledgements."""
        remaining = list(self.documents)
        with self.reachability.reporting_silence():
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self.reachability.wait_until_reached()
                    await self.tracker.wait_for_routes()
                    while remaining := [item for item in remaining if not self._offer(item, runtime)]:
                        if self.anyway:
                            break
                        await asyncio.sleep(_POLL_S)
            for document in remaining:
                self._handle_unmatched(document, wait_s, runtime)
            is_taken = await self.tracker.wait_until_taken(wait_s, self.say)
        if not self.reachability.is_reached:
            self.reachability.report_never_reached()
        is_complete = self.reachability.is_reached and is_taken and not self.unmatched
        return exits.FINE if is_complete else exits.FINDING

    def _offer(self, document: Document, runtime: Runtime) -> bool:
        """Publish a document if a subscription matches it; return whether one does."""
        now_ms = runtime.now_ms()
        self.watchdog.expire(now_ms)
        filter: DocumentFilter = self.watchdog.filters[document.language.language_id]
        released = filter.offer(document.publication.vector)
        for release in released:
            self.tracker.publish(document.language.language_id, release.vector, release.lifetime, now_ms)
        if released:
            runtime.settle()
        return bool(released)

    def _handle_unmatched(self, document: Document, wait_s: float, runtime: Runtime) -> None:
        publication = document.publication
        if self.anyway:
            default_q = lifetime_code(self.table.event(publication.event).notification_lifetime_s)
            lifetime_q = default_q if publication.lifetime_q is None else publication.lifetime_q
            language = document.language.language_id
            self.tracker.publish(language, publication.vector, lifetime_q, runtime.now_ms())
            runtime.settle()
            return
        self.unmatched += 1
        self.say(
            f"{document.file}: not published, because no subscription matched it within {wait_s:g} s; "
            "--anyway publishes it for subscribers elsewhere"
        )

    def figures(self) -> dict[str, Any]:
        """Return the counts of this run."""
        return {
            "documents": len(self.documents),
            "not_asked_for": self.unmatched,
            "published": self.tracker.published,
            "taken_by_node": self.tracker.taken,
        }
