"""Both feature conditions on every runtime, against the paper's definition written down once more.

Subscriptions are sets of attributes that a reading satisfies or does not, so the definition needs no degrees:
under `exact` each satisfied feature that the reading contains is released once, as it is (NF = SF); under
`subset` those of them that no other one contains.
"""

from degrees import Chance

from watchdog.codes import ALGORITHMS
from watchdog.filter import FuzzyFilter
from watchdog.pool import Pool
from watchdog.reading import Reading

Subscription = tuple  # attributes, whether it asks for the age, event class, whether the values satisfy it


def vector_of(subscription: "Subscription") -> bytes:
    """Write a subscription to these attributes that a reading of tens satisfies, or never."""
    attributes, aged, event, satisfied = subscription
    triple = bytes([0, 20, 127]) if satisfied else bytes([200, 255, 127])
    feature = 0
    for attribute in attributes:
        feature |= 1 << attribute
    body = triple * len(attributes)
    if aged:
        feature |= 128
        body += bytes([0, 255, 0])
    return bytes(5) + bytes([16]) + body + bytes([1 << event, feature])


def defined(
    subscriptions: "list[Subscription]", measured: "list[int]", event: int, exact: bool
) -> "list[int]":
    """Return the features that a reading of `measured` releases, by the definition."""
    satisfied = []
    for attributes, _, its_event, is_satisfied in subscriptions:
        if its_event == event and is_satisfied and attributes:
            if all([one in measured for one in attributes]) and attributes not in satisfied:
                satisfied.append(attributes)
    found = []
    for one in satisfied:
        larger = [other for other in satisfied if other != one and all([a in other for a in one])]
        if exact or not larger:
            found.append(sum([1 << attribute for attribute in one]))
    return sorted(found)


def reading_of(measured: "list[int]", event: int) -> Reading:
    """Return a reading with ten for each of these attributes."""
    reading = Reading(1)
    reading.clear(event, 7, 9)
    for attribute in measured:
        reading.set(attribute, 10)
    return reading


def some(chance: Chance, odds: int) -> "list[int]":
    """Return some of the seven attributes, in order."""
    return [attribute for attribute in range(7) if chance.byte() < odds]


def test_that_a_reading_releases_what_the_paper_defines() -> None:
    chance = Chance(42)
    released = 0
    for _ in range(25):
        subscriptions = []
        while len(subscriptions) < 14:
            attributes = some(chance, 70)
            if attributes:
                subscriptions.append((attributes, chance.byte() < 60, chance.byte() % 2, chance.byte() < 160))
        sources = []
        for name in sorted(ALGORITHMS):
            for condition in ("exact", "subset"):
                source = FuzzyFilter(1, condition, pool=Pool(1, 100, 99, ALGORITHMS[name]))
                for number in range(len(subscriptions)):
                    source.add((1, number), vector_of(subscriptions[number]))
                sources.append((name, condition, source))
        for _ in range(4):
            measured = some(chance, 200)
            event = chance.byte() % 2
            for name, condition, source in sources:
                found = [release.vector[-1] for release in source.feed(reading_of(measured, event))]
                wanted = defined(subscriptions, measured, event, condition == "exact")
                assert sorted(found) == wanted, (name, condition, subscriptions, measured)
                released += len(found)
    assert released > 500, released


def test_that_five_measured_attributes_release_one_notification_for_each_feature() -> None:
    subscriptions = [([0, 1, 2], 0, 0, 1), ([0, 1, 2], 0, 0, 1), ([0, 1, 2, 3], 0, 0, 1), ([3, 4], 0, 0, 1)]
    for name in sorted(ALGORITHMS):
        source = FuzzyFilter(1, "exact", pool=Pool(1, 512, 8, ALGORITHMS[name]))
        for number in range(4):
            source.add((1, number), vector_of(subscriptions[number]))
        found = source.feed(reading_of([0, 1, 2, 3, 4], 0))
        assert sorted([release.vector[-1] for release in found]) == [7, 15, 24], name
        assert sorted([len(release.vector) for release in found]) == [10, 11, 12], name


def test_that_the_age_alone_has_no_feature_to_be_equal_to() -> None:
    only_age = ([], 1, 0, 1)
    for name in sorted(ALGORITHMS):
        found = []
        for condition in ("exact", "subset"):
            source = FuzzyFilter(1, condition, pool=Pool(1, 512, 8, ALGORITHMS[name]))
            source.add((1, 1), vector_of(only_age))
            found.append([release.vector[-1] for release in source.feed(reading_of([0, 2], 0))])
        assert found == [[], [5]], name
