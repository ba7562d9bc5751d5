"""Authoring interface of boxes."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.authoring import (
    DEFAULTS,
    Authoring,
    Compiled,
    CompileOptions,
    Description,
    Explanation,
    VectorKind,
)
from plugins.boxes import ALGORITHM_NAMES
from plugins.boxes.authoring.words import describe_vector
from plugins.language import Match, Matcher
from plugins.stamps import board_event_s, without_stamp
from watchdog.vector import VectorError

if TYPE_CHECKING:
    from plugins.boxes.generator import BoxesGenerator

_FEATURES: Final = "subset"
"""A notification matches every box whose attributes it has."""


class BoxesAuthoring(Authoring):
    """Writes, checks, describes, explains and decompiles boxes."""

    @property
    def generator(self) -> "BoxesGenerator":
        from plugins.boxes.generator import BoxesGenerator

        return BoxesGenerator()

    def compile(
        self, source: bytes, file: str, table: MissionTable, options: CompileOptions = DEFAULTS
    ) -> Compiled:
        """Compile a document. All errors raise one `DocumentError`."""
        from plugins.boxes.authoring.compiler import compile_boxes

        return compile_boxes(source, file, table, options)

    def meaning(self, body: bytes) -> bytes:
        """Return a body without its creation time."""
        return without_stamp(body)

    def describe(
        self, vector: bytes, table: MissionTable | None, kind: VectorKind | None = None
    ) -> Description:
        """Describe a vector; notifications are the boards'."""
        return describe_vector(vector, table, kind)

    def describe_match(self, match: Match, table: MissionTable) -> str:
        """Return which box matched."""
        if len(match.detail) != 1:
            raise VectorError(len(match.detail), "the detail of a match of boxes is one byte")
        return f"box {match.detail[0]}"

    def happened_s(self, notification: bytes) -> int | None:
        """Return its event time in seconds, modulo 65536."""
        return board_event_s(notification)

    @property
    def explain(self) -> Callable[[bytes, MissionTable, Mapping[str, str], int], Explanation]:
        """Return a function that explains which box matches, or which side misses."""
        from plugins.boxes.authoring.explain import explain_boxes

        return explain_boxes

    @property
    def decompile(self) -> Callable[[bytes, MissionTable], str]:
        """Return a function that writes one `<and>` per box."""
        from plugins.boxes.authoring.decompile import decompile

        return decompile

    @property
    def loose_matcher(self) -> Callable[[MissionTable | None, str | None, str], Matcher]:
        """Return a factory of matchers by name, with or without a mission."""
        return _loose_matcher


def _loose_matcher(table: MissionTable | None, algorithm: str | None, features: str) -> Matcher:
    from plugins.boxes.matcher import BoxMatcher

    name = (ALGORITHM_NAMES[0] if algorithm is None else algorithm).casefold()
    if name not in ALGORITHM_NAMES:
        raise UnknownName("algorithm", name, list(ALGORITHM_NAMES))
    if features != _FEATURES:
        raise UnknownName("feature condition", features, [_FEATURES])
    return BoxMatcher(table, name)
