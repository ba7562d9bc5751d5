"""Authoring interface of composites."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

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
    VectorKind,
)
from plugins.authoring.authoring import Picture
from plugins.authoring.streams import StreamLearner, StreamReading
from plugins.composite.composites import KINDS
from plugins.language import Match, MatcherFactory
from watchdog.vector import HEADER_BYTES, VectorError

_STAMP_BYTES: Final = 2
"""A body begins with its creation time."""


class CompositeAuthoring(Authoring):
    """Writes, checks, describes, explains and draws composites. `atoms` does that for primitives, and `judge`
    evaluates them. `namespace` is that of documents of primitives.
    """

    def __init__(self, atoms: Authoring, judge: MatcherFactory, namespace: str) -> None:
        self._atoms = atoms
        self._judge = judge
        self._namespace = namespace

    def compile(
        self, source: bytes, file: str, table: MissionTable, options: CompileOptions = DEFAULTS
    ) -> Compiled:
        """Compile a document. All errors raise one `DocumentError`."""
        from plugins.composite.authoring.compiler import compile_composite

        return compile_composite(source, file, table, self._atoms, self._namespace, options)

    def check(
        self, source: bytes, file: str, table: MissionTable, thesaurus: Thesaurus | None = None
    ) -> list[Problem]:
        """Return all errors and warnings of a document."""
        try:
            return list(self.compile(source, file, table, CompileOptions(thesaurus=thesaurus)).warnings)
        except DocumentError as error:
            return list(error.problems)

    def meaning(self, body: bytes) -> bytes:
        """Return a body without its creation time."""
        return body[_STAMP_BYTES:]

    def describe(
        self, vector: bytes, table: MissionTable | None, kind: VectorKind | None = None
    ) -> Description:
        """Describe a subscription or a composite."""
        from plugins.composite.authoring.describe import describe

        return describe(vector, table, kind, self._atoms)

    def describe_match(self, match: Match, table: MissionTable) -> str:
        """Return the kind of the composite."""
        if len(match.detail) != 1 or match.detail[0] not in KINDS:
            raise VectorError(len(match.detail), "the detail of a composite is its kind")
        return f"{KINDS[match.detail[0]]}, degree {match.degree_u8 / 255:.2f}"

    def happened_s(self, notification: bytes) -> int | None:
        """Return its event time in seconds, modulo 65536."""
        if len(notification) < HEADER_BYTES:
            raise VectorError(len(notification), "too short for a composite")
        return notification[3] << 8 | notification[4]

    @property
    def explain(self) -> Callable[[bytes, MissionTable, Mapping[str, str], int], Explanation]:
        """Return a function that explains alternatives, where they are evaluated, and predictions."""
        from plugins.composite.authoring.explain import explain_composite

        return partial(explain_composite, atoms=self._atoms)

    @property
    def picture(self) -> Callable[[bytes, MissionTable, Compiled | None], Picture]:
        """Return a function that draws the machines of the thesis."""
        from plugins.composite.authoring.explain import machines_picture

        return machines_picture

    @property
    def match_stream(
        self,
    ) -> Callable[[bytes, MissionTable, Compiled | None, Sequence[StreamReading]], Explanation]:
        """Return a function that finds matches and predictions in a complete stream."""
        from plugins.composite.authoring.stream import match_stream

        return partial(match_stream, atoms=self._judge)

    @property
    def learner(self) -> Callable[[bytes, str, MissionTable, Thesaurus | None], StreamLearner]:
        """Return a function that counts a model for the prediction of a document."""
        from plugins.composite.authoring.learner import learner

        return partial(learner, atoms=self._atoms, judge=self._judge, namespace=self._namespace)

    @property
    def decompile(self) -> Callable[[bytes, MissionTable], str]:
        """Return a function that writes a subscription as a document."""
        from plugins.composite.authoring.decompile import decompile

        return partial(decompile, atoms=self._atoms)
