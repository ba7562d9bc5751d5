"""Explains why a publication matches a pattern or not, edge by edge."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dens.config.refusal import Refusal
from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.authoring.words import constraint_words, edge_words, term_words, usual_names
from plugins.gtopss.match import (
    MOST_BINDINGS,
    MOST_WORK,
    Bindings,
    Verdict,
    bindings,
    first_candidates,
    judge,
)
from plugins.gtopss.pattern import Code, Pattern
from plugins.gtopss.statements import Statements
from plugins.gtopss.vectors import decode_pattern, decode_publication
from watchdog.header import body_of

SHOWN_NODES = 4


@dataclass(frozen=True, slots=True)
class ExplainedPart:
    """An edge or a constraint, and the number of statements or nodes that satisfy it alone; None without a
    publication.
    """

    words: str
    found: int | None
    examples: tuple[str, ...] = ()

    def line(self) -> str:
        if self.found is None:
            return f"  ?  {self.words}"
        examples = ", ".join(self.examples) + (", …" if self.found > len(self.examples) else "")
        return (
            f"  +  {self.words}: {self.found} ({examples})" if self.found else f"  -  {self.words}: no match"
        )


@dataclass(frozen=True, slots=True)
class ExplainedPattern:
    """All parts, the result, and the bindings."""

    parts: tuple[ExplainedPart, ...]
    verdict: Verdict | None = None
    reason: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, ...] = ()
    has_more: bool = False

    def lines(self) -> list[str]:
        found = [part.line() for part in self.parts]
        if self.verdict is None:
            return found
        if self.verdict is Verdict.MATCHED:
            found.append("matches" if self.names else "matches: every edge is present")
            for row in self.rows:
                found.append(
                    "  " + ", ".join(f"?{name} = {node}" for name, node in zip(self.names, row, strict=True))
                )
            return [*found, f"  … more than {MOST_BINDINGS} bindings"] if self.has_more else found
        return [*found, f"{self.verdict.value}: {self.reason}"]

    def as_document(self) -> dict[str, Any]:
        return {
            "parts": [
                {"words": part.words, "found": part.found, "examples": list(part.examples)}
                for part in self.parts
            ],
            "verdict": None if self.verdict is None else self.verdict.value,
            "matches": None if self.verdict is None else self.verdict is not Verdict.NOT,
            "reason": self.reason,
            "bindings": [dict(zip(self.names, row, strict=True)) for row in self.rows],
            "has_more": self.has_more,
        }


def explain_pattern(
    vector: bytes, table: MissionTable, values: Mapping[str, str], age_s: int
) -> ExplainedPattern:
    """Return the parts of a pattern. Values of readings do not apply to it."""
    if values:
        raise Refusal("a pattern is evaluated for a publication; use --publication FILE instead of --value")
    pattern = decode_pattern(body_of(vector), table.dictionary)
    names = usual_names(pattern)
    words = [edge_words(edge, names, table.dictionary) for edge in pattern.edges]
    words += [f"where {constraint_words(one, names, table.dictionary)}" for one in pattern.constraints]
    return ExplainedPattern(tuple(ExplainedPart(one, None) for one in words))


def explain_publication(vector: bytes, table: MissionTable, notification: bytes) -> ExplainedPattern:
    """Explain the result for a publication."""
    pattern = decode_pattern(body_of(vector), table.dictionary)
    statements = Statements.of(decode_publication(notification, table.dictionary), table.taxonomy)
    return _Explainer(pattern, statements, table).explained()


def bindings_in_words(body: bytes, notification: bytes, table: MissionTable) -> str:
    """Return the nodes of a pattern's variables in a publication: the first binding, and the number of
    others.
    """
    pattern = decode_pattern(body, table.dictionary)
    statements = Statements.of(decode_publication(notification, table.dictionary), table.taxonomy)
    found = bindings(pattern, statements)
    if not found.rows or not pattern.variables:
        return ""
    nodes = [term_words(node, table.dictionary) for node in found.rows[0]]
    bound = ", ".join(f"?{name} = {node}" for name, node in zip(usual_names(pattern), nodes, strict=True))
    more = f"{'more than ' if found.has_more else ''}{len(found.rows) - 1} more"
    return bound if len(found.rows) == 1 else f"{bound}; {more}"


class _Explainer:
    def __init__(self, pattern: Pattern, statements: Statements, table: MissionTable) -> None:
        self._pattern = pattern
        self._statements = statements
        self._table = table
        self._names = usual_names(pattern)

    def explained(self) -> ExplainedPattern:
        parts = (*map(self._edge, range(len(self._pattern.edges))), *self._constraints())
        verdict = judge(self._pattern, self._statements)
        found = bindings(self._pattern, self._statements)
        reason = "" if verdict is Verdict.MATCHED else self._reason(verdict, parts)
        return ExplainedPattern(parts, verdict, reason, self._rows(found), tuple(self._names), found.has_more)

    def _rows(self, found: Bindings) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(term_words(node, self._table.dictionary) for node in row) for row in found.rows)

    def _edge(self, number: int) -> ExplainedPart:
        """Return the number of statements that an edge matches by itself."""
        edge = self._pattern.edges[number]
        ends = [
            None if isinstance(end, int) else self._statements.number_of.get(end, -1)
            for end in (edge.subject, edge.object)
        ]
        is_loop = isinstance(edge.subject, int) and edge.subject == edge.object
        pairs = [
            pair
            for pair in sorted(self._statements.by_property.get(edge.property, ()))
            if all(end in (None, node) for end, node in zip(ends, pair, strict=True))
            and (not is_loop or pair[0] == pair[1])
        ]
        words = edge_words(edge, self._names, self._table.dictionary)
        return ExplainedPart(words, len(pairs), tuple(self._shown(pair) for pair in pairs[:SHOWN_NODES]))

    def _shown(self, pair: tuple[int, int]) -> str:
        one, other = (term_words(self._statements.nodes[node], self._table.dictionary) for node in pair)
        return f"{one} → {other}"

    def _constraints(self) -> list[ExplainedPart]:
        """Return, for each constraint, the number of nodes that satisfy it among those that the edges of its
        variable leave.
        """
        bare = replace(self._pattern, constraints=())
        candidates = first_candidates(bare, self._statements)
        found = []
        for one in self._pattern.constraints:
            words = f"where {constraint_words(one, self._names, self._table.dictionary)}"
            if candidates is None or one.code is Code.DIFFERS:
                found.append(ExplainedPart(words, None))
                continue
            nodes = sorted(self._statements.passing(one, candidates[one.variable]))
            shown = [term_words(self._statements.nodes[node], self._table.dictionary) for node in nodes]
            found.append(ExplainedPart(words, len(nodes), tuple(shown[:SHOWN_NODES])))
        return found

    def _reason(self, verdict: Verdict, parts: tuple[ExplainedPart, ...]) -> str:
        if verdict is Verdict.UNDECIDED:
            limit = f"more than {MOST_WORK:,} units of work"
            return f"its rings need {limit}, so it counts as matched with the lowest degree"
        failing = [part.words for part in parts if part.found == 0]
        if failing:
            return f"no match for {failing[0]}"
        return self._join()

    def _join(self) -> str:
        """Return the first part that has no common nodes with those before it."""
        kept: list[Any] = []
        for edge in self._pattern.edges:
            kept.append(edge)
            part = Pattern(self._pattern.variables, tuple(kept))
            if judge(part, self._statements) is Verdict.NOT:
                words = edge_words(edge, self._names, self._table.dictionary)
                return f"{words} shares no node with the edges before"
        for number in range(len(self._pattern.constraints)):
            part = Pattern(self._pattern.variables, tuple(kept), self._pattern.constraints[: number + 1])
            if judge(part, self._statements) is Verdict.NOT:
                one = self._pattern.constraints[number]
                words = constraint_words(one, self._names, self._table.dictionary)
                return f"{words} fails for all nodes that satisfy the edges"
        return "its rings do not close"
