"""Patterns of graphs as their authors see them, behind the interface that all languages share."""

from collections.abc import Callable, Mapping

from dens.config.problems import DocumentError, Problem
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from plugins.authoring import Authoring, Compiled, Description, Explanation, Picture, VectorKind
from plugins.gtopss.authoring.describe import describe_vector
from plugins.gtopss.match import UNDECIDED_DETAIL
from plugins.gtopss.vectors import FORM_AT, STAMP_BYTES
from plugins.language import Match
from watchdog.vector import VectorError

_STAMP_AT = 3


class GraphAuthoring(Authoring):
    """Writes, checks, describes, explains and decompiles patterns."""

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
        """Compile a document in XML, or a file of SPARQL; everything wrong with it raises one
        `DocumentError`.
        """
        from plugins.gtopss.authoring.compile import compile_pattern

        return compile_pattern(source, file, table, stamp_s=stamp_s, strict=strict)

    def check(
        self, source: bytes, file: str, table: MissionTable, thesaurus: Thesaurus | None = None
    ) -> list[Problem]:
        """Return all errors and warnings of a document; nothing when it compiles without a word."""
        try:
            return list(self.compile(source, file, table).warnings)
        except DocumentError as error:
            return list(error.problems)

    def meaning(self, body: bytes) -> bytes:
        """Return a body without the time at which it was written."""
        return body[STAMP_BYTES:]

    def describe(
        self, vector: bytes, table: MissionTable | None, kind: VectorKind | None = None
    ) -> Description:
        """Put a vector into words, part by part."""
        return describe_vector(vector, table, kind)

    def describe_match(self, match: Match, table: MissionTable) -> str:
        """Say whether it was decided."""
        if match.detail not in (b"", UNDECIDED_DETAIL):
            raise VectorError(0, "a match of a graph carries nothing, or that it is undecided")
        return "undecided" if match.detail else "matched"

    def happened_s(self, notification: bytes) -> int | None:
        """Return the second at which it happened, modulo 65536."""
        if len(notification) <= FORM_AT:
            raise VectorError(len(notification), "too short for a publication")
        return notification[_STAMP_AT] << 8 | notification[_STAMP_AT + 1]

    @property
    def detail_value(self) -> Callable[[bytes], int | str]:
        """Return what says in a word whether a match was decided."""
        return lambda detail: "undecided" if detail else ""

    @property
    def explain(self) -> Callable[[bytes, MissionTable, Mapping[str, str], int], Explanation]:
        """Return what lists the edges of a pattern."""
        from plugins.gtopss.authoring.explain import explain_pattern

        return explain_pattern

    @property
    def explain_notification(self) -> Callable[[bytes, MissionTable, bytes], Explanation]:
        """Return what tells edge by edge what a publication has."""
        from plugins.gtopss.authoring.explain import explain_publication

        return explain_publication

    @property
    def picture(self) -> Callable[[bytes, MissionTable, Compiled | None], Picture]:
        """Return what draws a pattern as the graph that it is."""
        from plugins.gtopss.authoring.picture import pattern_picture

        return pattern_picture

    @property
    def found_nodes(self) -> Callable[[bytes, bytes, MissionTable], str]:
        """Return what computes the bindings of a delivery: they never travel."""
        from plugins.gtopss.authoring.explain import bindings_in_words

        return bindings_in_words

    @property
    def decompile(self) -> Callable[[bytes, MissionTable], str]:
        """Return what writes edges and conditions in XML."""
        from plugins.gtopss.authoring.decompile import decompile

        return decompile

    @property
    def query(self) -> Callable[[bytes, MissionTable], str]:
        """Return what writes a pattern in SPARQL, for a judge."""
        from plugins.gtopss.authoring.query import query_of

        return query_of
