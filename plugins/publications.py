"""What people publish as it stands: a report, an entry of a feed, a note. Nothing is measured for it.

A language that has such documents reads them into its notifications; a source offers each to its filter
(`plugins.language.DocumentFilter`), as it feeds it readings.
"""

from dataclasses import dataclass
from typing import Protocol

from knowledge_manager.mission_table import MissionTable


@dataclass(frozen=True, slots=True)
class Publication:
    """A document as its language wrote it, and what its publisher announces to be found by look-up."""

    vector: bytes
    event: str
    attributes: tuple[str, ...]
    lifetime_q: int | None = None
    """The code of how long it is valid, if the document says so."""


class PublicationReader(Protocol):
    """Reads the documents of a language."""

    def read(self, source: bytes, file: str, table: MissionTable) -> Publication:
        """Return the notification that a document is; everything wrong with it raises one `DocumentError`."""
        ...
