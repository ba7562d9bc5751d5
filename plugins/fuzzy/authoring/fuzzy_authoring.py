"""Authoring interface of the fuzzy language.

Each task imports its own modules, so that a node that only describes bytes and a command that only compiles
both start fast.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from knowledge_manager.mission_table import MissionTable
from plugins.authoring import DEFAULTS, Authoring, Compiled, CompileOptions, Description, VectorKind
from plugins.language import Match, Matcher

if TYPE_CHECKING:
    from plugins.fuzzy.authoring.explain import Explanation
    from plugins.fuzzy.authoring.picture import Panel
    from plugins.fuzzy.authoring.terms import FuzzyTerms
    from plugins.fuzzy.generator import FuzzyGenerator


class FuzzyPicture:
    """The curves of a subscription, one panel per predicate."""

    def __init__(self, panels: "list[Panel]") -> None:
        self._panels = panels

    def terminal(self) -> list[str]:
        from plugins.fuzzy.authoring.picture import terminal

        return terminal(self._panels)

    def svg(self) -> str:
        from plugins.fuzzy.authoring.picture import svg

        return svg(self._panels)

    def page(self, sentences: list[str], title: str) -> str:
        """Return them as an HTML page, below these sentences."""
        from plugins.fuzzy.authoring.picture import page

        return page(self._panels, sentences, title)


class FuzzyAuthoring(Authoring):
    """Writes, checks, describes, explains and draws fuzzy subscriptions."""

    @property
    def terms(self) -> "FuzzyTerms":
        from plugins.fuzzy.authoring.terms import FuzzyTerms

        return FuzzyTerms()

    @property
    def generator(self) -> "FuzzyGenerator":
        from plugins.fuzzy.generator import FuzzyGenerator

        return FuzzyGenerator()

    def compile(
        self, source: bytes, file: str, table: MissionTable, options: CompileOptions = DEFAULTS
    ) -> Compiled:
        """Compile a document. All errors raise one `DocumentError`."""
        from plugins.fuzzy.authoring.compiler import compile_subscription

        return compile_subscription(source, file, table, options)

    def meaning(self, body: bytes) -> bytes:
        """Return a body without its creation time."""
        from plugins.stamps import without_stamp

        return without_stamp(body)

    def describe(
        self, vector: bytes, table: MissionTable | None, kind: VectorKind | None = None
    ) -> Description:
        """Describe a vector, byte by byte."""
        from plugins.fuzzy.authoring.describe import describe_vector

        return describe_vector(vector, table, kind)

    def describe_match(self, match: Match, table: MissionTable) -> str:
        """Return the degree of a match; it has no detail."""
        return f"degree {match.degree_u8 / 255:.2f}"

    def happened_s(self, notification: bytes) -> int:
        """Return its event time in seconds, modulo 65536."""
        from plugins.stamps import board_event_s

        return board_event_s(notification)

    def loose_matcher(self, table: MissionTable | None, algorithm: str | None, features: str) -> Matcher:
        """Return a matcher by algorithm and feature condition; without a table, vectors are checked
        structurally only.
        """
        from plugins.fuzzy import FEATURE_CONDITIONS
        from plugins.fuzzy.matching.algorithms import ALGORITHMS, DEFAULT_ALGORITHM
        from plugins.matching_choice import known_name

        make = ALGORITHMS[known_name("matcher", algorithm or DEFAULT_ALGORITHM, ALGORITHMS)]
        condition = known_name("condition", features, FEATURE_CONDITIONS)
        return make(table, condition, 1 if table is None else table.feature_bytes)

    def explain(
        self, vector: bytes, table: MissionTable, values: Mapping[str, str], age_s: int
    ) -> "Explanation":
        """Explain the result for these values, by the code that runs on boards."""
        from plugins.fuzzy.authoring.explain import explain_vector

        return explain_vector(vector, table, dict(values), age_s)

    def picture(self, vector: bytes, table: MissionTable, compiled: Compiled | None = None) -> FuzzyPicture:
        """Draw the encoded curves and, after a compilation, the requested ones."""
        from plugins.fuzzy.authoring.compiler import CompiledFuzzy
        from plugins.fuzzy.authoring.picture import panels

        curves = compiled if isinstance(compiled, CompiledFuzzy) else None
        return FuzzyPicture(panels(vector, table, curves))

    def decompile(self, vector: bytes, table: MissionTable) -> str:
        """Return XML that compiles to the same vector."""
        from plugins.fuzzy.authoring.decompile import decompile

        return decompile(vector, table)
