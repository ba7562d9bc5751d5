"""Populations on axes that end, by every algorithm, against the definition in exact rationals."""

import random

import pytest

from plugins.atopss.matching.algorithms import ALGORITHMS, matcher_named
from plugins.atopss.matching.fast import FastMatcher
from plugins.atopss.vectors import encode_notification, encode_subscription
from plugins.language import Matcher
from tests.plugins.atopss.population_oracle import expected, random_population
from tests.plugins.atopss.short import EVENT, LENGTHS, SHORT

SAME = [*sorted(ALGORITHMS.keys() - {"crisp"}), "fast in rows", "regular:association=matrix"]
"""Algorithms that answer by the definition, also for products and means."""

POPULATIONS = 12


def matcher_of(name: str) -> Matcher:
    """Return a matcher of the short mission."""
    return FastMatcher(SHORT, columns_from=0) if name == "fast in rows" else matcher_named(name, SHORT)


def check_population(chance: random.Random, name: str) -> int:
    """Hold one population against the oracle; return how many matches it has."""
    asked, told = random_population(chance, EVENT, LENGTHS)
    matcher = matcher_of(name)
    for number, wanted in enumerate(asked):
        matcher.add((number, 0), encode_subscription(wanted))
    found = {
        number: [
            [match.key[0], match.degree_u8, match.detail[0]]
            for match in matcher.match(encode_notification(one), 0, 0)
        ]
        for number, one in enumerate(told)
    }
    assert found == expected(asked, told, LENGTHS)
    return sum(map(len, found.values()))


@pytest.mark.parametrize("name", SAME)
def test_every_population_has_the_matches_of_the_definition(name: str) -> None:
    chance = random.Random(f"short axes {name}")
    assert sum(check_population(chance, name) for _ in range(POPULATIONS)) > POPULATIONS
