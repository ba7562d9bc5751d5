"""Patterns over letters, and streams of them."""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from knowledge_manager.mission_table import MissionTable, load_mission_table
from plugins.authoring.streams import StreamReading
from plugins.composite.search.watched import Watched, watched
from plugins.composite.vectors import decode_body
from plugins.language import MatcherFactory
from plugins.registry import DEFAULT, authoring_of, language_named

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_NO_LETTERS = frozenset({"and", "or", "in", "min", "t1", "t2", "t3", "t4", "t5", "t6", "s"})


@cache
def table() -> MissionTable:
    """Return the mission of letters."""
    place = resources.files("dens_experiments.composite") / "letters.toml"
    with resources.as_file(place) as path:
        return load_mission_table([str(path)])


def judge() -> MatcherFactory:
    """Return what judges primitives."""
    return language_named(DEFAULT).matcher


@dataclass(frozen=True, slots=True)
class Looked:
    """A pattern over letters, compiled, with what its leaves are called."""

    text: str
    body: bytes
    names: tuple[str, ...]

    def watched(self) -> Watched:
        """Return it ready to be looked for."""
        parts = decode_body(self.body, table().feature_bytes, table())
        return watched((2, 1), 0, self.body, parts, table().feature_bytes)


def looked_for(text: str, attributes: str = 'window="PT1H"') -> Looked:
    """Return a pattern over letters, each of which is a primitive."""
    letters = list(dict.fromkeys(word for word in _WORD.findall(text) if word not in _NO_LETTERS))
    primitives = "".join(
        f'<primitive name="{letter}" event="letter"><crisp-predicate attribute="is" operator="eq">{letter}'
        "</crisp-predicate></primitive>"
        for letter in letters
    )
    escaped = text.replace("<", "&lt;").replace(">", "&gt;")
    document = (
        f'<composite xmlns="urn:dens:composite:1" {attributes}>{primitives}'
        f"<pattern>{escaped}</pattern></composite>"
    )
    made = authoring_of(language_named("composite")).compile(document.encode(), text, table())
    return Looked(text, made.body, tuple(use["primitive"] for use in made.steps["uses"]))


def letters_at(stream: str) -> list[StreamReading]:
    """Return readings of a text such as `F@1 F@3 S@4`."""
    values = table().event("letter").attribute("is").values
    found = []
    for number, item in enumerate(stream.split()):
        letter, _, second = item.partition("@")
        found.append(StreamReading(1, 3, number, int(second), {0: values.index(letter), 1: 15}))
    return found
