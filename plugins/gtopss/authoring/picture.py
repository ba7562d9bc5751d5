"""Drawings of a pattern: as a tree of text, and as a graph in SVG and in a page."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.authoring import Compiled
from plugins.authoring.output.pages import page_of
from plugins.gtopss.authoring.words import constraint_words, end_words, usual_names
from plugins.gtopss.pattern import Edge, End, Pattern
from plugins.gtopss.vectors import decode_pattern
from watchdog.header import body_of

_COLUMN, _ROW, _HIGH, _MARGIN = 90, 92, 30, 30
_CHARACTER: Final = 6.6
"""Approximate width of a letter."""
_LONGEST: Final = 34


def pattern_picture(vector: bytes, table: MissionTable, compiled: Compiled | None = None) -> "PatternPicture":
    return PatternPicture(decode_pattern(body_of(vector), table.dictionary), table)


@dataclass(frozen=True, slots=True)
class PatternPicture:
    """A pattern; nodes are its variables and constants."""

    pattern: Pattern
    table: MissionTable

    def terminal(self) -> list[str]:
        """Return it as trees of edges; a reversed arrow is an edge to the node above."""
        shown, left = set[End](), list(self.pattern.edges)
        lines: list[str] = []
        for root in _roots(self.pattern):
            if any(root in (edge.subject, edge.object) for edge in left):
                lines += [self._described(root), *self._branches(root, left, shown, "")]
        return lines

    def _branches(self, node: End, left: list[Edge], shown: set[End], indent: str) -> Iterator[str]:
        shown.add(node)
        near = [edge for edge in left if node in (edge.subject, edge.object)]
        left[:] = [edge for edge in left if edge not in near]
        for number, edge in enumerate(near, 1):
            is_back = edge.object == node and edge.subject != node
            other = edge.subject if is_back else edge.object
            name = self.table.dictionary.shortened(edge.property.text)
            arrow = f"←─ {name} ──" if is_back else f"── {name} ─→"
            mark, rest = ("├", "│") if number < len(near) else ("└", " ")
            if other in shown:
                yield f"{indent}{mark}{arrow} {self.name(other)} (above)"
            else:
                yield f"{indent}{mark}{arrow} {self._described(other)}"
                yield from self._branches(other, left, shown, f"{indent}{rest}  ")

    def svg(self) -> str:
        return _Drawing(self).svg()

    def page(self, sentences: list[str], title: str) -> str:
        """Return it as a standalone HTML page, below these sentences."""
        return page_of(title, sentences, self.svg())

    def name(self, node: End) -> str:
        """Return the name of a node, shortened if it is long."""
        text = end_words(node, usual_names(self.pattern), self.table.dictionary)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

    def conditions(self, node: End) -> list[str]:
        """Return the conditions on a node, without its name."""
        names = usual_names(self.pattern)
        found = []
        for one in self.pattern.constraints:
            if not isinstance(node, int) or one.variable != node:
                continue
            words = constraint_words(one, names, self.table.dictionary)
            found.append(words.removeprefix(f"?{names[node]} "))
        return found

    def _described(self, node: End) -> str:
        conditions = self.conditions(node)
        return f"{self.name(node)} [{', '.join(conditions)}]" if conditions else self.name(node)


def _roots(pattern: Pattern) -> list[End]:
    """Return the nodes in the order in which trees begin: those without incoming edges and with the most
    outgoing ones first.
    """
    nodes = list(dict.fromkeys(end for edge in pattern.edges for end in (edge.subject, edge.object)))
    return sorted(nodes, key=lambda node: (_entering(pattern, node) > 0, -_leaving(pattern, node)))


def _entering(pattern: Pattern, node: End) -> int:
    return sum(edge.object == node for edge in pattern.edges if edge.subject != node)


def _leaving(pattern: Pattern, node: End) -> int:
    return sum(edge.subject == node for edge in pattern.edges)


@dataclass(slots=True)
class _Drawing:
    """Places nodes in columns, by their distance from the first, and draws them."""

    picture: PatternPicture
    _places: dict[End, tuple[float, float]] = field(default_factory=dict)
    _widths: dict[End, float] = field(default_factory=dict)

    def svg(self) -> str:
        columns = self._columns()
        for node in (node for column in columns for node in column):
            lines = [self.picture.name(node), *self.picture.conditions(node)]
            self._widths[node] = max(56.0, 18 + _CHARACTER * max(map(len, lines)))
        height = max(map(len, columns)) * _ROW + 2 * _MARGIN
        x = float(_MARGIN)
        gap = _COLUMN + _CHARACTER * max(len(self._said(edge)) for edge in self.picture.pattern.edges)
        for column in columns:
            widest = max(self._widths[node] for node in column)
            step = (height - 2 * _MARGIN) / len(column)
            for row, node in enumerate(column):
                self._places[node] = x + widest / 2, _MARGIN + step * (row + 0.5)
            x += widest + gap
        is_beside = any(
            edge.subject != edge.object and {edge.subject, edge.object} <= set(columns[-1])
            for edge in self.picture.pattern.edges
        )
        width = x + _MARGIN - (0 if is_beside else gap)
        edges = "".join(map(self._edge, range(len(self.picture.pattern.edges))))
        nodes = "".join(map(self._node, self._places))
        arrow = (
            '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="#333"/></marker></defs>'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" font-family="sans-serif" font-size="12">'
            f'<rect width="100%" height="100%" fill="#fff"/>{arrow}{edges}{nodes}</svg>\n'
        )

    def _columns(self) -> list[list[End]]:
        """Return the nodes by the number of edges, in either direction, from the roots of the trees."""
        edges, depth = self.picture.pattern.edges, dict[End, int]()
        for root in _roots(self.picture.pattern):
            if root in depth:
                continue
            depth[root], waiting = 0, [root]
            for node in waiting:
                for edge in edges:
                    for one, other in ((edge.subject, edge.object), (edge.object, edge.subject)):
                        if one == node and other not in depth:
                            depth[other] = depth[node] + 1
                            waiting.append(other)
        return [[node for node in depth if depth[node] == at] for at in range(max(depth.values()) + 1)]

    def _said(self, edge: Edge) -> str:
        return self.picture.table.dictionary.shortened(edge.property.text)

    def _edge(self, number: int) -> str:
        edges = self.picture.pattern.edges
        edge = edges[number]
        (x, y), (to_x, to_y) = self._places[edge.subject], self._places[edge.object]
        if edge.subject == edge.object:
            top = y - _HIGH / 2
            line = f"M{x - 12} {top}C{x - 34} {top - 40} {x + 34} {top - 40} {x + 12} {top}"
            return _arrow(line, x, top - 34, self._said(edge))
        ends = {edge.subject, edge.object}
        before = sum({one.subject, one.object} == ends for one in edges[:number])
        between = sum({one.subject, one.object} == ends for one in edges)
        bend = 34.0 * (before - (between - 1) / 2)
        if x == to_x:
            x += self._widths[edge.subject] / 2
            to_x += self._widths[edge.object] / 2
            out, middle = max(x, to_x), (y + to_y) / 2
            line = f"M{x:.0f} {y:.0f}Q{out + 70 + bend:.0f} {middle:.0f} {to_x:.0f} {to_y:.0f}"
            return _arrow(line, out + 38 + bend / 2, middle, self._said(edge))
        way = 1 if to_x > x else -1
        x += way * self._widths[edge.subject] / 2
        to_x -= way * self._widths[edge.object] / 2
        middle = (x + to_x) / 2
        line = f"M{x:.0f} {y:.0f}Q{middle:.0f} {(y + to_y) / 2 + 2 * bend:.0f} {to_x:.0f} {to_y:.0f}"
        return _arrow(line, middle, (y + to_y) / 2 + bend - 6, self._said(edge))

    def _node(self, node: End) -> str:
        (x, y), width = self._places[node], self._widths[node]
        fill, round_ = ("#eef4fb", _HIGH / 2) if isinstance(node, int) else ("#f4f4f4", 3)
        name = escape(self.picture.name(node))
        parts = [
            f'<rect x="{x - width / 2:.0f}" y="{y - _HIGH / 2:.0f}" width="{width:.0f}" height="{_HIGH}" '
            f'rx="{round_:g}" fill="{fill}" stroke="#333"/>',
            f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle">{name}</text>',
        ]
        for number, words in enumerate(self.picture.conditions(node)):
            at = y + _HIGH / 2 + 14 * (number + 1)
            parts.append(
                f'<text x="{x:.0f}" y="{at:.0f}" text-anchor="middle" fill="#275d94">{escape(words)}</text>'
            )
        return "".join(parts)


def _arrow(line: str, x: float, y: float, words: str) -> str:
    return (
        f'<path d="{line}" fill="none" stroke="#333" marker-end="url(#arrow)"/>'
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" stroke="#fff" stroke-width="4" '
        f'paint-order="stroke">{escape(words)}</text>'
    )
