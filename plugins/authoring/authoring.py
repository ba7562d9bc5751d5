"""Authoring interface of a language: write, check, describe, explain, draw, decompile.

Commands, scenarios and nodes use only this interface. They find a language by the namespace of a document
(`plugins.registry.language_of_document`) or by its name, and never import one.

The second half of `Authoring` is optional: a missing ability is None, and callers report it
(`plugins.registry.offered`). A class that derives from `Authoring` inherits these defaults, and `check` by
compiling.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from dens.config.problems import DocumentError, Problem
from knowledge_manager.mission_table import MissionTable
from plugins.authoring.output.description import Description, VectorKind
from plugins.language import Match, Matcher
from watchdog.header import framed

if TYPE_CHECKING:
    from knowledge_manager.thesaurus.thesaurus import Thesaurus
    from plugins.authoring.generator import SubscriptionGenerator
    from plugins.authoring.streams import StreamLearner, StreamReading
    from plugins.authoring.terms import TermShapes
    from plugins.authoring.xml.spans import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """Options of a compilation. The clock is never read: the same source and options give the same bytes.

    `stamp_s` is the creation time in seconds, modulo 65536. `strict` turns warnings into errors. `tolerance`
    bounds the deviation between a requested curve and its bytes; None is the default of the language, and
    languages that fit nothing ignore it. `thesaurus` has the author's own words.
    """

    stamp_s: int = 0
    strict: bool = False
    tolerance: float | None = None
    thesaurus: "Thesaurus | None" = None


DEFAULTS: Final = CompileOptions()


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A compiled subscription: its body, its encoded lifetime, and how they were derived.

    `steps` is shown by `dens compile --json` and specific to the language. `spans` has, for every byte of the
    body, the part of the document that it encodes, if there is one.
    """

    body: bytes
    lifetime_q: int
    warnings: tuple[Problem, ...] = ()
    remarks: tuple[str, ...] = ()
    steps: Mapping[str, Any] = field(default_factory=dict)
    spans: "tuple[Span | None, ...]" = ()

    @property
    def vector(self) -> bytes:
        """Return the body behind a header with id 0 and revision 0."""
        return framed(0, 0, self.lifetime_q, self.body)


class Explanation(Protocol):
    """Why a subscription does or does not match given values."""

    def lines(self) -> list[str]:
        """Return the text for a terminal."""
        ...

    def as_document(self) -> dict[str, Any]: ...


class Picture(Protocol):
    """A drawing of a subscription."""

    def terminal(self) -> list[str]:
        """Return it as text."""
        ...

    def svg(self) -> str: ...

    def page(self, sentences: list[str], title: str) -> str:
        """Return a standalone HTML page with these sentences above the drawing."""
        ...


class Authoring(Protocol):
    """Authoring of one language. All errors in a document raise one `DocumentError`; invalid bytes raise
    `VectorError`.
    """

    def compile(
        self, source: bytes, file: str, table: MissionTable, options: CompileOptions = DEFAULTS
    ) -> Compiled:
        """Compile a document."""
        ...

    def check(
        self, source: bytes, file: str, table: MissionTable, thesaurus: "Thesaurus | None" = None
    ) -> list[Problem]:
        """Return all errors and warnings of a document. A language that also has publications
        overrides this.
        """
        try:
            return list(self.compile(source, file, table, CompileOptions(thesaurus=thesaurus)).warnings)
        except DocumentError as error:
            return list(error.problems)

    def meaning(self, body: bytes) -> bytes:
        """Return a body without its creation time: equal for two subscriptions with the same meaning."""
        ...

    def describe(
        self, vector: bytes, table: MissionTable | None, kind: VectorKind | None = None
    ) -> Description:
        """Describe a vector; without a table, without names. `kind` requires one of the two kinds."""
        ...

    def describe_match(self, match: Match, table: MissionTable) -> str:
        """Describe the degree and the detail of a match. An invalid detail raises `VectorError`."""
        ...

    def happened_s(self, notification: bytes) -> int | None:
        """Return the event time of a notification in seconds modulo 65536, or None if it has none. Invalid
        bytes raise `VectorError`.
        """
        ...

    @property
    def explain(self) -> Callable[[bytes, MissionTable, Mapping[str, str], int], Explanation] | None:
        """(vector, table, values, age in s) → how an event with these values is evaluated, by the code that
        runs on boards.
        """
        return None

    @property
    def explain_notification(self) -> Callable[[bytes, MissionTable, bytes], Explanation] | None:
        """(vector, table, notification) → how a notification is evaluated."""
        return None

    @property
    def found_nodes(self) -> Callable[[bytes, bytes, MissionTable], str] | None:
        """(body, notification, table) → the nodes of a notification that the variables of a subscription are
        bound to, as text.
        """
        return None

    @property
    def compile_publication(self) -> "Callable[[bytes, str, MissionTable, int], Compiled | None] | None":
        """(source, file, table, stamp) → a publication, compiled to the body of its notification after number
        and lifetime; None if the document is a subscription.
        """
        return None

    @property
    def detail_value(self) -> Callable[[bytes], int | str] | None:
        """The detail of a match for programs; its bytes in hexadecimal if this is None."""
        return None

    @property
    def picture(self) -> Callable[[bytes, MissionTable, Compiled | None], Picture] | None:
        """(vector, table, the compilation if there was one) → a drawing of the subscription."""
        return None

    @property
    def decompile(self) -> Callable[[bytes, MissionTable], str] | None:
        """(vector, table) → a document that compiles to the same vector again."""
        return None

    @property
    def query(self) -> Callable[[bytes, MissionTable], str] | None:
        """(vector, table) → the subscription as a query, for an independent evaluation."""
        return None

    @property
    def loose_matcher(self) -> Callable[[MissionTable | None, str | None, str], Matcher] | None:
        """(table or None, algorithm or None, feature condition) → a matcher of bodies that need not belong to
        a mission, for files of vectors. An unknown name raises `UnknownName`.
        """
        return None

    @property
    def match_stream(
        self,
    ) -> "Callable[[bytes, MissionTable, Compiled | None, Sequence[StreamReading]], Explanation] | None":
        """(vector, table, the compilation if there was one, readings in any order) → the matches in a
        complete stream; for languages about sequences of events.
        """
        return None

    @property
    def learner(
        self,
    ) -> "Callable[[bytes, str, MissionTable, Thesaurus | None], StreamLearner] | None":
        """(source, file, table, thesaurus) → counts in past streams what this document needs; for languages
        that predict.
        """
        return None

    @property
    def generator(self) -> "SubscriptionGenerator | None":
        """Generates random subscriptions for the workloads of scenarios."""
        return None

    @property
    def terms(self) -> "TermShapes | None":
        """Drawing and fitting of vocabulary terms."""
        return None
