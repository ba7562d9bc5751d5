"""What a person does with a subscription language: write, check, describe, explain, draw, decompile.

Commands, scenarios and nodes know a language by this alone. They find it by the namespace of a document
(`plugins.registry.language_of_document`) or by its name, and never import a language itself.

The second half of `Authoring` is what a language may leave out: it is None then, and whoever wants it says so
in words (`plugins.registry.offered`). A class that derives from it gets this, and checks by compiling.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from dens.config.problems import DocumentError, Problem
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from plugins.authoring.output.description import Description
from plugins.language import Match, Matcher

if TYPE_CHECKING:
    from plugins.authoring.generator import SubscriptionGenerator
    from plugins.authoring.streams import StreamLearner, StreamReading
    from plugins.authoring.terms import TermShapes
    from plugins.authoring.xml.spans import Span

VectorKind = Literal["sv", "nv"]
"""A subscription vector or a notification vector."""


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A subscription as its language wrote it: the body, its lifetime, and how they came about.

    `steps` are what `dens compile --json` shows of the way, in the language's own words. `spans` has for
    every byte of the body the piece of the document that it came from, as far as one can be named.
    """

    body: bytes
    lifetime_q: int
    warnings: tuple[Problem, ...] = ()
    remarks: tuple[str, ...] = ()
    steps: Mapping[str, Any] = field(default_factory=dict)
    spans: "tuple[Span | None, ...]" = ()


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
        """Return all errors and warnings of a document; nothing when it compiles without a word. A language
        in which documents do not only ask says so of its own.
        """
        try:
            return list(self.compile(source, file, table, thesaurus=thesaurus).warnings)
        except DocumentError as error:
            return list(error.problems)

    def meaning(self, body: bytes) -> bytes:
        """Return what of a body is no time of writing: equal for two subscriptions that ask the same."""
        ...

    def describe(
        self, vector: bytes, table: MissionTable | None, kind: VectorKind | None = None
    ) -> Description:
        """Put a vector into words; with no table, without names. `kind` insists on one of the two."""
        ...

    def describe_match(self, match: Match, table: MissionTable) -> str:
        """Put the degree and the detail of a match into words; a detail that is none raises `VectorError`."""
        ...

    def happened_s(self, notification: bytes) -> int | None:
        """Return the second, modulo 65536, at which a notification says that it happened; None where it says
        nothing of it. Bad bytes raise `VectorError`.
        """
        ...

    @property
    def explain(self) -> Callable[[bytes, MissionTable, Mapping[str, str], int], Explanation] | None:
        """(vector, table, values, age in s) → what becomes of an event with these values, by the code that
        runs on the boards.
        """
        return None

    @property
    def explain_notification(self) -> Callable[[bytes, MissionTable, bytes], Explanation] | None:
        """(vector, table, notification) → what becomes of an event that somebody told."""
        return None

    @property
    def found_nodes(self) -> Callable[[bytes, bytes, MissionTable], str] | None:
        """(body, notification, table) → what of a notification it is that satisfies a subscription, in words:
        the nodes of its variables.
        """
        return None

    @property
    def compile_publication(self) -> "Callable[[bytes, str, MissionTable, int], Compiled | None] | None":
        """(source, file, table, stamp) → a document that tells instead of asking, as the body of its
        notification behind number and lifetime; None where it asks.
        """
        return None

    @property
    def detail_value(self) -> Callable[[bytes], int | str] | None:
        """What programs are told of the detail of a match; its bytes in hexadecimal where this is None."""
        return None

    @property
    def picture(self) -> Callable[[bytes, MissionTable, Compiled | None], Picture] | None:
        """(vector, table, how it was compiled, if it was just now) → the subscription, drawn."""
        return None

    @property
    def decompile(self) -> Callable[[bytes, MissionTable], str] | None:
        """(vector, table) → a document that compiles to the same vector again."""
        return None

    @property
    def query(self) -> Callable[[bytes, MissionTable], str] | None:
        """(vector, table) → the subscription as a query, for a judge that knows nothing of this system."""
        return None

    @property
    def loose_matcher(self) -> Callable[[MissionTable | None, str | None, str], Matcher] | None:
        """(table or None, algorithm or None, feature condition) → a matcher of bodies that need not belong to
        any mission, for files of vectors. An unknown name raises `UnknownName`.
        """
        return None

    @property
    def match_stream(
        self,
    ) -> "Callable[[bytes, MissionTable, Compiled | None, Sequence[StreamReading]], Explanation] | None":
        """(vector, table, how it was compiled, if it was just now, readings in any order) → what is found in
        a stream that is there as a whole; for languages that are about what follows what.
        """
        return None

    @property
    def learner(
        self,
    ) -> "Callable[[bytes, str, MissionTable, Thesaurus | None], StreamLearner] | None":
        """(source, file, table, thesaurus) → what counts in streams of the past what this document needs; for
        languages that predict.
        """
        return None

    @property
    def generator(self) -> "SubscriptionGenerator | None":
        """What makes subscriptions by chance, for the workloads of scenarios."""
        return None

    @property
    def terms(self) -> "TermShapes | None":
        """What the language makes of the terms of vocabularies."""
        return None
