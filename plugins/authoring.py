"""What a person does with a subscription language: write, check, describe, explain, draw, decompile.

Commands, scenarios and nodes know a language by this alone. They find it by the namespace of a document
(`plugins.registry.authoring_of_document`) or by its name, and never import a language itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from documents.problems import Problem
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus import Thesaurus
from plugins.language import Match

VectorKind = Literal["sv", "nv"]
"""A subscription vector or a notification vector."""


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A subscription as its language wrote it: the body, its lifetime, and how they came about.

    `occupies` is how many numbers after its own the subscription needs for its parts. `steps` are what
    `dens compile --json` shows of the way, in the language's own words.
    """

    body: bytes
    lifetime_q: int
    warnings: tuple[Problem, ...] = ()
    remarks: tuple[str, ...] = ()
    occupies: int = 0
    steps: Mapping[str, Any] = field(default_factory=dict)


class Description(Protocol):
    """A vector in words."""

    @property
    def sentences(self) -> Sequence[str]:
        """Return what it says as a whole."""
        ...

    def lines(self) -> list[str]:
        """Return it for a terminal: the sentences, then byte for byte."""
        ...

    def as_document(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        ...


class Explanation(Protocol):
    """Why a subscription matches given values, or does not."""

    def lines(self) -> list[str]:
        """Return it for a terminal."""
        ...

    def as_document(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        ...


class Picture(Protocol):
    """A subscription, drawn."""

    def terminal(self) -> list[str]:
        """Return it in characters."""
        ...

    def svg(self) -> str:
        """Return it as an SVG document."""
        ...

    def page(self, sentences: list[str], title: str) -> str:
        """Return it as an HTML page that stands alone, below these sentences."""
        ...


class Authoring(Protocol):
    """A language as its authors see it. Everything wrong with a document raises one `DocumentError`, bytes
    that are no vector raise `VectorError`.
    """

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Return the XML namespaces of its subscriptions, the one it writes first."""
        ...

    def compile(
        self,
        source: bytes,
        file: str,
        table: MissionTable,
        *,
        stamp_s: int = 0,
        strict: bool = False,
        tolerance: float | None = None,
        thesaurus: Thesaurus | None = None,
    ) -> Compiled:
        """Compile a document. The same source gives the same bytes."""
        ...

    def check(
        self, source: bytes, file: str, table: MissionTable, thesaurus: Thesaurus | None = None
    ) -> list[Problem]:
        """Return all errors and warnings of a document; nothing when it compiles without a word."""
        ...

    def meaning(self, body: bytes) -> bytes:
        """Return what of a body is no time of writing: equal for two subscriptions that ask the same."""
        ...

    def describe(
        self, vector: bytes, table: MissionTable | None, kind: VectorKind | None = None
    ) -> Description:
        """Put a vector into words; with no table, without names. `kind` insists on one of the two."""
        ...

    def describe_match(self, match: Match, table: MissionTable) -> str:
        """Put the degree and the detail of a match into words."""
        ...

    def explain(
        self, vector: bytes, table: MissionTable, values: Mapping[str, str], age_s: int
    ) -> Explanation:
        """Say what becomes of an event with these values, by the code that runs on the boards."""
        ...

    def picture(self, vector: bytes, table: MissionTable, compiled: Compiled | None = None) -> Picture:
        """Draw a subscription."""
        ...

    def decompile(self, vector: bytes, table: MissionTable) -> str:
        """Write a vector as a document that compiles to the same vector again."""
        ...
