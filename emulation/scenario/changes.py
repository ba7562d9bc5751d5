"""Changes to a scenario's keys from outside of its file: `group[0].count=20`, `radio.handheld.loss=0.1`.

The left side is the path of a key as problems show it, or with the name of an entry in the place of its
number (`group.medics.count=20`), the right side a value as it stands in TOML; a right side that is no TOML
value is taken as a text, so `overlay.policy=prophet` needs no quotes. A key that the
file leaves out is added; a table on the way to it is made. What the value means is checked like everything
else in the file; what is wrong with it is told of the change, not of the file.
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
    """The changes that were made to a document, by the path of what each one put there."""

    def __init__(self) -> None:
        self._made: list[tuple[Path, str]] = []

    def make(self, document: dict[str, Any], changes: Iterable[str]) -> None:
        """Change keys of a document that was read from TOML; a change that cannot be raises
        `DocumentError`."""
        for change in changes:
            self._made.append((_apply(document, change), change))

    def mark(self, document: Mapping[str, Any], positions: TomlPositions) -> None:
        """Let the positions know the keys that changes put there, so that problems name them whole."""
        for put, _ in self._made:
            value: Any = document
            for step in put:
                value = value[step]
            for path in paths_in(value, put):
                positions.places.setdefault(path, positions.at(path))

    def behind(self, path: Path) -> str | None:
        """Return where what stands at this path comes from: `--set seed=x`, or None for the file.

        Validators put the names of alternatives that they tried into a path; those are passed over.
        """
        for put, change in reversed(self._made):
            elements = iter(path)
            if all(step in elements for step in put):
                return f"--set {change}"
        return None


def paths_in(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield a path and the paths of everything inside the value that stands there."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield from paths_in(one, (*path, key))


def what_is_malformed(change: str) -> str | None:
    """Return what is wrong with the form of a change, whatever it is made to, or None."""
    left, found, _ = change.partition("=")
    steps = steps_of(left.strip())
    if not found or not steps or isinstance(steps[0], int):
        return "is not of the form path=value, such as group[0].count=20"
    if len(change.splitlines()) > 1:
        return "has more than one line; give --set once for each key"
    return None


def _apply(document: dict[str, Any], change: str) -> Path:
    """Make one change, and return the path of the first table or key that was not there before."""
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
                raise _refusal(change, f"there is no [{step}] of {amount} in the file")
        elif isinstance(inside, list):
            step = steps[index] = _named(inside, str(steps[index - 1]), step, change)
        elif not isinstance(inside, dict):
            raise _refusal(change, f'"{step}" is no key of a table')
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
    """Return which of the entries has this name."""
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    if name in names:
        return names.index(name)
    known = [str(one) for one in names if one is not None]
    if not known:
        raise _refusal(change, f"a {kind} has no name; say which by its number, such as {kind}[0]")
    raise _refusal(change, f'there is no {kind} "{name}"{did_you_mean(name, known)} ({listed(known)})')


def steps_of(path: str) -> list[str | int]:
    """Return the keys and places that a path such as `group[0].count` names, none if it is malformed."""
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
