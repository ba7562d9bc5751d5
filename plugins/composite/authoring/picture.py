"""Drawings of machines: as text, as SVG, as a page. Children come first, the master last."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from plugins.authoring.output.pages import page_of
from plugins.composite.search.machines import Drawn, Link

_STEP, _RADIUS, _ROW, _MARGIN, _BRANCH = 150, 26, 170, 40, 80
_CHARACTER: Final = 6.4
"""Approximate width of a letter."""


@dataclass(frozen=True, slots=True)
class MachinesPicture:
    machines: Sequence[Drawn]

    def terminal(self) -> list[str]:
        """Return them as text, one line each."""
        return [line for machine in self.machines for line in _line(machine)]

    def svg(self) -> str:
        rows = [_row(machine) for machine in self.machines]
        width = max(width for width, _, _ in rows) + 2 * _MARGIN
        body, top = "", 90
        for _, height_of_row, inside in rows:
            body += f'<g transform="translate({_MARGIN} {top})">{inside}</g>'
            top += height_of_row
        height = top - 90 + _MARGIN
        arrow = (
            '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="#333"/></marker></defs>'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
            f'width="{width:.0f}" height="{height}" font-family="sans-serif" font-size="12">'
            f'<rect width="100%" height="100%" fill="#fff"/>{arrow}{body}</svg>\n'
        )

    def page(self, sentences: list[str], title: str) -> str:
        """Return them as an HTML page, below these sentences."""
        return page_of(title, sentences, self.svg())


def _line(machine: Drawn) -> list[str]:
    head = f"{machine.name}{' (master)' if machine.is_master else ''}: {machine.stands_for}"
    if machine.kind == "Boolean":
        return [f"{head}  [Boolean machine]"]
    loops = {link.source for link in machine.links if link.source == link.target}
    moves = {link.source: link for link in machine.links if link.source != link.target}
    text = ""
    for name, _ in machine.states:
        text += f"({name}{'*' if name in loops else ''})"
        if name in moves:
            text += f" --{moves[name].label}--> "
    return [f"{head}  [state machine; * has a loop]", f"  {text}"]


def _placed(machine: Drawn, step: float) -> dict[str, tuple[float, float]]:
    """Return the positions of states: each behind its predecessor, branches below each other."""
    followers: dict[str, list[str]] = {}
    for link in machine.links:
        if link.source != link.target:
            followers.setdefault(link.source, []).append(link.target)
    places: dict[str, tuple[float, float]] = {}
    lowest = 0.0

    def place(name: str, depth: int, y: float) -> None:
        nonlocal lowest
        places[name] = depth * step, y
        for number, follower in enumerate(followers.get(name, [])):
            lowest += _BRANCH if number else 0
            place(follower, depth + 1, lowest if number else y)

    place(machine.states[0][0], 0, 0.0)
    return places


def _row(machine: Drawn) -> tuple[float, int, str]:
    """Return the width, the height and the drawing of a machine."""
    label = f"{machine.name}{' (master)' if machine.is_master else ''}: {machine.stands_for}"
    parts = [f'<text x="0" y="-66" font-weight="bold">{escape(label)}</text>']
    longest = max((len(link.label) for link in machine.links), default=0)
    step = max(_STEP, 2 * _RADIUS + 30 + _CHARACTER * longest)
    if machine.kind == "Boolean":
        places = {name: (number * step, 0.0) for number, (name, _) in enumerate(machine.states[1:])}
        name = machine.states[0][0]
        places[name] = ((len(machine.states) - 1) * step, 0.0)
        parts += [_curved(places[link.source], places[link.target]) for link in machine.links]
    else:
        places = _placed(machine, step)
        parts += [_link(link, places) for link in machine.links]
    moving = {link.source for link in machine.links if link.source != link.target}
    for name, matched in machine.states:
        x, y = places[name]
        is_last = name not in moving and machine.kind == "state"
        parts.append(f'<circle cx="{x}" cy="{y}" r="{_RADIUS}" fill="#fff" stroke="#333"/>')
        if is_last:
            parts.append(f'<circle cx="{x}" cy="{y}" r="{_RADIUS - 4}" fill="none" stroke="#333"/>')
        parts.append(f'<text x="{x}" y="{y + 4}" text-anchor="middle">{escape(name)}</text>')
        if matched and machine.kind == "state":
            below = f"({matched})" if len(matched) <= step / _CHARACTER else f"(…{matched[-int(step / 8) :]})"
            at = f'x="{x}" y="{y + _RADIUS + 16}"'
            parts.append(f'<text {at} text-anchor="middle" fill="#555">{escape(below)}</text>')
    width = max(len(machine.states) * step, _CHARACTER * len(label))
    height = _ROW + int(max(y for _, y in places.values()))
    return width, height, f'<g transform="translate({_RADIUS} 0)">{"".join(parts)}</g>'


def _link(link: Link, places: dict[str, tuple[float, float]]) -> str:
    (x, y), (to_x, to_y) = places[link.source], places[link.target]
    if link.source == link.target:
        loop = f"M{x - 10} {y - _RADIUS + 3}C{x - 30} {y - 62} {x + 30} {y - 62} {x + 10} {y - _RADIUS + 3}"
        label = f'<text x="{x + 22}" y="{y - 42}" text-anchor="middle">{escape(link.label)}</text>'
        return f'<path d="{loop}" fill="none" stroke="#333" marker-end="url(#arrow)"/>{label}'
    middle = (x + to_x) / 2
    ends = f'x1="{x + _RADIUS}" y1="{y}" x2="{to_x - _RADIUS}" y2="{to_y}"'
    label = f'<text x="{middle}" y="{(y + to_y) / 2 - 8}" text-anchor="middle">{escape(link.label)}</text>'
    return f'<line {ends} stroke="#333" marker-end="url(#arrow)"/>{label}'


def _curved(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x, y), (to_x, to_y) = start, end
    return (
        f'<path d="M{x} {y + _RADIUS}Q{(x + to_x) / 2} {y + 70} {to_x} {to_y + _RADIUS}" fill="none" '
        'stroke="#333" marker-end="url(#arrow)"/>'
    )
