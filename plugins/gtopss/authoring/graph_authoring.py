"""Authoring interface of graph patterns."""

from collections.abc import Callable, Mapping

from dens.config.problems import DocumentError, Problem
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from plugins.authoring import (
    DEFAULTS,
    Authoring,
    Compiled,
    CompileOptions,
    Description,
    Explanation,
    Picture,
    VectorKind,
)
from plugins.gtopss.authoring.describe import describe_vector
from plugins.gtopss.authoring.words import usual_names
from plugins.gtopss.match import UNDECIDED_DETAIL
from plugins.gtopss.vectors import FORM_AT, STAMP_BYTES, decode_pattern
from plugins.language import Match
from watchdog.header import body_of
from watchdog.vector import VectorError

_STAMP_AT = 3


class GraphAuthoring(Authoring):
    """Writes, checks, describes, explains and decompiles patterns."""

    def compile(
        self, source: bytes, file: str, table: MissionTable, options: CompileOptions = DEFAULTS
    ) -> Compiled:
        """Compile an XML document or a SPARQL file. All errors raise one `DocumentError`."""
        from plugins.gtopss.authoring.compile import compile_pattern

        return compile_pattern(source, file, table, options)

    def check(
        self, source: bytes, file: str, table: MissionTable, thesaurus: Thesaurus | None = None
    ) -> list[Problem]:
        """Return all errors and warnings of a document."""
        try:
            return list(self.compile(source, file, table).warnings)
        except DocumentError as error:
            return list(error.problems)

    def meaning(self, body: bytes) -> bytes:
        """Return a body without its creation time."""
        return body[STAMP_BYTES:]

    def describe(
        self, vector: bytes, table: MissionTable | None, kind: VectorKind | None = None
    ) -> Description:
        """Describe a vector, part by part."""
        return describe_vector(vector, table, kind)

    def describe_match(self, match: Match, table: MissionTable) -> str:
        """Return whether the match was decided."""
        if match.detail not in (b"", UNDECIDED_DETAIL):
            raise VectorError(0, "the detail of a graph match is empty, or marks it as undecided")
        return "undecided" if match.detail else "matched"

    def happened_s(self, notification: bytes) -> int | None:
        """Return its event time in seconds, modulo 65536."""
        if len(notification) <= FORM_AT:
            raise VectorError(len(notification), "too short for a publication")
        return notification[_STAMP_AT] << 8 | notification[_STAMP_AT + 1]

    @property
    def detail_value(self) -> Callable[[bytes], int | str]:
        """Return a function that returns in one word whether a match was decided."""
        return lambda detail: "undecided" if detail else ""

    @property
    def explain(self) -> Callable[[bytes, MissionTable, Mapping[str, str], int], Explanation]:
        """Return a function that lists the edges of a pattern."""
        from plugins.gtopss.authoring.explain import explain_pattern

        return explain_pattern

    @property
    def explain_notification(self) -> Callable[[bytes, MissionTable, bytes], Explanation]:
        """Return a function that evaluates a publication edge by edge."""
        from plugins.gtopss.authoring.explain import explain_publication

        return explain_publication

    @property
    def picture(self) -> Callable[[bytes, MissionTable, Compiled | None], Picture]:
        """Return a function that draws a pattern as a graph."""
        from plugins.gtopss.authoring.picture import pattern_picture

        return pattern_picture

    @property
    def found_nodes(self) -> Callable[[bytes, bytes, MissionTable], str]:
        """Return a function that computes the bindings of a delivery; they are never transmitted."""
        from plugins.gtopss.authoring.explain import bindings_in_words

        return bindings_in_words

    @property
    def decompile(self) -> Callable[[bytes, MissionTable], str]:
        """Return a function that writes edges and conditions in XML."""
        from plugins.gtopss.authoring.decompile import decompile

        return decompile

    @property
    def query(self) -> Callable[[bytes, MissionTable], str]:
        """Return a function that writes a pattern in SPARQL."""
        return _query_of


def _query_of(vector: bytes, table: MissionTable) -> str:
    """Return a SPARQL query, for independent evaluation. Bytes that are not a pattern raise `VectorError`."""
    from plugins.gtopss.sparql_text import sparql_of

    pattern = decode_pattern(body_of(vector), table.dictionary)
    return sparql_of(pattern, tuple(usual_names(pattern)))
