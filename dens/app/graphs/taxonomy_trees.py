"""Draws a taxonomy as trees of text."""

from typing import Final

from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import last_part

_WITHIN: Final = {"no": ("no", "nb", "nn")}
"""Languages that include others."""


def tree_lines(found: Taxonomy, language: str | None) -> list[str]:
    """Return the classes as indented lines. A class with several parents appears below each of them; its
    children appear once, below the first.
    """
    children: dict[str, list[str]] = {}
    for one, above in sorted(found.parents.items()):
        for parent in above:
            children.setdefault(parent, []).append(one)
    lines: list[str] = []
    drawn: set[str] = set()
    waiting = [(one, 0) for one in sorted(found.parents, reverse=True) if not found.parents[one]]
    while waiting:
        one, depth = waiting.pop()
        words = [
            label.text
            for label in found.labels.get(one, ())
            if language is None or label.language.partition("-")[0] in _WITHIN.get(language, (language,))
        ]
        again = " …" if one in drawn and one in children else ""
        labels = f"  ({', '.join(words)})" if words else ""
        lines.append(f"{'  ' * depth}{last_part(one)}{labels}{again}")
        if one not in drawn:
            waiting += [(child, depth + 1) for child in reversed(children.get(one, ()))]
        drawn.add(one)
    return lines
