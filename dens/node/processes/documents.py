"""A publisher's process for documents: each is offered to the filter of its language, and published."""

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
from dens.node.processes.handover import Handover
from dens.node.processes.probe import Answer
from knowledge_manager.dictionary.local import LocalDataDictionary
from knowledge_manager.mission_table import MissionTable
from plugins.language import DocumentFilter, SubscriptionLanguage
from plugins.publications import Publication
from plugins.registry import language_of_publication, offered
from watchdog.lifetime import lifetime_code
from watchdog.watchdog import Watchdog

_LOOK_S: Final = 0.05
_CONTENT_TYPES: Final = {".ttl": "text/turtle", ".nt": "text/turtle", ".rdf": "application/rdf+xml"}
"""What files yield, by the ends of their names; of others an announcement does not say it."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document that can be published, and the file that it is in."""

    file: str
    language: SubscriptionLanguage
    publication: Publication


def read_documents(
    files: Sequence[Path], table: MissionTable, found_in_folders: Collection[Path] = ()
) -> list[Document]:
    """Read documents that are publications; everything wrong with all of them raises one `DocumentError`.

    Of those found in folders what stands beside them tells nothing: subscriptions, by the ends of their
    files' names, and documents of languages without publications.
    """
    found: list[Document] = []
    problems: list[Problem] = []
    for file in files:
        try:
            source = read_document(file)
            language = language_of_publication(source, str(file))
            if file in found_in_folders and not _tells(file, language):
                continue
            reader = offered(language.publications, language, "publications")()
            found.append(Document(str(file), language, reader.read(source, str(file), table)))
        except DocumentError as error:
            problems.extend(error.problems)
    if problems:
        raise DocumentError(problems)
    return found


def _tells(file: Path, language: SubscriptionLanguage) -> bool:
    """Return whether a document of this language may be a publication, by the end of its file's name."""
    return language.publications is not None and file.suffix in (language.publication_suffixes or (".xml",))


def offer_documents(documents: Iterable[Document], dictionary: LocalDataDictionary) -> None:
    """Say of every document what kind it is, so that its publisher is found by look-up."""
    for one in documents:
        kind = _CONTENT_TYPES.get(Path(one.file).suffix, "")
        dictionary.offer(one.publication.event, one.publication.attributes, "file", kind)


@dataclass(slots=True)
class DocumentPublishing:
    """Publishes documents when somebody asks for them, or anyway, and counts what became of them."""

    handover: Handover
    watchdog: Watchdog
    documents: Sequence[Document]
    table: MissionTable
    say: Callable[[str], None]
    answer: Answer
    anyway: bool
    unwanted: int = 0

    async def publish(self, runtime: Runtime, wait_s: float) -> int:
        """Wait for the node and for somebody who asks, publish, and wait until the node has it."""
        left = list(self.documents)
        with self.answer.watched():
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self.answer.come()
                    await self.handover.begin()
                    while left := [one for one in left if not self._offer(one, runtime)]:
                        if self.anyway:
                            break
                        await asyncio.sleep(_LOOK_S)
            for one in left:
                self._not_asked_for(one, wait_s, runtime)
            is_taken = await self.handover.is_over(wait_s, self.say)
        if not self.answer.has_come:
            self.answer.say_never()
        is_well = self.answer.has_come and is_taken and not self.unwanted
        return exits.FINE if is_well else exits.FINDING

    def _offer(self, document: Document, runtime: Runtime) -> bool:
        """Publish a document that somebody asks for; return whether anybody does."""
        now_ms = runtime.now_ms()
        self.watchdog.expire(now_ms)
        filter: DocumentFilter = self.watchdog.filters[document.language.language_id]
        released = filter.offer(document.publication.vector)
        for release in released:
            self.handover.publish(document.language.language_id, release.vector, release.lifetime, now_ms)
        if released:
            runtime.settle()
        return bool(released)

    def _not_asked_for(self, document: Document, wait_s: float, runtime: Runtime) -> None:
        told = document.publication
        if self.anyway:
            usual = lifetime_code(self.table.event(told.event).notification_lifetime_s)
            lifetime_q = usual if told.lifetime_q is None else told.lifetime_q
            self.handover.publish(document.language.language_id, told.vector, lifetime_q, runtime.now_ms())
            runtime.settle()
            return
        self.unwanted += 1
        self.say(
            f"{document.file}: nobody has asked for it within {wait_s:g} s, so it is not sent; with --anyway "
            "it is carried to whoever has asked elsewhere"
        )

    def figures(self) -> dict[str, Any]:
        """Return what became of the documents."""
        return {
            "documents": len(self.documents),
            "not_asked_for": self.unwanted,
            "published": self.handover.published,
            "taken_by_node": self.handover.taken,
        }
