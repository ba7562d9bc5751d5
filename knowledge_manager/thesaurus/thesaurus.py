"""Look-ups in a compiled thesaurus: which mission-table entries a word may mean, by which path, and how
closely.

Works on the compiled form alone (`compiled`); rdflib is needed only to read SKOS (`skos`). A finding has the
matching label, its concept, the steps from there to the target, and the closeness of the path.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from knowledge_manager.thesaurus.concept import (
    LABEL_KINDS,
    TARGET_KINDS,
    WHOLE,
    Concept,
    Label,
    Relation,
    Target,
    fold,
    language_matches,
)
from knowledge_manager.thesaurus.spelling import nearest_words

_UNDECIDED: Final = -1
"""Replaces the unit number if the owners of equally close words use different units."""


@dataclass(frozen=True, slots=True)
class Step:
    """One link of a path, and the concept that it leads to."""

    relation: Relation
    concept: str

    def __str__(self) -> str:
        """Return the step as text: `close → urn:…#pulse`."""
        return f"{self.relation.name.lower()} → {self.concept}"


class Finding:
    """One target that a word may mean, with the path.

    A view into the thesaurus: texts are decoded on access, so that a look-up takes microseconds even for
    words with many meanings.
    """

    __slots__ = ("_concept", "_end", "_label", "_thesaurus", "closeness", "target_number", "unit_number")

    def __init__(
        self,
        thesaurus: "Thesaurus",
        label: int,
        concept: int,
        end: int,
        target: int,
        closeness: int,
        unit: int,
    ) -> None:
        self._thesaurus = thesaurus
        self._label = label
        self._concept = concept
        self._end = end
        self.target_number = target
        self.closeness = closeness
        self.unit_number = unit

    @property
    def label(self) -> Label:
        return self._thesaurus.label_at(self._label)

    @property
    def concept(self) -> str:
        """Return the URI of the concept that has the label."""
        return self._thesaurus.concept_at(self._concept)

    @property
    def scheme(self) -> str:
        """Return the URI of the concept's scheme, which identifies its organisation."""
        return self._thesaurus.scheme_at(self._concept)

    @property
    def unit(self) -> str:
        """Return the unit of the word's owner.

        Empty if it is not stated, or if the owners of equally close words use different units.
        """
        return "" if self.unit_number == _UNDECIDED else self._thesaurus.text_at(self.unit_number)

    @property
    def target(self) -> Target:
        return self._thesaurus.target_at(self.target_number)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the links from the concept to the one with the target; empty if they are the same."""
        return self._thesaurus.steps_between(self._concept, self._end)

    def __repr__(self) -> str:
        way = " ".join(map(str, self.steps))
        return f"<{self.label.text!r} {self.concept} {way} = {self.target.name} ({self.closeness})>"


def _closest(found: list[Finding]) -> list[Finding]:
    """Return the findings closest first, each target once, in the order of the mission table's names.

    If owners of equally close words use different units, none of these units is used.
    """
    found.sort(key=lambda finding: (-finding.closeness, finding.target_number))
    best: dict[int, Finding] = {}
    for finding in found:
        known = best.setdefault(finding.target_number, finding)
        if known.closeness == finding.closeness and known.unit_number != finding.unit_number:
            known.unit_number = _UNDECIDED
    return list(best.values())


class Thesaurus:
    """Words of several organisations and languages, linked to each other and to the mission table."""

    def __init__(self, content: bytes) -> None:
        """Load a compiled thesaurus; other bytes raise `CompactError`."""
        from knowledge_manager.thesaurus.compiled import read_compact

        self._c = read_compact(content)
        self._word_count = len(self._c.word_start) - 1
        self._labels_of_targets: dict[Target, list[Label]] | None = None

    @classmethod
    def of(cls, concepts: Iterable[Concept]) -> "Thesaurus":
        """Compile a thesaurus in memory."""
        from knowledge_manager.thesaurus.compiled import compile_thesaurus

        return cls(compile_thesaurus(concepts))

    @property
    def concept_count(self) -> int:
        return len(self._c.concept_uri)

    @property
    def label_count(self) -> int:
        return len(self._c.label_text)

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the language tags of the labels, sorted."""
        return tuple(sorted({self.text_at(tag) for tag in set(self._c.label_language)} - {""}))

    def find(self, word: str, language: str | None = None) -> tuple[Finding, ...]:
        """Return what the word may mean, closest first, each target once by its closest path.

        Labels in `language` win if there are any; a word that exists in other languages only is still found.
        """
        c = self._c
        labels = self._labels_of_word(fold(word))
        if language is not None and len(labels) > 0:
            own = [
                label for label in labels if language_matches(self.text_at(c.label_language[label]), language)
            ]
            labels = own or labels
        found: list[Finding] = []
        for label in labels:
            concept = c.label_concept[label]
            unit = c.concept_unit[concept]
            reach = slice(c.concept_reach_start[concept], c.concept_reach_start[concept + 1])
            found += [
                Finding(self, label, concept, end, target, closeness, unit)
                for end, target, closeness in zip(
                    c.reach_end[reach], c.reach_target[reach], c.reach_closeness[reach], strict=True
                )
            ]
        return tuple(_closest(found) if len(labels) > 1 else found)

    def nearest(self, word: str, language: str | None = None, most: int = 5) -> tuple[str, ...]:
        """Return labels similar to a misspelt word, nearest first.

        Hidden labels are misspellings themselves and are not suggested.
        """
        c = self._c
        found = nearest_words(fold(word), map(self._word, range(self._word_count)), 4 * most)
        texts: list[str] = []
        for near in found:
            for label in self._labels_of_word(near):
                is_wanted = language is None or language_matches(
                    self.text_at(c.label_language[label]), language
                )
                if is_wanted and LABEL_KINDS[c.label_kind[label]] != "hidden":
                    texts.append(self.text_at(c.label_text[label]))
                    break
        return tuple(texts[:most])

    def labels_of(self, target: Target, language: str | None = None) -> tuple[Label, ...]:
        """Return the words for a mission-table entry, preferred ones first, then by language."""
        if self._labels_of_targets is None:
            self._labels_of_targets = self._index_labels()
        return tuple(
            label
            for label in self._labels_of_targets.get(target, ())
            if label.kind != "hidden" and (language is None or language_matches(label.language, language))
        )

    def targets(self) -> tuple[Target, ...]:
        """Return every target of any concept."""
        return tuple(self.target_at(number) for number in range(len(self._c.target_kind)))

    def concepts(self) -> tuple[Concept, ...]:
        """Return the concepts that it was compiled from.

        Links that lie on no path to a target are not kept in the compiled form.
        """
        c = self._c
        labels: list[list[Label]] = [[] for _ in c.concept_uri]
        for number, owner in enumerate(c.label_concept):
            labels[owner].append(self.label_at(number))
        found = []
        for number in range(self.concept_count):
            reach = range(c.concept_reach_start[number], c.concept_reach_start[number + 1])
            ways = range(c.concept_route_start[number], c.concept_route_start[number + 1])
            links = {(Relation(c.route_relation[way]), self.concept_at(c.route_next[way])) for way in ways}
            found.append(
                Concept(
                    self.concept_at(number),
                    self.scheme_at(number),
                    tuple(labels[number]),
                    tuple(sorted(links)),
                    tuple(self.target_at(c.reach_target[at]) for at in reach if c.reach_end[at] == number),
                    self.text_at(c.concept_unit[number]),
                )
            )
        return tuple(found)

    def nearest_targets(self) -> dict[str, frozenset[Target]]:
        """Return the closest targets of each concept, by URI."""
        c, found = self._c, {}
        for number in range(self.concept_count):
            reach = range(c.concept_reach_start[number], c.concept_reach_start[number + 1])
            closest = max((c.reach_closeness[at] for at in reach), default=0)
            found[self.concept_at(number)] = frozenset(
                self.target_at(c.reach_target[at]) for at in reach if c.reach_closeness[at] == closest
            )
        return found

    def text_at(self, string: int) -> str:
        start = self._c.string_start
        return self._c.strings[start[string] : start[string + 1]].decode(errors="replace")

    def label_at(self, label: int) -> Label:
        c = self._c
        return Label(
            self.text_at(c.label_text[label]),
            self.text_at(c.label_language[label]),
            LABEL_KINDS[c.label_kind[label]],
        )

    def concept_at(self, concept: int) -> str:
        """Return the URI of a concept."""
        return self.text_at(self._c.concept_uri[concept])

    def scheme_at(self, concept: int) -> str:
        """Return the URI of a concept's scheme."""
        return self.text_at(self._c.concept_scheme[concept])

    def target_at(self, target: int) -> Target:
        return Target(TARGET_KINDS[self._c.target_kind[target]], self.text_at(self._c.target_name[target]))

    def steps_between(self, begin: int, end: int) -> tuple[Step, ...]:
        """Return the steps of the closest path between two concepts."""
        c = self._c
        steps: list[Step] = []
        here = begin
        while here != end and len(steps) < self.concept_count:
            try:
                route = c.route_end.index(end, c.concept_route_start[here], c.concept_route_start[here + 1])
            except ValueError:
                break
            here = c.route_next[route]
            steps.append(Step(Relation(c.route_relation[route]), self.concept_at(here)))
        return tuple(steps)

    def _labels_of_word(self, word: str) -> Sequence[int]:
        wanted = word.encode(errors="replace")
        start, words = self._c.word_start, self._c.words
        low, high = 0, self._word_count
        while low < high:
            middle = (low + high) >> 1
            if words[start[middle] : start[middle + 1]] < wanted:
                low = middle + 1
            else:
                high = middle
        if low == self._word_count or words[start[low] : start[low + 1]] != wanted:
            return ()
        return range(self._c.word_label_start[low], self._c.word_label_start[low + 1])

    def _index_labels(self) -> dict[Target, list[Label]]:
        c = self._c
        index: dict[Target, list[Label]] = {}
        labels_of_concept: dict[int, list[Label]] = {}
        for label, concept in enumerate(c.label_concept):
            labels_of_concept.setdefault(concept, []).append(self.label_at(label))
        for concept, labels in sorted(labels_of_concept.items()):
            for target in self._exact_targets(concept):
                index.setdefault(target, []).extend(labels)
        for labels in index.values():
            labels.sort(key=lambda label: (LABEL_KINDS.index(label.kind), label.language, label.text))
        return {target: list(dict.fromkeys(labels)) for target, labels in index.items()}

    def _exact_targets(self, concept: int) -> list[Target]:
        """Return the targets of the concept itself and of those with exact links to it."""
        c = self._c
        reach = range(c.concept_reach_start[concept], c.concept_reach_start[concept + 1])
        return [self.target_at(c.reach_target[at]) for at in reach if c.reach_closeness[at] == WHOLE]

    def _word(self, number: int) -> str:
        start = self._c.word_start
        return self._c.words[start[number] : start[number + 1]].decode(errors="replace")
