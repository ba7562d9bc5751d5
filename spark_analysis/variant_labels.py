"""What variants are called where there is little room: by the settings in which they differ, and no more."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

LONGEST_VALUE: Final = 24
"""A value that is longer is cut, unless that would make two variants look alike."""


def variant_labels(variants: Sequence[Mapping[str, Any]], alone: str) -> list[str]:
    """Name each variant by the settings that are not the same in all; where there is none, `alone`.

    A setting goes by the last parts of its path that no other differing one ends in, and by nothing where it
    is the only one. One that a variant leaves as the scenario has it is left out.
    """
    paths = differing(variants)
    names = [""] if len(paths) == 1 else _short_names(paths)
    for longest in (LONGEST_VALUE, None):
        labels = [
            ", ".join(
                f"{name} {_value(one[path], longest)}".strip()
                for name, path in zip(names, paths, strict=True)
                if path in one
            )
            or alone
            for one in variants
        ]
        if len(set(labels)) == len({json.dumps(one, sort_keys=True, default=str) for one in variants}):
            break
    return labels


def differing(variants: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the paths of settings in which not all agree, in order."""
    paths = sorted({path for settings in variants for path in settings})
    nothing = object()
    return [
        path
        for path in paths
        if any(one.get(path, nothing) != variants[0].get(path, nothing) for one in variants)
    ]


def in_lines(label: str, width: int = 30) -> str:
    """Return a label for an axis, where there is room downwards only: if it is too long, a setting a line."""
    if len(label) <= width:
        return label
    return "\n".join(
        line
        for setting in label.replace(", ", ",\n").split("\n")
        for line in textwrap.wrap(setting, width, break_on_hyphens=False)
    )


def _short_names(paths: Sequence[str]) -> list[str]:
    parts = [path.split(".") for path in paths]

    def ending(of: list[str], length: int) -> list[str]:
        return of[-length:]

    found = []
    for own in parts:
        length = next(
            n
            for n in range(1, len(own) + 1)
            if n == len(own) or sum(ending(other, n) == ending(own, n) for other in parts) == 1
        )
        found.append(".".join(ending(own, length)))
    return found


def _value(value: Any, longest: int | None) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"
