"""The local data dictionary: the sources of this node, in terms of the mission table.

A source has an event class, the attributes it fills, a protocol and a content type. Domains, units and terms
are the mission table's. Other nodes receive its extract.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dens.config.problems import did_you_mean, listed
from knowledge_manager.dictionary.distributed import Question
from knowledge_manager.dictionary.extract import CONTENT_TYPES, PROTOCOLS, Extract, OfferedSource, mask_of
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from knowledge_manager.vocabulary.graph_class import Facet, GraphClass
from watchdog.lifetime import lifetime_code

DEFAULT_LIFETIME_S = 24 * 3600


class LocalDictionaryError(ValueError):
    """A source cannot be offered; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class LocalSource:
    """A source on this node that yields readings of one event class, or graphs of one class."""

    event: EventClass | GraphClass
    attributes: tuple[Attribute | Facet, ...]
    protocol: str = ""
    content_type: str = ""

    @property
    def offered(self) -> OfferedSource:
        """Return the source as it is encoded in an extract."""
        return OfferedSource(
            self.event.index,
            mask_of(attribute.index for attribute in self.attributes),
            PROTOCOLS.index(self.protocol),
            CONTENT_TYPES.index(self.content_type),
        )

    def as_document(self) -> dict[str, Any]:
        """Return plain data for JSON: everything in the mission table about the offered attributes."""
        return {
            "event": self.event.name,
            "event_index": self.event.index,
            "protocol": self.protocol,
            "content_type": self.content_type,
            "attributes": [attribute_document(attribute) for attribute in self.attributes],
        }


def attribute_document(attribute: Attribute | Facet) -> dict[str, Any]:
    """Return one attribute, or facet, of the mission table as plain data for JSON."""
    if isinstance(attribute, Facet):
        return {
            "name": attribute.name,
            "index": attribute.index,
            "type": "facet",
            "properties": list(attribute.properties),
            "open": attribute.is_open,
            "about": attribute.about,
        }
    document: dict[str, Any] = {"name": attribute.name, "index": attribute.index, "type": attribute.type}
    if attribute.type == "nominal":
        document["values"] = list(attribute.values)
    else:
        document |= {"domain": [attribute.lo, attribute.hi], "unit": attribute.unit}
        if attribute.breakpoints:
            inner = [[scaled / 10**attribute.decimals, byte] for scaled, byte in attribute.breakpoints]
            document["scale"] = [[attribute.lo, 0], *inner, [attribute.hi, 255]]
    return document | {"terms": list(attribute.terms), "about": attribute.about}


class LocalDataDictionary:
    """The sources of one node. It changes whenever a source is added or removed."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table
        self._sources: dict[OfferedSource, LocalSource] = {}

    @property
    def sources(self) -> tuple[LocalSource, ...]:
        """Return the sources in the order of the extract."""
        return tuple(self._sources[key] for key in sorted(self._sources))

    def offer(
        self, event: str, attributes: Iterable[str], protocol: str = "", content_type: str = ""
    ) -> LocalSource:
        """Offer a source; offering the same one again changes nothing.

        Unknown names raise `UnknownName`; a protocol or content type without a code raises
        `LocalDictionaryError`.
        """
        event_class = self._table.source_class(event)
        indexes = {event_class.attribute(name).index for name in attributes}
        if not indexes:
            raise LocalDictionaryError(f"a source of {event} needs at least one attribute")
        _check_word("protocol", protocol, PROTOCOLS)
        _check_word("content type", content_type, CONTENT_TYPES)
        filled = tuple(one for one in event_class.attributes if one.index in indexes)
        source = LocalSource(event_class, filled, protocol, content_type)
        self._sources[source.offered] = source
        return source

    def withdraw(self, source: LocalSource) -> None:
        """Withdraw a source; one that is not offered is ignored."""
        self._sources.pop(source.offered, None)

    def serving(self, question: Question) -> tuple[LocalSource, ...] | None:
        """Return the sources that serve a subscription, which its watchdog has to watch.

        Either each of them serves it alone, or all of them only together; the result may be empty. None if
        nothing here serves it.
        """
        alone = tuple(source for source in self.sources if question.serves(self._extract_of(source)))
        if alone:
            return alone
        return self.sources if question.serves(self._extract_of(*self.sources)) else None

    def _extract_of(self, *sources: LocalSource) -> Extract:
        return Extract(0, 0, self._table.feature_bytes, tuple(source.offered for source in sources))

    def extract(self, counter: int, lifetime_s: int = DEFAULT_LIFETIME_S) -> bytes:
        """Return the encoded extract.

        The counter must rise with every change and survive a restart: a stored number, or the second of the
        change.
        """
        offered = tuple(sorted(self._sources))
        return Extract(counter, lifetime_code(lifetime_s), self._table.feature_bytes, offered).encode()

    def as_document(self) -> list[dict[str, Any]]:
        return [source.as_document() for source in self.sources]


def _check_word(what: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        words = [name for name in known if name]
        raise LocalDictionaryError(
            f'{what} "{word}" has no code ({listed(words)}){did_you_mean(word, words)}'
        )
