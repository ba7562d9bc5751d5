"""The local data dictionary: what this node can offer, in the words of the mission table.

It is made from the vocabularies and what the node has: sources, each with an event class, the attributes
it fills, a protocol and a content type. Domains, units and terms are the mission table's. What others get
to know of it is its extract.
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
    """A source cannot be offered; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class LocalSource:
    """Something on this node that yields readings of one event class, or graphs of one class."""

    event: EventClass | GraphClass
    attributes: tuple[Attribute | Facet, ...]
    protocol: str = ""
    content_type: str = ""

    @property
    def offered(self) -> OfferedSource:
        """Return the source as an extract tells it."""
        return OfferedSource(
            self.event.index,
            mask_of(attribute.index for attribute in self.attributes),
            PROTOCOLS.index(self.protocol),
            CONTENT_TYPES.index(self.content_type),
        )

    def as_document(self) -> dict[str, Any]:
        """Return plain data for JSON: all that the mission table knows about the offered attributes."""
        return {
            "event": self.event.name,
            "event_index": self.event.index,
            "protocol": self.protocol,
            "content_type": self.content_type,
            "attributes": [attribute_document(attribute) for attribute in self.attributes],
        }


def attribute_document(attribute: Attribute | Facet) -> dict[str, Any]:
    """Return plain data for JSON about one attribute, or facet, of the mission table."""
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
    """The sources of one node. It is filled at the start and whenever a source comes or goes."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table
        self._sources: dict[OfferedSource, LocalSource] = {}

    @property
    def sources(self) -> tuple[LocalSource, ...]:
        """Return what is offered, in the order of the extract."""
        return tuple(self._sources[key] for key in sorted(self._sources))

    def offer(
        self, event: str, attributes: Iterable[str], protocol: str = "", content_type: str = ""
    ) -> LocalSource:
        """Offer a source; offering the same one again changes nothing.

        Names are those of the mission table; unknown ones raise `UnknownName`, a protocol or content type
        without a code raises `LocalDictionaryError`.
        """
        event_class = self._table.source_class(event)
        indexes = {event_class.attribute(name).index for name in attributes}
        if not indexes:
            raise LocalDictionaryError(f"a source of {event} fills no attribute; name at least one")
        _check_word("protocol", protocol, PROTOCOLS)
        _check_word("content type", content_type, CONTENT_TYPES)
        filled = tuple(one for one in event_class.attributes if one.index in indexes)
        source = LocalSource(event_class, filled, protocol, content_type)
        self._sources[source.offered] = source
        return source

    def withdraw(self, source: LocalSource) -> None:
        """Offer it no longer; what was not offered is no error."""
        self._sources.pop(source.offered, None)

    def serving(self, question: Question) -> tuple[LocalSource, ...] | None:
        """Return the sources that serve what a subscription asks: how a watchdog learns what to watch.

        Each of them serves it alone, or all of them only together; it may also need none. None where nothing
        here serves it.
        """
        alone = tuple(source for source in self.sources if question.serves(self._telling(source)))
        if alone:
            return alone
        return self.sources if question.serves(self._telling(*self.sources)) else None

    def _telling(self, *sources: LocalSource) -> Extract:
        """Return an extract that tells of these sources alone."""
        return Extract(0, 0, self._table.feature_bytes, tuple(source.offered for source in sources))

    def extract(self, counter: int, lifetime_s: int = DEFAULT_LIFETIME_S) -> bytes:
        """Return what others get to know.

        The counter must rise with every change and survive a restart: a stored number, or the second at
        which the change was made.
        """
        offered = tuple(sorted(self._sources))
        return Extract(counter, lifetime_code(lifetime_s), self._table.feature_bytes, offered).encode()

    def as_document(self) -> list[dict[str, Any]]:
        """Return plain data for JSON."""
        return [source.as_document() for source in self.sources]


def _check_word(what: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        words = [name for name in known if name]
        raise LocalDictionaryError(
            f'{what} "{word}" has no code ({listed(words)}){did_you_mean(word, words)}'
        )
