"""Layers thesauri: a user's own words over the shipped ones.

Concepts with the same URI are merged, so a user's file may add words to a shipped concept and link to it. If
an upper and a lower layer use the same word for rivals (two attributes of one event class, two event
classes), the upper layer wins and the lower label is dropped. A word with meanings of different kinds keeps
all of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from knowledge_manager.thesaurus.concept import Concept, Label, Target, fold, language_matches, merge_concepts
from knowledge_manager.thesaurus.thesaurus import Thesaurus


def merge_layers(layers: Sequence[Iterable[Concept]]) -> Thesaurus:
    """Return the thesaurus of these layers, the uppermost first."""
    merged: dict[str, Concept] = {}
    for layer in reversed(layers):
        upper = {concept.uri: concept for concept in layer}
        everything = {
            **merged,
            **{uri: merge_concepts(own, merged.get(uri, own)) for uri, own in upper.items()},
        }
        meant = Thesaurus.of(everything.values()).nearest_targets()
        merged = _without_rivals(everything, upper, meant)
    return Thesaurus.of(merged.values())


def _without_rivals(
    everything: dict[str, Concept], upper: dict[str, Concept], meant: dict[str, frozenset[Target]]
) -> dict[str, Concept]:
    owners: dict[str, list[tuple[Label, frozenset[Target]]]] = {}
    for uri, concept in upper.items():
        for label in concept.labels:
            owners.setdefault(fold(label.text), []).append((label, meant[uri]))

    def is_overruled(uri: str, label: Label) -> bool:
        return any(
            _are_rivals(meant[uri], targets)
            and (
                language_matches(label.language, own.language)
                or language_matches(own.language, label.language)
            )
            for own, targets in owners.get(fold(label.text), ())
        )

    kept: dict[str, Concept] = {}
    for uri, concept in everything.items():
        own = set(upper[uri].labels) if uri in upper else set()
        labels = tuple(one for one in concept.labels if one in own or not is_overruled(uri, one))
        kept[uri] = replace(concept, labels=labels)
    return kept


def _are_rivals(lower: frozenset[Target], upper: frozenset[Target]) -> bool:
    """Return whether two sets of targets conflict: different targets of one kind and owner."""
    return any(_place(one) == _place(other) and one != other for one in lower for other in upper)


def _place(target: Target) -> tuple[str, str]:
    """Return the kind of a target and its owner: the attribute of a value, the event class of an
    attribute.
    """
    owner = {"value": f"{target.event}.{target.attribute}", "attribute": target.event}
    return target.kind, owner.get(target.kind, "")
