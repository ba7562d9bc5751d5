"""The compiled form of a thesaurus: arrays and strings that load without rdflib.

The sections (`knowledge_manager.compact_sections`) are in the order of `_SECTIONS`. A string is an index into
`strings`; `…_start` arrays hold the start offsets into another array, and its end. Labels are sorted by
folded word for binary search. Targets are sorted by kind and name, so that their numbers sort as they do. The
targets that a concept reaches are listed closest first, each once: its own, then those through its routes.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from knowledge_manager.compact_sections import (
    WORD,
    check_starts,
    check_texts,
    inconsistent_section,
    pack_texts,
    read_sections,
    start_offsets,
    write_sections,
)
from knowledge_manager.thesaurus.concept import (
    LABEL_KINDS,
    LEAST_CLOSENESS,
    TARGET_KINDS,
    WHOLE,
    Concept,
    Relation,
    Target,
    fold,
)
from knowledge_manager.thesaurus.routes import Route, routes

MAGIC: Final = b"DENSTHE1"


@dataclass(frozen=True, slots=True)
class CompactThesaurus:
    """The sections, in the order in which they are written."""

    string_start: "array[int]"
    strings: bytes
    word_start: "array[int]"
    words: bytes
    word_label_start: "array[int]"
    label_text: "array[int]"
    label_language: "array[int]"
    label_kind: "array[int]"
    label_concept: "array[int]"
    concept_uri: "array[int]"
    concept_scheme: "array[int]"
    concept_unit: "array[int]"
    target_kind: "array[int]"
    target_name: "array[int]"
    concept_reach_start: "array[int]"
    reach_target: "array[int]"
    reach_closeness: "array[int]"
    reach_end: "array[int]"
    concept_route_start: "array[int]"
    route_end: "array[int]"
    route_relation: "array[int]"
    route_next: "array[int]"


_SECTIONS: Final = tuple(CompactThesaurus.__dataclass_fields__)
_BLOBS: Final = frozenset({"strings", "words"})


class _Strings:
    """Numbers distinct texts in the order of first use."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.number.setdefault(text, len(self.number))


def compile_thesaurus(concepts: Iterable[Concept]) -> bytes:
    """Return the compiled form. The bytes do not depend on the order of the concepts."""
    ordered = sorted(concepts, key=lambda concept: concept.uri)
    strings = _Strings()
    labels = sorted(
        (fold(label.text), position, LABEL_KINDS.index(label.kind), label.language, label.text)
        for position, concept in enumerate(ordered)
        for label in concept.labels
    )
    words = sorted({label[0] for label in labels}, key=str.encode)
    labels.sort(key=lambda label: (label[0].encode(), *label[1:]))
    targets = sorted(
        {target for concept in ordered for target in concept.targets},
        key=lambda target: (TARGET_KINDS.index(target.kind), target.name),
    )
    number_of = {target: number for number, target in enumerate(targets)}
    ways = routes(ordered)
    reached = [_reach(position, ordered, ways[position], number_of) for position in range(len(ordered))]
    flat_reach = [reach for some in reached for reach in some]
    flat_ways = [route for some in ways for route in some]
    columns = {
        "label_text": [strings(label[4]) for label in labels],
        "label_language": [strings(label[3]) for label in labels],
        "label_kind": [label[2] for label in labels],
        "label_concept": [label[1] for label in labels],
        "concept_uri": [strings(concept.uri) for concept in ordered],
        "concept_scheme": [strings(concept.scheme) for concept in ordered],
        "concept_unit": [strings(concept.unit) for concept in ordered],
        "target_kind": [TARGET_KINDS.index(target.kind) for target in targets],
        "target_name": [strings(target.name) for target in targets],
        "reach_target": [target for _, target, _ in flat_reach],
        "reach_closeness": [-negative for negative, _, _ in flat_reach],
        "reach_end": [end for _, _, end in flat_reach],
        "route_end": [route.end for route in flat_ways],
        "route_relation": [int(route.relation) for route in flat_ways],
        "route_next": [route.next for route in flat_ways],
        "concept_reach_start": start_offsets([len(some) for some in reached]),
        "concept_route_start": start_offsets([len(some) for some in ways]),
        "word_label_start": _starts_of_words(words, [label[0] for label in labels]),
    }
    string_start, string_blob = pack_texts(strings.number)
    word_start, word_blob = pack_texts(words)
    compact = CompactThesaurus(
        string_start=string_start,
        strings=string_blob,
        word_start=word_start,
        words=word_blob,
        **{name: array(WORD, column) for name, column in columns.items()},
    )
    return write_sections(MAGIC, {name: getattr(compact, name) for name in _SECTIONS})


def _reach(
    position: int, concepts: Sequence[Concept], ways: Sequence[Route], number_of: dict[Target, int]
) -> list[tuple[int, int, int]]:
    """Return (-closeness, target, end) for every target that a concept reaches, each once."""
    found = [(-WHOLE, number_of[target], position) for target in concepts[position].targets]
    for way in ways:
        found += [(-way.closeness, number_of[target], way.end) for target in concepts[way.end].targets]
    closest: dict[int, tuple[int, int, int]] = {}
    for one in sorted(found):
        closest.setdefault(one[1], one)
    return list(closest.values())


def read_compact(content: bytes) -> CompactThesaurus:
    """Return the sections, or raise `CompactError`. Every index in them is in range."""
    sections = read_sections(content, MAGIC, _SECTIONS, _BLOBS, "thesaurus")
    compact = CompactThesaurus(**sections)  # type: ignore[arg-type]
    _check(compact)
    return compact


def _starts_of_words(words: Sequence[str], label_words: Sequence[str]) -> list[int]:
    counts: dict[str, int] = {}
    for word in label_words:
        counts[word] = counts.get(word, 0) + 1
    return start_offsets([counts[word] for word in words])


def _check(compact: CompactThesaurus) -> None:
    """Reject inconsistent sections, so that no look-up can run out of bounds."""
    for blob, start in ((compact.strings, compact.string_start), (compact.words, compact.word_start)):
        check_texts(blob, start)
    strings = len(compact.string_start) - 1
    concepts = len(compact.concept_uri)
    check_starts(compact.word_label_start, len(compact.label_text), len(compact.word_start))
    check_starts(compact.concept_reach_start, len(compact.reach_target), concepts + 1)
    check_starts(compact.concept_route_start, len(compact.route_end), concepts + 1)
    for group, below in (
        (("label_text", "label_language"), strings),
        (("label_kind",), len(LABEL_KINDS)),
        (("label_concept",), concepts),
        (("concept_uri", "concept_scheme", "concept_unit"), strings),
        (("target_kind",), len(TARGET_KINDS)),
        (("target_name",), strings),
        (("reach_target",), len(compact.target_kind)),
        (("reach_end", "route_end", "route_next"), concepts),
        (("route_relation",), len(Relation)),
        (("reach_closeness",), WHOLE + 1),
    ):
        for name in group:
            column: array[int] = getattr(compact, name)
            size = len(getattr(compact, _SIZED_LIKE[name.split("_")[0]]))
            if len(column) != size or max(column, default=-1) >= below:
                raise inconsistent_section(name)
    if min(compact.reach_closeness, default=WHOLE) < LEAST_CLOSENESS:
        raise inconsistent_section("reach_closeness")


_SIZED_LIKE: Final = {
    "label": "label_text",
    "concept": "concept_uri",
    "target": "target_kind",
    "route": "route_end",
    "reach": "reach_target",
}
