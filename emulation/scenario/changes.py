"""Changes to a scenario's keys from outside of its file: `group[0].count=20`, `radio.handheld.loss=0.1`.

The left side is the path of a key as in problem messages, or with the name of an entry instead of its number
(`group.medics.count=20`). The right side is a TOML value; anything else is taken as a text, so that
`overlay.policy=prophet` needs no quotes. Missing keys and tables are added. The value is checked like
everything else in the file; its problems name the change instead of the file.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from dens.config.problems import DocumentError, did_you_mean, listed
from dens.config.toml_positions import Path, TomlPositions

_STEP: Final = re.compile(r"\.?([A-Za-z0-9_-]+)|\[(\d+)\]")


class Changes:
    """The changes made to a document, by the path of the value that each one set."""

    def __init__(self) -> None:
        self._made: list[tuple[Path, str]] = []

    def make(self, document: dict[str, Any], changes: Iterable[str]) -> None:
        """Change keys of a document read from TOML, or raise `DocumentError`."""
        for change in changes:
            self._made.append((_apply(document, change), change))

    def mark(self, document: Mapping[str, Any], positions: TomlPositions) -> None:
        """Add the keys of changes to the positions, so that problems have their full path."""
        for put, _ in self._made:
            value: Any = document
            for step in put:
                value = value[step]
            for path in paths_in(value, put):
                positions.places.setdefault(path, positions.at(path))

    def behind(self, path: Path) -> str | None:
        """Return the change that set the value at this path (`--set seed=x`), or None if it is in the file.

        Validators add the names of the alternatives that they tried to a path; these are ignored.
        """
        for put, change in reversed(self._made):
            elements = iter(path)
            if all(step in elements for step in put):
                return f"--set {change}"
        return None


def paths_in(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield a path and the paths of everything inside its value."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from paths_in(item, (*path, key))


def what_is_malformed(change: str) -> str | None:
    """Return what is wrong with the syntax of a change, or None."""
    left, separator, _ = change.partition("=")
    steps = steps_of(left.strip())
    if not separator or not steps or isinstance(steps[0], int):
        return "is not of the form path=value, such as group[0].count=20"
    if len(change.splitlines()) > 1:
        return "has more than one line; give --set once for each key"
    return None


def _apply(document: dict[str, Any], change: str) -> Path:
    """Make one change, and return the path of the first new table or key."""
    malformed = what_is_malformed(change)
    if malformed is not None:
        raise _refusal(change, malformed)
    left, _, right = change.partition("=")
    steps = steps_of(left.strip())
    inside: Any = document
    put: Path | None = None
    for index, (step, following) in enumerate(zip(steps, [*steps[1:], None], strict=True)):
        if isinstance(step, int):
            if not isinstance(inside, list) or step >= len(inside):
                amount = len(inside) if isinstance(inside, list) else 0
                raise _refusal(change, f"[{step}] is out of range: the file has {amount} of them")
        elif isinstance(inside, list):
            step = steps[index] = _named(inside, str(steps[index - 1]), step, change)
        elif not isinstance(inside, dict):
            raise _refusal(change, f'"{step}" is not inside a table')
        elif put is None and step not in inside:
            put = tuple(steps[: index + 1])
        if following is None:
            inside[step] = _value(right.strip())
        elif isinstance(step, str):
            inside = inside.setdefault(step, {})
        else:
            inside = inside[step]
    return tuple(steps) if put is None else put


def _named(entries: list[Any], kind: str, name: str, change: str) -> int:
    """Return the index of the entry with this name."""
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    if name in names:
        return names.index(name)
    known = [str(known_name) for known_name in names if known_name is not None]
    if not known:
        raise _refusal(change, f"entries of {kind} have no name; use the number, such as {kind}[0]")
    raise _refusal(change, f'unknown {kind} "{name}"{did_you_mean(name, known)} ({listed(known)})')


def steps_of(path: str) -> list[str | int]:
    """Return the keys and indexes of a path such as `group[0].count`; empty if it is malformed."""
    steps: list[str | int] = []
    position = 0
    while position < len(path):
        found = _STEP.match(path, position)
        if found is None or (position == 0 and path.startswith(".")):
            return []
        steps.append(found[1] if found[1] is not None else int(found[2]))
        position = found.end()
    return steps


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}", parse_float=Decimal)["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text


def _refusal(change: str, reason: str) -> DocumentError:
    return DocumentError.of_file(f"--set {change!r}" if "\n" in change else f"--set {change}", "D302", reason)
