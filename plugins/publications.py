"""Documents that are published as they are: a report, an entry of a feed, a note.

A language with such documents reads them into notifications. A source offers each one to its filter
(`plugins.language.DocumentFilter`), as it feeds readings.
"""

from dataclasses import dataclass
from typing import Protocol

from knowledge_manager.mission_table import MissionTable


@dataclass(frozen=True, slots=True)
class Publication:
    """An encoded document, and the event class and attributes that its publisher offers so that look-up finds
    it.
    """

    vector: bytes
    event: str
    attributes: tuple[str, ...]
    lifetime_q: int | None = None
    """Encoded lifetime, if the document has one."""


class PublicationReader(Protocol):
    """Reads the documents of a language."""

    def read(self, source: bytes, file: str, table: MissionTable) -> Publication:
        """Return a document as a notification. All errors in it raise one `DocumentError`."""
        ...
