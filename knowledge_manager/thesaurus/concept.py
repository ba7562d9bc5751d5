"""The facts a thesaurus is made of: concepts, their labels, their links, and what they stand for.

Closeness is counted in thousandths. Each link has a factor, a path's closeness is their product; what falls
below `LEAST_CLOSENESS` is not reported. docs/decisions/0006-knowledge.md says why these numbers.
"""

import re
import unicodedata
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final, Literal

from knowledge_manager.names import composed

LabelKind = Literal["preferred", "alternative", "hidden"]
LABEL_KINDS: Final[tuple[LabelKind, ...]] = ("preferred", "alternative", "hidden")

TargetKind = Literal["event", "attribute", "term", "value"]
TARGET_KINDS: Final[tuple[TargetKind, ...]] = ("event", "attribute", "term", "value")

WHOLE: Final = 1000
"""The closeness of a thing to itself."""

LEAST_CLOSENESS: Final = 450
"""What is less close than this is not reported."""


class Relation(IntEnum):
    """What a link says of the concept that it leads to; the numbers stand in the compiled form."""

    EXACT = 0
    """The same meaning."""
    CLOSE = 1
    """Near enough for most uses."""
    NARROWER = 2
    """A special case of the concept one comes from."""
    BROADER = 3
    """Something more general."""
    RELATED = 4
    """Something that has to do with it."""


FACTORS: Final[tuple[int, ...]] = (1000, 900, 800, 500, 450)
"""The closeness of one step, by relation."""

INVERSE: Final[tuple[Relation, ...]] = (
    Relation.EXACT,
    Relation.CLOSE,
    Relation.BROADER,
    Relation.NARROWER,
    Relation.RELATED,
)
"""The same link seen from its other end."""


@dataclass(frozen=True, slots=True)
class Label:
    """A word for a concept. `language` is a BCP 47 tag, or nothing for codes that belong to no language."""

    text: str
    language: str
    kind: LabelKind


@dataclass(frozen=True, slots=True)
class Target:
    """What a concept stands for in a mission table.

    The name of an event is `patient`, of an attribute `patient.heart_rate`, of a value `patient.ward=ICU`;
    a term's is `high`, whichever attributes have a term of that name.
    """

    kind: TargetKind
    name: str

    @property
    def event(self) -> str:
        """Return the event class that it belongs to; nothing for a term."""
        return "" if self.kind == "term" else self.name.split("=", 1)[0].split(".", 1)[0]

    @property
    def attribute(self) -> str:
        """Return the attribute that it is or is a value of; nothing for events and terms."""
        return self.name.split("=", 1)[0].partition(".")[2] if self.kind != "term" else ""

    @property
    def value(self) -> str:
        """Return the nominal value that it is; nothing for all else."""
        return self.name.partition("=")[2]


@dataclass(frozen=True, slots=True)
class Concept:
    """One meaning in one organisation's scheme. `unit` is the unit in which that organisation counts it."""

    uri: str
    scheme: str
    labels: tuple[Label, ...]
    links: tuple[tuple[Relation, str], ...] = ()
    targets: tuple[Target, ...] = ()
    unit: str = ""


def joined(one: Concept, other: Concept) -> Concept:
    """Return both as one, in which the first decides: files may add labels and links to others' concepts."""
    return replace(
        one,
        scheme=one.scheme or other.scheme,
        labels=tuple(dict.fromkeys(one.labels + other.labels)),
        links=tuple(dict.fromkeys(one.links + other.links)),
        targets=tuple(dict.fromkeys(one.targets + other.targets)),
        unit=one.unit or other.unit,
    )


_NAME = r"[^\W\d_]\w{0,63}"
_TARGETS: Final = {
    "event": re.compile(_NAME),
    "attribute": re.compile(rf"{_NAME}\.{_NAME}"),
    "term": re.compile(_NAME),
    "value": re.compile(rf"{_NAME}\.{_NAME}=\S(?:.*\S)?"),
}
_SHAPES: Final = {
    "event": "patient",
    "attribute": "patient.heart_rate",
    "term": "high",
    "value": "patient.ward=ICU",
}


def target(kind: TargetKind, name: str) -> Target:
    """Return the target, or raise `ValueError` that shows the shape a name of this kind has."""
    name = composed(name)
    if _TARGETS[kind].fullmatch(name) is None:
        raise ValueError(f'"{name}" names no {kind}; write it like "{_SHAPES[kind]}"')
    return Target(kind, name)


_BLANKS: Final = str.maketrans("_-\u2010\u2011\u2013/", "      ")


def fold(word: str) -> str:
    """Return the word as labels are compared: upper and lower case, blanks, `_`, `-` and `/` are one.

    `Air_Temperature-2m` and "air temperature 2m" are the same word; letters with and without accents are
    not.
    """
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word)
    return " ".join(word.translate(_BLANKS).casefold().split())


def is_readable(text: str) -> bool:
    """Say whether a person can read this: some letter, digit or sign, and nothing that steers a terminal."""
    categories = [unicodedata.category(character) for character in text]
    return not {"Cc", "Cs"} & set(categories) and any(kind[0] in "LNPS" for kind in categories)


_NORWEGIAN: Final = frozenset({"no", "nb", "nn"})


def speaks(tag: str, wanted: str) -> bool:
    """Say whether a label of language `tag` serves somebody who wants `wanted`.

    `en` is served by `en-GB`, and `en-GB` by `en`, but not by `en-US` (RFC 4647: one of the tags begins with
    the other). `no` is the macrolanguage of `nb` and `nn` (ISO 639-3), and each of them serves the others.
    Codes without a language serve everybody.
    """
    if not tag:
        return True
    own, asked = _subtags(tag), _subtags(wanted)
    shorter = min(len(own), len(asked))
    return own[:shorter] == asked[:shorter]


def _subtags(tag: str) -> list[str]:
    first, *rest = tag.lower().split("-")
    return ["no" if first in _NORWEGIAN else first, *rest]
