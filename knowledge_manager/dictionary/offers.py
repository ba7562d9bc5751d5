"""Browsing: which attributes are measured nearby, by which nodes, and what a subscription still lacks.

The facts are the extracts in the distributed dictionary, the names those of the mission table and, with a
thesaurus, the user's words.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any

from knowledge_manager.dictionary.distributed import DirectoryEntry, DistributedDataDictionary
from knowledge_manager.dictionary.extract import indexes_of, mask_of
from knowledge_manager.lookup.lookup import Meaning, words_for
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.concept import Target
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from knowledge_manager.vocabulary.graph_class import Facet, GraphClass


@dataclass(frozen=True, slots=True)
class Offer:
    """One attribute that a node measures. `words` are other names for it, in the requested language."""

    event: EventClass | GraphClass
    attribute: Attribute | Facet
    nodes: tuple[int, ...]
    words: tuple[str, ...]

    @property
    def feature(self) -> int:
        """Return the attribute's bit in a subscription's attribute feature."""
        return 1 << self.attribute.index

    @property
    def unit(self) -> str:
        """Return the unit; empty for a facet."""
        return "" if isinstance(self.attribute, Facet) else self.attribute.unit

    @property
    def members(self) -> list[str]:
        """Return the terms and values of the attribute, or the properties of the facet."""
        if isinstance(self.attribute, Facet):
            return list(self.attribute.properties)
        return [*self.attribute.terms, *self.attribute.values]

    def as_document(self) -> dict[str, Any]:
        return {
            "event": self.event.name,
            "attribute": self.attribute.name,
            "event_index": self.event.index,
            "attribute_index": self.attribute.index,
            "feature": self.feature,
            **_domain(self.attribute),
            "words": list(self.words),
            "nodes": list(self.nodes),
        }


@dataclass(frozen=True, slots=True)
class PartialOffer:
    """A node that measures the event class but not all required attributes."""

    node: int
    offered: tuple[str, ...]
    missing: tuple[str, ...]

    def as_document(self) -> dict[str, Any]:
        return {"node": self.node, "offered": list(self.offered), "missing": list(self.missing)}


@dataclass(frozen=True, slots=True)
class AlternativeOffers:
    """One alternative of a subscription: the nodes that offer all of it, and those that offer a part, the
    most complete first.
    """

    event: str
    attributes: tuple[str, ...]
    publishers: tuple[int, ...]
    partial: tuple[PartialOffer, ...]

    def as_document(self) -> dict[str, Any]:
        return {
            "event": self.event,
            "attributes": list(self.attributes),
            "publishers": list(self.publishers),
            "partial": [offer.as_document() for offer in self.partial],
        }


def browse_offers(
    dictionary: DistributedDataDictionary,
    table: MissionTable,
    thesaurus: Thesaurus | None = None,
    language: str | None = None,
    within: Container[int] | None = None,
) -> tuple[Offer, ...]:
    """Return every attribute that a known node measures, in the order of the mission table.

    `within` restricts the result to these nodes, such as those of this node's partition.
    """
    nodes_of: dict[tuple[int, int], dict[int, None]] = {}
    for held in dictionary.live():
        if within is None or held.node in within:
            for source in held.extract.sources:
                for index in indexes_of(source.attributes):
                    nodes_of.setdefault((source.event, index), {})[held.node] = None
    return tuple(
        Offer(
            event,
            attribute,
            tuple(nodes_of[event.index, attribute.index]),
            tuple(words_for(Target("attribute", f"{event.name}.{attribute.name}"), thesaurus, language)),
        )
        for event in table.source_classes
        for attribute in event.attributes
        if (event.index, attribute.index) in nodes_of
    )


def heard_within(dictionary: DistributedDataDictionary, last_ms: int) -> frozenset[int]:
    """Return the nodes that were heard in the last `last_ms`: this node's partition as far as it can be
    known.
    """
    since = dictionary.now_ms - last_ms
    return frozenset(held.node for held in dictionary.live() if held.provenance.heard_ms >= since)


def interests_of(meanings: Iterable[Meaning], table: MissionTable) -> tuple[tuple[int, int], ...]:
    """Return the event indexes and attribute features that a word with these meanings refers to. A feature of
    0 is the whole event class. A term refers to every attribute that has it.
    """
    interests: list[tuple[int, int]] = []
    for meaning in meanings:
        if meaning.attribute is not None and meaning.event is not None:
            interests.append((meaning.event.index, 1 << meaning.attribute.index))
        elif meaning.event is not None:
            interests.append((meaning.event.index, 0))
        else:
            interests += [
                (event.index, 1 << attribute.index)
                for event in table.events
                for attribute in event.attributes
                if meaning.target.name in attribute.terms
            ]
    return tuple(interests)


def offers_for(
    dictionary: DistributedDataDictionary,
    table: MissionTable,
    language: int,
    body: bytes,
    within: Container[int] | None = None,
) -> tuple[AlternativeOffers, ...]:
    """Return, for each alternative of a subscription, who can serve all of it and who a part.

    `language` is the subscription language's id; a bad body raises `VectorError`. If a language requires more
    than attributes, there is one alternative without attributes and without partial offers. `within`
    restricts the result to these nodes.
    """
    offered = [held for held in dictionary.live() if within is None or held.node in within]
    question = dictionary.question_of(language, body)
    if question is None:
        return ()
    if question.alternatives is None:
        served = tuple(held.node for held in offered if question.serves(held.extract))
        return (AlternativeOffers("", (), served, ()),)
    return tuple(
        _alternative(offered, table, wanted.event, mask_of(wanted.attributes))
        for wanted in question.alternatives
    )


def _alternative(
    offered: Iterable[DirectoryEntry], table: MissionTable, event: int, mask: int
) -> AlternativeOffers:
    event_class = table.source_class_at(event)
    publishers: list[int] = []
    partial: list[PartialOffer] = []
    for held in offered:
        filled = _most_filled(held, event, mask)
        if filled == mask:
            publishers.append(held.node)
        elif filled:
            partial.append(
                PartialOffer(held.node, _names(event_class, filled), _names(event_class, mask & ~filled))
            )
    partial.sort(key=lambda offer: (len(offer.missing), offer.node))
    return AlternativeOffers(event_class.name, _names(event_class, mask), tuple(publishers), tuple(partial))


def _most_filled(held: DirectoryEntry, event: int, mask: int) -> int:
    """Return what the best single source of the node fills; attributes of two sources are never in one
    reading.
    """
    fills = [source.attributes & mask for source in held.extract.sources if source.event == event]
    return max(fills, key=int.bit_count, default=0)


def _domain(attribute: Attribute | Facet) -> dict[str, Any]:
    if isinstance(attribute, Facet):
        return {"properties": list(attribute.properties)}
    return {
        "unit": attribute.unit,
        "terms": list(attribute.terms),
        "values": list(attribute.values),
    }


def _names(event: EventClass | GraphClass, mask: int) -> tuple[str, ...]:
    return tuple(event.attribute_at(index).name for index in indexes_of(mask))
