"""Concepts, their labels, their links, and the mission-table entries they stand for.

Closeness is in thousandths. Each link has a factor; the closeness of a path is their product. Paths below
`LEAST_CLOSENESS` are dropped. docs/decisions/0006-knowledge.md explains the numbers.
"""

import re
import unicodedata
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final, Literal

from knowledge_manager.names import normalise_name

LabelKind = Literal["preferred", "alternative", "hidden"]
LABEL_KINDS: Final[tuple[LabelKind, ...]] = ("preferred", "alternative", "hidden")

TargetKind = Literal["event", "attribute", "term", "value"]
TARGET_KINDS: Final[tuple[TargetKind, ...]] = ("event", "attribute", "term", "value")

WHOLE: Final = 1000
"""The closeness of a concept to itself."""

LEAST_CLOSENESS: Final = 450
"""Paths below this closeness are dropped."""


class Relation(IntEnum):
    """The relation of a link's target to its start; the numbers are part of the compiled form."""

    EXACT = 0
    """The same meaning."""
    CLOSE = 1
    """Similar enough for most uses."""
    NARROWER = 2
    """A special case of the start."""
    BROADER = 3
    """A generalisation of the start."""
    RELATED = 4
    """An association."""


FACTORS: Final[tuple[int, ...]] = (1000, 900, 800, 500, 450)
"""The closeness factor of one step, by relation."""

INVERSE: Final[tuple[Relation, ...]] = (
    Relation.EXACT,
    Relation.CLOSE,
    Relation.BROADER,
    Relation.NARROWER,
    Relation.RELATED,
)
"""The relation of a link when it is followed backwards."""


@dataclass(frozen=True, slots=True)
class Label:
    """A word for a concept. `language` is a BCP 47 tag, or empty for codes without a language."""

    text: str
    language: str
    kind: LabelKind


@dataclass(frozen=True, slots=True)
class Target:
    """The mission-table entry that a concept stands for.

    The name of an event is `patient`, of an attribute `patient.heart_rate`, of a value `patient.ward=ICU`;
    that of a term is `high`, for every attribute with a term of that name.
    """

    kind: TargetKind
    name: str

    @property
    def event(self) -> str:
        """Return the event class; empty for a term."""
        return "" if self.kind == "term" else self.name.split("=", 1)[0].split(".", 1)[0]

    @property
    def attribute(self) -> str:
        """Return the attribute, also of a value; empty for events and terms."""
        return self.name.split("=", 1)[0].partition(".")[2] if self.kind != "term" else ""

    @property
    def value(self) -> str:
        """Return the nominal value; empty for the other kinds."""
        return self.name.partition("=")[2]


@dataclass(frozen=True, slots=True)
class Concept:
    """One meaning in one organisation's scheme. `unit` is the unit that the organisation uses."""

    uri: str
    scheme: str
    labels: tuple[Label, ...]
    links: tuple[tuple[Relation, str], ...] = ()
    targets: tuple[Target, ...] = ()
    unit: str = ""


def merge_concepts(one: Concept, other: Concept) -> Concept:
    """Merge two descriptions of a concept; the first wins. Files may add labels and links to concepts of
    others.
    """
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
    """Return the target; an invalid name raises `ValueError` with an example."""
    name = normalise_name(name)
    if _TARGETS[kind].fullmatch(name) is None:
        raise ValueError(f'"{name}" is not a valid {kind} name; write it like "{_SHAPES[kind]}"')
    return Target(kind, name)


_BLANKS: Final = str.maketrans("_-\u2010\u2011\u2013/", "      ")


def fold(word: str) -> str:
    """Return the word as labels are compared: case, blanks, `_`, `-` and `/` do not count.

    `Air_Temperature-2m` and "air temperature 2m" are the same word; accents do count.
    """
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word)
    return " ".join(word.translate(_BLANKS).casefold().split())


def is_readable(text: str) -> bool:
    """Return whether a text is printable: it has a letter, digit or sign, and no control characters."""
    categories = [unicodedata.category(character) for character in text]
    return not {"Cc", "Cs"} & set(categories) and any(kind[0] in "LNPS" for kind in categories)


_NORWEGIAN: Final = frozenset({"no", "nb", "nn"})


def language_matches(tag: str, wanted: str) -> bool:
    """Return whether a label with language `tag` serves a request for `wanted`.

    `en` is served by `en-GB`, and `en-GB` by `en`, but not by `en-US` (RFC 4647: one of the tags begins with
    the other). `no` is the macrolanguage of `nb` and `nn` (ISO 639-3), and each of them serves the others.
    Codes without a language always match.
    """
    if not tag:
        return True
    own, other = _subtags(tag), _subtags(wanted)
    shorter = min(len(own), len(other))
    return own[:shorter] == other[:shorter]


def _subtags(tag: str) -> list[str]:
    first, *rest = tag.lower().split("-")
    return ["no" if first in _NORWEGIAN else first, *rest]
