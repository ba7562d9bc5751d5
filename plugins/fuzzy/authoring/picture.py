"""Drawings of requested and encoded curves, with the deviation shaded: as SVG, as a page, and as text."""

from dataclasses import dataclass
from html import escape

from knowledge_manager.mission_table import MissionTable
from plugins.authoring.output.byte_words import Names, value_words
from plugins.authoring.output.pages import page_of
from plugins.board_vectors import subscription_body
from plugins.curves import Curve, degrees
from plugins.fuzzy.authoring.compiler.compile import CompiledFuzzy
from plugins.fuzzy.authoring.compiler.constraint_specs import Crisp, Exact
from plugins.fuzzy.authoring.compiler.constraints import Constraint
from plugins.fuzzy.codec import FuzzyCodec

_WIDTH, _HEIGHT, _MARGIN = 510, 130, 40
_BARS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One attribute's curves over the bytes 0..255; `wanted` is None if only the vector is known."""

    title: str
    low: str
    high: str
    encoded: Curve
    wanted: Curve | None
    note: str


def panels(vector: bytes, table: MissionTable, compiled: CompiledFuzzy | None = None) -> list[Panel]:
    """Return one panel per constraint of the vector, with the requested curves after a compilation."""
    parts = FuzzyCodec(table).subscription(subscription_body(vector))
    names = Names(table, table.feature_bytes)
    made = []
    for rank, (index, triple) in enumerate(zip(parts.attributes, parts.constraints, strict=True)):
        attribute = names.attribute_of(parts.event, index)
        constraint = compiled.constraints[rank] if compiled is not None else None
        ends = [value_words(byte, attribute, age=names.is_age(index)) for byte in (0, 255)]
        if attribute is not None and attribute.type == "nominal":
            ends = ["0", "255"]
        made.append(
            Panel(
                title=names.attribute(parts.event, index),
                low=ends[0],
                high=ends[1],
                encoded=degrees(*triple),
                wanted=constraint.wanted if constraint is not None else None,
                note=_note(constraint),
            )
        )
    return made


def _note(constraint: Constraint | None) -> str:
    """Return the deviation of the bytes from the request: crisp sets as text, curves as a number."""
    if constraint is None:
        return ""
    shape = constraint.spec.shape
    if constraint.shift is not None:
        return constraint.shift.words
    if isinstance(shape, Exact) and shape.meaning:
        return shape.meaning
    return "exact" if isinstance(shape, Exact | Crisp) else f"deviation {constraint.deviation:.3f}"


def svg(found: list[Panel]) -> str:
    """Return one SVG with all panels: requested dashed, encoded solid, deviation shaded."""
    step = _HEIGHT + 2 * _MARGIN
    height = step * len(found)
    body = "".join(_svg_panel(panel, number * step + _MARGIN) for number, panel in enumerate(found))
    width = _WIDTH + 2 * _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">{body}</svg>\n'
    )


def page(found: list[Panel], sentences: list[str], title: str) -> str:
    """Return a standalone HTML page with the sentences and the drawing."""
    return page_of(title, sentences, svg(found))


def terminal(found: list[Panel], columns: int = 64) -> list[str]:
    """Return lines of block characters: the encoded curve, and the requested one if it is known."""
    lines = []
    for panel in found:
        lines.append(f"{panel.title}  ({panel.note})" if panel.note else panel.title)
        if panel.wanted is not None:
            lines.append(f"  wanted  |{_bar(panel.wanted, columns)}|")
        lines.append(f"  encoded |{_bar(panel.encoded, columns)}|")
        lines.append(f"           {panel.low:<{columns - len(panel.high)}}{panel.high}")
    return lines


def _bar(curve: Curve, columns: int) -> str:
    """Return one character per column: the highest degree among its bytes, so that no peak is lost."""
    cells = (
        curve[column * 256 // columns : (column + 1) * 256 // columns].max() for column in range(columns)
    )
    return "".join(_BARS[round(cell * (len(_BARS) - 1))] for cell in cells)


def _svg_panel(panel: Panel, top: float) -> str:
    bottom = top + _HEIGHT
    right = _MARGIN + _WIDTH
    note = f" — {panel.note}" if panel.note else ""
    parts = [
        f'<text x="{_MARGIN}" y="{top - 8}">{escape(panel.title + note)}</text>',
        f'<rect x="{_MARGIN}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#999"/>',
        f'<text x="{_MARGIN}" y="{bottom + 16}">{escape(panel.low)}</text>',
        f'<text x="{right}" y="{bottom + 16}" text-anchor="end">{escape(panel.high)}</text>',
    ]
    encoded = _points(panel.encoded, top)
    if panel.wanted is not None:
        wanted = _points(panel.wanted, top)
        outline = " ".join([*encoded, *reversed(wanted)])
        parts.append(f'<polygon points="{outline}" fill="#d33" fill-opacity="0.3"/>')
        dashed = 'fill="none" stroke="#36c" stroke-dasharray="4 3"'
        parts.append(f'<polyline points="{" ".join(wanted)}" {dashed}/>')
    parts.append(f'<polyline points="{" ".join(encoded)}" fill="none" stroke="#111" stroke-width="1.5"/>')
    return "".join(parts)


def _points(curve: Curve, top: float) -> list[str]:
    return [
        f"{_MARGIN + 2 * byte},{top + _HEIGHT * (1 - degree):.1f}"
        for byte, degree in enumerate(curve.tolist())
    ]
