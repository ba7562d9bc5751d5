"""Where in a TOML file each key stands.

`tomllib` returns values without places. This scanner walks over text that `tomllib` has already accepted, so
it need not judge anything: it only notes for every key path (`("event", 0, "attribute", 2, "unit")`, arrays
and arrays of tables counted from 0, inline tables included) the line and column where that key, element or
table header begins.
"""

import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from dens.config.problems import Fix, Problem, Severity, TextSpan
from dens.config.reading import place_of

Path = tuple[str | int, ...]

Found = TypeVar("Found")

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = " \t"
_GAP = " \t\r\n"


@dataclass(slots=True)
class TomlPositions:
    """Line and column by key path, and where in the text keys and values begin and end."""

    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    text: str = ""
    keys: dict[Path, tuple[int, int] | None] = field(default_factory=dict)
    """The last name of a path as it is written; None where it is written more than once."""
    values: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def at(self, path: Path) -> tuple[int, int]:
        """Return the place of the path, or of the nearest enclosing key that is written down."""
        for length in range(len(path), 0, -1):
            place = self.places.get(path[:length])
            if place is not None:
                return place
        return 1, 1

    def rename(self, old: Path, new: Path) -> None:
        """Find what stands under one path under another from now on."""
        _rename(self.places, old, new)
        _rename(self.keys, old, new)
        _rename(self.values, old, new)

    def problem(
        self,
        file: str,
        path: Path,
        code: str,
        message: str,
        severity: Severity = "error",
        *,
        meant: Iterable[str] = (),
        is_key: bool = False,
    ) -> Problem:
        """Return a problem at the place of this path; `meant` is what may be written in the place of its
        string, or with `is_key` in that of its own name."""
        fixes = self.renamed(path, meant) if is_key else self.replaced(path, meant)
        return Problem(file, *self.at(path), severity, code, message, self.span(path), fixes)

    def span(self, path: Path) -> TextSpan | None:
        """Return the text of what stands at `at(path)`: a key with its value, an element, a table's name."""
        known = self.known_part(path)
        end = self.values.get(known) or self.keys.get(known)
        if known not in self.places or end is None:
            return None
        return TextSpan(*self.places[known], *place_of(self.text, end[1]))

    def renamed(self, path: Path, names: Iterable[str]) -> tuple[Fix, ...]:
        """Return what gives the key at this path another of these names; nothing where one stands there
        already."""
        written = self.keys.get(path)
        if written is None:
            return ()
        free = [name for name in names if (*path[:-1], name) not in self.places]
        return tuple(self._fix(written, name if _BARE.fullmatch(name) else _quoted(name)) for name in free)

    def replaced(self, path: Path, texts: Iterable[str]) -> tuple[Fix, ...]:
        """Return fixes that replace the string at this path; none if the value is not a string."""
        written = self.values.get(path)
        if written is None or self.text[written[0]] not in "\"'":
            return ()
        return tuple(self._fix(written, _quoted(text)) for text in texts)

    def _fix(self, written: tuple[int, int], text: str) -> Fix:
        span = TextSpan(*place_of(self.text, written[0]), *place_of(self.text, written[1]))
        return Fix(f"write {text}", text, span)

    def known_part(self, path: Path) -> Path:
        """Return the path without the elements that name nothing in the file.

        Validators put the names of alternatives they tried between the keys; those are left out, and so is a
        key that is missing from the file.
        """
        known: Path = ()
        for element in path:
            if (*known, element) in self.places:
                known = (*known, element)
        return known


def _rename(by_path: dict[Path, Found], old: Path, new: Path) -> None:
    length = len(old)
    moved = {path: found for path, found in by_path.items() if path[:length] == old}
    for path, found in moved.items():
        del by_path[path]
        by_path[(*new, *path[length:])] = found


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def locate(text: str) -> TomlPositions:
    """Return the place of every key of a TOML document that `tomllib` accepts."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.index = 0
        self.found = TomlPositions(text=text)
        self.names: list[tuple[int, int]] = []
        """Where the names of the last dotted key are written."""
        self.array_lengths: dict[Path, int] = {}

    def scan(self) -> TomlPositions:
        table: Path = ()
        while self._skip_gaps():
            start = self.index
            if self.text.startswith("[[", start):
                self.index += 2
                table = self._array_of_tables_header(start)
            elif self.text[start] == "[":
                self.index += 1
                names = self._dotted_key()
                table = self._resolve(names)
                self._note(table, start)
                self._note_keys([self._resolve(names[: n + 1]) for n in range(len(names))])
                self._skip_line()
            else:
                self._assignment(table)
        return self.found

    def _array_of_tables_header(self, start: int) -> Path:
        names = self._dotted_key()
        array = (*self._resolve(names[:-1]), names[-1])
        position = self.array_lengths.get(array, 0)
        self.array_lengths[array] = position + 1
        self._note(array, start)
        self._note_keys([*(self._resolve(names[: n + 1]) for n in range(len(names) - 1)), array])
        element = (*array, position)
        self._note(element, start)
        self._skip_line()
        return element

    def _resolve(self, names: list[str]) -> Path:
        """Turn the names of a header into a path: a name of an array of tables means its last element."""
        path: Path = ()
        for name in names:
            path = (*path, name)
            if path in self.array_lengths:
                path = (*path, self.array_lengths[path] - 1)
        return path

    def _note(self, path: Path, index: int) -> None:
        place = place_of(self.text, index)
        for length in range(1, len(path) + 1):
            self.found.places.setdefault(path[:length], place)

    def _assignment(self, table: Path) -> None:
        start = self.index
        names = self._dotted_key()
        path = (*table, *names)
        self._note(path, start)
        self._note_keys([(*table, *names[: n + 1]) for n in range(len(names))])
        self.index = self.text.index("=", self.index) + 1
        self._value(path)

    def _note_keys(self, paths: list[Path]) -> None:
        for path, written in zip(paths, self.names, strict=True):
            self.found.keys[path] = None if path in self.found.keys else written

    def _value(self, path: Path) -> None:
        self._skip_gaps()
        start = self.index
        self._skip_value(path)
        self.found.values[path] = (start, start + len(self.text[start : self.index].rstrip()))

    def _skip_value(self, path: Path) -> None:
        text, start = self.text, self.index
        if text[start] == "[":
            self._array(path)
        elif text[start] == "{":
            self._inline_table(path)
        elif text.startswith(('"""', "'''"), start):
            self._long_string(text[start : start + 3])
        elif text[start] in "\"'":
            self._quoted()
        else:
            while self.index < len(text) and text[self.index] not in ",]}#\n":
                self.index += 1

    def _array(self, path: Path) -> None:
        self.index += 1
        position = 0
        while self._skip_gaps() and self.text[self.index] != "]":
            if self.text[self.index] == ",":
                self.index += 1
                continue
            self._note((*path, position), self.index)
            self._value((*path, position))
            position += 1
        self.index += 1

    def _inline_table(self, path: Path) -> None:
        self.index += 1
        while self._skip_gaps() and self.text[self.index] != "}":
            if self.text[self.index] == ",":
                self.index += 1
                continue
            self._assignment(path)
        self.index += 1

    def _dotted_key(self) -> list[str]:
        names = []
        self.names = []
        while True:
            self._skip(_BLANK)
            start = self.index
            if self.text[start] in "\"'":
                names.append(self._quoted())
            else:
                while self.text[self.index] not in " \t.=]":
                    self.index += 1
                names.append(self.text[start : self.index])
            self.names.append((start, self.index))
            self._skip(_BLANK)
            if self.text[self.index] != ".":
                return names
            self.index += 1

    def _quoted(self) -> str:
        quote = self.text[self.index]
        self.index += 1
        start = self.index
        while self.text[self.index] != quote:
            self.index += 2 if quote == '"' and self.text[self.index] == "\\" else 1
        self.index += 1
        name = self.text[start : self.index - 1]
        return str(tomllib.loads(f'name = "{name}"')["name"]) if quote == '"' and "\\" in name else name

    def _long_string(self, quotes: str) -> None:
        self.index += 3
        while not self.text.startswith(quotes, self.index):
            self.index += 2 if quotes == '"""' and self.text[self.index] == "\\" else 1
        self.index += 3
        while self.text.startswith(quotes[0], self.index):
            self.index += 1

    def _skip(self, characters: str) -> None:
        while self.index < len(self.text) and self.text[self.index] in characters:
            self.index += 1

    def _skip_gaps(self) -> bool:
        """Pass over blanks, line ends and comments; return whether anything is left."""
        while True:
            self._skip(_GAP)
            if self.index >= len(self.text):
                return False
            if self.text[self.index] != "#":
                return True
            self._skip_line()

    def _skip_line(self) -> None:
        end = self.text.find("\n", self.index)
        self.index = len(self.text) if end < 0 else end
