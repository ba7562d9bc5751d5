"""Where in a TOML file each key stands.

`tomllib` returns values without places. This scanner walks over text that `tomllib` has already accepted, so
it need not judge anything: it only notes for every key path (`("event", 0, "attribute", 2, "unit")`, arrays
and arrays of tables counted from 0, inline tables included) the line and column where that key, element or
table header begins.
"""

import tomllib
from dataclasses import dataclass, field

from documents.reading import place_of

Path = tuple[str | int, ...]

_BLANK = " \t"
_GAP = " \t\r\n"


@dataclass(slots=True)
class TomlPositions:
    """Line and column by key path."""

    places: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def at(self, path: Path) -> tuple[int, int]:
        """Return the place of the path, or of the nearest enclosing key that is written down."""
        for length in range(len(path), 0, -1):
            place = self.places.get(path[:length])
            if place is not None:
                return place
        return 1, 1

    def rename(self, old: Path, new: Path) -> None:
        """Find what stands under one path under another from now on."""
        length = len(old)
        moved = {path: place for path, place in self.places.items() if path[:length] == old}
        for path, place in moved.items():
            del self.places[path]
            self.places[(*new, *path[length:])] = place

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


def locate(text: str) -> TomlPositions:
    """Return the place of every key of a TOML document that `tomllib` accepts."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.index = 0
        self.found = TomlPositions()
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
                table = self._resolve(self._dotted_key())
                self._note(table, start)
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
        path = (*table, *self._dotted_key())
        self._note(path, start)
        self.index = self.text.index("=", self.index) + 1
        self._value(path)

    def _value(self, path: Path) -> None:
        self._skip_gaps()
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
        while True:
            self._skip(_BLANK)
            if self.text[self.index] in "\"'":
                names.append(self._quoted())
            else:
                start = self.index
                while self.text[self.index] not in " \t.=]":
                    self.index += 1
                names.append(self.text[start : self.index])
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
