"""Subscriptions and notifications of the shipped languages, and a small oracle of which satisfies which.

Documents are compiled, and readings released, by the real code. Whether a notification satisfies a
subscription is decided here from the values that both were made of: numbers far from every bound, one topic
out of three. The oracle therefore needs no vectors, degrees or rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Final

from knowledge_manager.mission_table import MissionTable, load_mission_table
from plugins.language import SubscriptionLanguage
from plugins.readings import ExactReading, point
from plugins.registry import authoring_of, language_of_document, languages

Facts = tuple[str, int | str]
"""The subject of a notification and its value: ("pulse", 180), ("rent", 900) or ("topic", "riverFlood")."""

PULSES: Final = (60, 100, 180)
RENTS: Final = (600, 1_200, 3_000)
TOPICS: Final = ("riverFlood", "missingPerson", "roadClosed")
FAST, SLOW = 140, 80
"""A pulse of at least FAST is the first event of the composites, one of at most SLOW the second."""

_FUZZY: Final = (
    '<subscription xmlns="urn:dens:subscription:1" event="patient">'
    '<crisp-predicate attribute="heart_rate" operator="{}">{}</crisp-predicate></subscription>'
)
_BOXES: Final = (
    '<subscription xmlns="urn:dens:boxes:1" event="patient"><or><and>'
    '<crisp-predicate attribute="heart_rate" operator="ge">{}</crisp-predicate>'
    '<crisp-predicate attribute="heart_rate" operator="le">{}</crisp-predicate></and></or></subscription>'
)
_APPROXIMATE: Final = (
    '<subscription xmlns="urn:dens:approximate:1" event="apartment" norm="min">'
    '<crisp-predicate attribute="rent" operator="{}" possibility="1">{}</crisp-predicate></subscription>'
)
_GRAPH: Final = (
    "PREFIX dc: <http://purl.org/dc/elements/1.1/>\nPREFIX t: <urn:dens:hazard:>\n"
    "SELECT ?item {{ ?item dc:subject t:{} . }}\n"
)
_COMPOSITE: Final = (
    '<composite xmlns="urn:dens:composite:1" window="PT50M" keep="PT1H">'
    '<primitive name="fast" event="patient">'
    '<crisp-predicate attribute="heart_rate" operator="ge">{}</crisp-predicate></primitive>'
    '<primitive name="slow" event="patient">'
    '<crisp-predicate attribute="heart_rate" operator="le">{}</crisp-predicate></primitive>'
    "<pattern>fast; slow</pattern></composite>"
)
_OFFER: Final = (
    '<publication xmlns="urn:dens:approximate:1" event="apartment">'
    '<value attribute="rent">{}</value></publication>'
)
_REPORT: Final = (
    "@prefix rss: <http://purl.org/rss/1.0/> .\n@prefix dc: <http://purl.org/dc/elements/1.1/> .\n"
    "@prefix t: <urn:dens:hazard:> .\n<https://example.org/n/{}> a rss:item ; dc:subject t:{} .\n"
)


@dataclass(frozen=True)
class PooledSubscription:
    """A subscription, and which notifications satisfy it; none where a composite does."""

    language: int
    body: bytes
    about: str
    accepts: Callable[[int | str], bool]

    def wants(self, facts: Facts) -> bool:
        """Return whether a notification of these facts satisfies it."""
        return self.about == facts[0] and self.accepts(facts[1])


@dataclass(frozen=True)
class LanguagePool:
    """The subscriptions and notifications that the applications of a world choose from."""

    table: MissionTable
    languages: dict[int, SubscriptionLanguage]
    subscriptions: tuple[PooledSubscription, ...]
    composite: int
    """The number of the language of composites."""
    readings: int
    """The number of the language in which readings are notified."""
    documents: int
    offers: int

    def draw(self, rng: Random, number: int, stamp_s: int) -> tuple[int, bytes, Facts]:
        """Return the language, the vector and the facts of a new notification."""
        kind = rng.random()
        if kind < 0.6:
            pulse = rng.choice(PULSES)
            return self.readings, self._reading(pulse, number, stamp_s), ("pulse", pulse)
        if kind < 0.8:
            rent = rng.choice(RENTS)
            return self.offers, self._read(self.offers, _OFFER.format(rent)), ("rent", rent)
        topic = rng.choice(TOPICS)
        return self.documents, self._read(self.documents, _REPORT.format(number, topic)), ("topic", topic)

    def _read(self, language: int, document: str) -> bytes:
        reader = self.languages[language].publications
        assert reader is not None
        suffix = "xml" if document.startswith("<") else "ttl"
        return reader().read(document.encode(), f"publication.{suffix}", self.table).vector

    def _reading(self, pulse: int, number: int, stamp_s: int) -> bytes:
        event = self.table.event("patient")
        reading = ExactReading(self.table.feature_bytes)
        reading.clear(event.index, number % 65_536, stamp_s % 65_536)
        reading.measure(event.attribute("heart_rate"), point(10 * pulse))
        source = self.languages[self.readings].source_filter(self.table)
        source.add((0, 0), _compiled(_FUZZY.format("ge", 30), self.table)[1])
        [release] = source.feed(reading)
        return release.vector


def _compiled(document: str, table: MissionTable) -> tuple[int, bytes]:
    """Return the language and the body of a subscription's document."""
    source = document.encode()
    name = "subscription.xml" if document.startswith("<") else "subscription.rq"
    language = language_of_document(source, name)
    return language.language_id, authoring_of(language).compile(source, name, table).body


@cache
def language_pool() -> LanguagePool:
    """Return the pool: two or more subscriptions per language, and one composite."""
    table = load_mission_table(["medical", "housing", "reports"])

    def above(least: int) -> Callable[[int | str], bool]:
        return lambda value: isinstance(value, int) and value >= least

    def below(most: int) -> Callable[[int | str], bool]:
        return lambda value: isinstance(value, int) and value <= most

    documents: list[tuple[str, str, Callable[[int | str], bool]]] = [
        (_FUZZY.format("ge", 80), "pulse", above(80)),
        (_FUZZY.format("ge", 140), "pulse", above(140)),
        (_FUZZY.format("le", 80), "pulse", below(80)),
        (_BOXES.format(80, 140), "pulse", lambda value: value == 100),
        (_BOXES.format(80, 220), "pulse", above(80)),
        (_APPROXIMATE.format("le", 900), "rent", below(900)),
        (_APPROXIMATE.format("le", 2_000), "rent", below(2_000)),
        (_GRAPH.format(TOPICS[0]), "topic", lambda value: value == TOPICS[0]),
        (_GRAPH.format(TOPICS[1]), "topic", lambda value: value == TOPICS[1]),
        (_COMPOSITE.format(FAST, SLOW), "", lambda value: False),
    ]
    subscriptions = tuple(
        PooledSubscription(*_compiled(document, table), about, accepts)
        for document, about, accepts in documents
    )
    numbers = [one.language for one in subscriptions]
    return LanguagePool(
        table,
        dict(languages()),
        subscriptions,
        composite=numbers[-1],
        readings=numbers[0],
        documents=numbers[-2],
        offers=numbers[-4],
    )
