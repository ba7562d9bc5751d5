"""Drawings of predicates and values over one axis: as text, as SVG, as a page."""

from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Final

from knowledge_manager.vocabulary.event_class import Attribute
from plugins.atopss.authoring.words import corner_words
from plugins.atopss.shapes.degrees import judged
from plugins.atopss.shapes.scale import INFINITE, TOP
from plugins.atopss.shapes.shapes import Shape, interval
from plugins.atopss.subscriptions import Predicate
from plugins.authoring.output.pages import page_of

_BARS: Final = " ▁▂▃▄▅▆▇█"
_COLUMNS: Final = 64
_WIDTH, _HEIGHT, _MARGIN = 510, 130, 40


@dataclass(frozen=True, slots=True)
class Panel:
    """One predicate over a part of its axis, and the value if there is one."""

    title: str
    predicate: Predicate
    value: Shape | None
    low: int
    high: int
    attribute: Attribute | None

    @classmethod
    def of(
        cls, title: str, predicate: Predicate, value: Shape | None, attribute: Attribute | None
    ) -> "Panel":
        """Return the panel over the domain, or over the span of the corners without one."""
        if attribute is not None:
            return cls(title, predicate, value, 0, attribute.hi_scaled - attribute.lo_scaled, attribute)
        shapes = [predicate.shape, *([] if value is None else [value])]
        ends = [corner for one in shapes for corner in (one.m1, one.m2, one.m3, one.m4)]
        finite = [corner for corner in ends if abs(corner) != INFINITE] or [0]
        spare = max(1, (max(finite) - min(finite)) // 4)
        return cls(title, predicate, value, min(finite) - spare, max(finite) + spare, None)

    def wanted(self, columns: int) -> list[int]:
        """Return the highest degree of the predicate in each of `columns` parts of the axis."""
        complement = self.predicate.complement
        return [
            judged(self.predicate.shape, piece, complement=complement)[0] for piece in self._pieces(columns)
        ]

    def known(self, columns: int) -> list[int]:
        """Return the highest possibility of the value in each of `columns` parts."""
        value = self.value
        return [] if value is None else [judged(value, piece)[0] for piece in self._pieces(columns)]

    @property
    def ends(self) -> tuple[str, str]:
        """Return the labels of both ends of the axis."""
        return corner_words(self.low, self.attribute), corner_words(self.high, self.attribute)

    def _pieces(self, columns: int) -> list[Shape]:
        length = self.high - self.low + 1
        borders = [self.low + length * at // columns for at in range(columns + 1)]
        return [interval(low, max(low, high - 1)) for low, high in pairwise(borders)]


def bars(degrees: list[int]) -> str:
    """Return one character per degree."""
    return "".join(_BARS[-(-degree * (len(_BARS) - 1) // TOP)] for degree in degrees)


def panel_lines(panel: Panel) -> list[str]:
    low, high = panel.ends
    lines = [f"  wanted |{bars(panel.wanted(_COLUMNS))}|"]
    if panel.value is not None:
        lines.append(f"  known  |{bars(panel.known(_COLUMNS))}|")
    return [*lines, f"          {low:<{_COLUMNS - len(high)}}{high}"]


class ApproximatePicture:
    """The predicates of a subscription, one panel each."""

    def __init__(self, panels: list[Panel]) -> None:
        self._panels = panels

    def terminal(self) -> list[str]:
        return [line for panel in self._panels for line in (panel.title, *panel_lines(panel))]

    def svg(self) -> str:
        """Return them as an SVG document: predicates solid, values dashed."""
        step = _HEIGHT + 2 * _MARGIN
        body = "".join(_svg(panel, at * step + _MARGIN) for at, panel in enumerate(self._panels))
        width, height = _WIDTH + 2 * _MARGIN, step * len(self._panels)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">{body}</svg>\n'
        )

    def page(self, sentences: list[str], title: str) -> str:
        """Return them as an HTML page, below these sentences."""
        return page_of(title, sentences, self.svg())


def _svg(panel: Panel, top: float) -> str:
    bottom, right = top + _HEIGHT, _MARGIN + _WIDTH
    low, high = panel.ends
    parts = [
        f'<text x="{_MARGIN}" y="{top - 8}">{escape(panel.title)}</text>',
        f'<rect x="{_MARGIN}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#999"/>',
        f'<text x="{_MARGIN}" y="{bottom + 16}">{escape(low)}</text>',
        f'<text x="{right}" y="{bottom + 16}" text-anchor="end">{escape(high)}</text>',
        f'<polyline points="{_points(panel.wanted(256), top)}" fill="none" stroke="#111"/>',
    ]
    if panel.value is not None:
        dashed = 'fill="none" stroke="#36c" stroke-dasharray="4 3"'
        parts.append(f'<polyline points="{_points(panel.known(256), top)}" {dashed}/>')
    return "".join(parts)


def _points(degrees: list[int], top: float) -> str:
    return " ".join(
        f"{_MARGIN + 2 * at},{top + _HEIGHT * (1 - degree / TOP):.1f}" for at, degree in enumerate(degrees)
    )
