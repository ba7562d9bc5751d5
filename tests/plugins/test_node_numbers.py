"""Every language and every algorithm serves every node number that nodes may have.

The oracle is the matcher itself with one subscription under an ordinary key: a key is a name, so any other
set of keys gets the same answers under other names, in every internal form of a matcher.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

import pytest

from dens.interfaces import EntryChanges
from knowledge_manager.graphs.terms import Iri, Triple
from knowledge_manager.mission_table import MissionTable, load_mission_table
from plugins.boxes.vectors import BoxesBody, encode_body
from plugins.composite.composites import decode_composite, encode_composite
from plugins.direct.language import notification_for, subscription_to
from plugins.gtopss.pattern import Edge, Pattern
from plugins.gtopss.vectors import GraphPublication, encode_pattern, encode_publication
from plugins.language import Match, Matcher, NotServed, SubscriptionKey
from plugins.registry import languages
from plugins.routing import RoutingOptions, routing_of
from tests.plugins.atopss.subscriptions import PUBLICATION, SUBSCRIPTION
from tests.plugins.composite.letter_streams import TABLE as LETTERS
from tests.plugins.composite.test_golden import COMPOSED
from tests.plugins.composite.test_golden import VECTOR as COMPOSITE_VECTOR
from tests.plugins.fuzzy.matching.test_laws import of_two
from tests.plugins.gtopss.graphs import PROPERTIES
from tests.plugins.gtopss.test_matchers import SMALL
from watchdog.aggregators import AGGREGATOR_NAMES
from watchdog.header import body_of

NUMBERS = (0, 65_535, 65_536, (1 << 24) - 1, 1 << 24, (1 << 31) - 1)
"""Node numbers where a width of 16, 24 or 31 bits ends, and the number after."""
IDS = (0, 255)
JOIN_NUMBERS = (256, 65_536, (1 << 31) - 1)
"""A broker holds a JOIN under the number of its message, which has 31 bits."""
FEW, MANY = 60, 320
"""Matchers change their internal form at 64 or at 256 subscriptions."""

FUZZY_TABLE = load_mission_table(["medical"])
Ask = Callable[[SubscriptionKey], bytes]


@dataclass(frozen=True)
class Sample:
    """Bodies of one language, and a notification; `ask` returns the notification that concerns a key."""

    table: MissionTable
    bodies: tuple[bytes, ...]
    ask: Ask
    names_its_key: bool = False
    """Whether a notification is for the one subscription that it names."""


def _composite_for(key: SubscriptionKey) -> bytes:
    told = decode_composite(COMPOSED)
    told.subscriber, told.id = key
    return encode_composite(told, LETTERS.feature_bytes)


def _pattern(property_: Iri) -> bytes:
    return encode_pattern(Pattern(2, (Edge(0, property_, 1),), ()), SMALL.dictionary)


_GRAPH = encode_publication(
    GraphPublication(frozenset({Triple(Iri("urn:s"), PROPERTIES[0], Iri("urn:o"))})), SMALL.dictionary
)
_WANTED, _OTHER = (
    encode_body(BoxesBody(0, 0, (((0, low, low + 9),),)), FUZZY_TABLE.feature_bytes) for low in (145, 20)
)

SAMPLES = {
    0: Sample(
        FUZZY_TABLE,
        (body_of(subscription_to(7, 0, 0, 0)), body_of(subscription_to(8, 0, 0, 0))),
        lambda key: notification_for(7, b"text"),
    ),
    1: Sample(
        FUZZY_TABLE,
        tuple(
            body_of(vector)
            for aggregator in AGGREGATOR_NAMES
            for vector in (of_two(aggregator), of_two(aggregator)[:-8] + b"\x00\x01\x7f" * 2 + b"\x01\x03")
        ),
        lambda key: bytes.fromhex("00000000000096960103"),
    ),
    2: Sample(
        load_mission_table(["medical", "housing"]),
        (SUBSCRIPTION[3:], SUBSCRIPTION[3:]),
        lambda key: PUBLICATION,
    ),
    3: Sample(SMALL, (_pattern(PROPERTIES[0]), _pattern(PROPERTIES[1])), lambda key: _GRAPH),
    4: Sample(LETTERS, (body_of(COMPOSITE_VECTOR),), _composite_for, names_its_key=True),
    5: Sample(FUZZY_TABLE, (_WANTED, _OTHER), lambda key: bytes.fromhex("00000000000096960103")),
}


def _cases() -> list[tuple[int, str]]:
    found = []
    for number, language in sorted(languages([]).items()):
        found.append((number, ""))
        found += [(number, name) for name in language.algorithms]
    return found


CASES = _cases()


def _factory(number: int, algorithm: str) -> Callable[[], Matcher]:
    language, table = languages([])[number], SAMPLES[number].table
    make = language.algorithms[algorithm] if algorithm else language.matcher
    return lambda: make(table)


def _served(make: Callable[[], Matcher], bodies: Sequence[bytes]) -> list[bytes]:
    served = []
    for body in bodies:
        try:
            make().add((1, 1), body)
        except NotServed:
            continue
        served.append(body)
    return served


def _alone(make: Callable[[], Matcher], body: bytes, ask: Ask) -> list[Match]:
    matcher = make()
    matcher.add((1, 1), body)
    return list(matcher.match(ask((1, 1)), 0, 0))


def _check(make: Callable[[], Matcher], sample: Sample, keys: Sequence[SubscriptionKey]) -> int:
    """Add all keys one after the other, ask after every change near a change of form, then remove half of
    them; return how many matches were checked.
    """
    bodies = _served(make, sample.bodies)
    alone = {body: _alone(make, body, sample.ask) for body in bodies}
    matcher, held, checked = make(), dict[SubscriptionKey, bytes](), 0

    def expected(asked: SubscriptionKey) -> list[Match]:
        return [
            replace(found, key=key)
            for key, body in sorted(held.items())
            if key == asked or not sample.names_its_key
            for found in alone[body]
        ]

    def check() -> int:
        asked = [key for key in keys if key in held][:4] if sample.names_its_key else [keys[0]]
        events = [(sample.ask(key), 0) for key in asked]
        wanted = [expected(key) for key in asked]
        assert [list(matcher.match(vector, 0, 0)) for vector, _ in events] == wanted
        assert {at: list(found) for at, found in matcher.match_batch(events, 0)} == dict(enumerate(wanted))
        return sum(map(len, wanted))

    for count, key in enumerate(keys, 1):
        held[key] = bodies[count % len(bodies)]
        matcher.add(key, held[key])
        if count in (1, 2, 63, 64, 65, 255, 256, 257, len(keys)):
            checked += check()
    for key in list(held)[::2]:
        matcher.remove(key)
        del held[key]
    return checked + check()


def test_every_language_has_a_sample() -> None:
    assert SAMPLES.keys() == languages([]).keys()


@pytest.mark.parametrize("count", [FEW, MANY])
@pytest.mark.parametrize(("number", "algorithm"), CASES)
def test_law_every_node_number_is_served(number: int, algorithm: str, count: int) -> None:
    edges = [(origin, id) for origin in NUMBERS for id in IDS]
    ordinary = [(1 + at // 200, at % 200) for at in range(count)]
    sample, make = SAMPLES[number], _factory(number, algorithm)
    assert _check(make, sample, edges + ordinary) or algorithm == "crisp"
    assert _check(make, sample, ordinary + edges) or algorithm == "crisp"
    mixed = Random(count).sample(ordinary + edges, count + len(edges))
    assert _check(make, sample, mixed) or algorithm == "crisp"


@pytest.mark.parametrize(
    ("number", "algorithm"), [case for case in CASES if not SAMPLES[case[0]].names_its_key]
)
def test_law_joins_are_held_under_the_numbers_of_their_messages(number: int, algorithm: str) -> None:
    edges = [(origin, id) for origin in NUMBERS for id in (*IDS, *JOIN_NUMBERS)]
    ordinary = [(2, number) for number in range(100, 400)]
    assert _check(_factory(number, algorithm), SAMPLES[number], edges + ordinary) or algorithm == "crisp"


@pytest.mark.parametrize("number", sorted(SAMPLES))
def test_law_covers_and_routing_tables_treat_keys_as_names(number: int) -> None:
    """What small keys get, large keys in the same order get."""
    language, sample = languages([])[number], SAMPLES[number]
    keys = [(origin, id) for origin in NUMBERS for id in (*IDS, *JOIN_NUMBERS)]
    small = {key: (1, at) for at, key in enumerate(sorted(keys))}
    bodies = {key: sample.bodies[at % min(6, len(sample.bodies))] for at, key in enumerate(keys)}
    if language.source_covers is not None:
        covers, named = language.source_covers(sample.table), language.source_covers(sample.table)
        for key in keys:
            covers.insert(key, bodies[key])
            named.insert(small[key], bodies[key])
        above = {key: covers.cover_of(key) for key in keys}
        assert {key: one and small[one] for key, one in above.items()} == {
            key: named.cover_of(small[key]) for key in keys
        }
    routing = routing_of(language, sample.table, RoutingOptions())
    if routing is None:
        assert sample.names_its_key or number == 0
        return
    one, other = routing.table(), routing.table()
    for key in keys:
        assert _said(one.insert(key, bodies[key])) == _said(other.insert(small[key], bodies[key]))
    for key in keys:
        assert _said(one.remove(key)) == _said(other.remove(small[key]))


def _said(changes: EntryChanges) -> tuple[list[bytes], list[bytes]]:
    return list(changes.announced), list(changes.withdrawn)
