"""Short labels of variants: the settings in which they differ."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

LONGEST_VALUE: Final = 24
"""Longer values are truncated, unless two variants would look alike."""


def variant_labels(variants: Sequence[Mapping[str, Any]], alone: str) -> list[str]:
    """Label each variant by the settings that differ between variants; `alone` if there are none.

    A setting is named by the shortest unique suffix of its path, and not at all if it is the only one.
    Settings that a variant does not change are omitted.
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
    """Return the sorted paths of settings that differ between variants."""
    paths = sorted({path for settings in variants for path in settings})
    nothing = object()
    return [
        path
        for path in paths
        if any(one.get(path, nothing) != variants[0].get(path, nothing) for one in variants)
    ]


def wrap_label(label: str, width: int = 30) -> str:
    """Break a long label for an axis into one setting per line."""
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
