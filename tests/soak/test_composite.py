"""Composites, at length: ten million vectors, and thousands of streams against the definition."""

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plugins.composite.composites import decode_composite, encode_composite
from plugins.composite.results import results_of
from plugins.composite.vectors import decode_body, encode_body
from tests.plugins.composite.mutations import mutated, survives
from tests.plugins.composite.oracle import Asked
from tests.plugins.composite.test_oracle import (
    Stream,
    assert_agrees_with_oracle,
    assert_consumed_in_turn,
    assert_every_match_is_found,
    assert_quiet_agrees_with_oracle,
)
from tests.plugins.composite.test_vectors import EXAMPLES, PREDICTS
from tests.plugins.composite.worlds import asked, body_of, streams

AT_LENGTH = settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))


def test_ten_million_vectors() -> None:
    rng = random.Random(20260604)
    bodies = [
        body_of(Asked(("then", ("leaf", 0), ("leaf", 1)), ((0, 1, 1, 9),)), prediction=PREDICTS)[0],
        body_of(Asked(("and", ("next", ("leaf", 0), ("leaf", 0)), ("leaf", 2))), has_key=True)[0],
        body_of(Asked(("or", ("leaf", 0), ("then", ("leaf", 1), ("leaf", 2)))), select="all")[0],
    ]
    composites = [encode_composite(one, 2 if one.is_each else 1) for one in EXAMPLES]
    read = 0
    for number in range(10_000_000):
        if number & 1:
            read += survives(decode_body, encode_body, mutated(rng, bodies), 1)
        elif number & 2:
            read += survives(decode_composite, None, mutated(rng, composites))
        else:
            read += survives(results_of, None, mutated(rng, composites))
    assert 0 < read < 10_000_000


@AT_LENGTH
@given(asked(), streams(), st.integers(0, 99))
def test_one_source(wanted: Asked, readings: Stream, seed: int) -> None:
    assert_agrees_with_oracle(wanted, readings, False, seed)


@AT_LENGTH
@given(asked(), streams(sources=2, has_key=True), st.integers(0, 99))
def test_two_sources_with_a_key(wanted: Asked, readings: Stream, seed: int) -> None:
    assert_agrees_with_oracle(wanted, readings, True, seed)


@AT_LENGTH
@given(asked(is_any=True), streams(sources=2), st.integers(0, 99))
def test_any_source(wanted: Asked, readings: Stream, seed: int) -> None:
    assert_agrees_with_oracle(wanted, readings, False, seed)


@AT_LENGTH
@given(asked(most=3), streams(most=7, sources=2, has_key=True), st.integers(0, 99))
def test_every_match_with_a_key(wanted: Asked, readings: Stream, seed: int) -> None:
    assert_every_match_is_found(wanted, readings, True, seed)


@AT_LENGTH
@given(asked(most=3, is_any=True), streams(most=7, sources=2), st.integers(0, 99))
def test_every_match_of_any_source(wanted: Asked, readings: Stream, seed: int) -> None:
    assert_every_match_is_found(wanted, readings, False, seed)


@AT_LENGTH
@given(asked(), streams(sources=2, has_key=True), st.integers(0, 99))
def test_first_for_each_key(wanted: Asked, readings: Stream, seed: int) -> None:
    assert_consumed_in_turn(wanted, readings, True, seed)


@AT_LENGTH
@given(asked(), streams(sources=2, has_key=True), st.sampled_from((9, 16, 30)), st.integers(0, 99))
def test_quiet_for_each_key(wanted: Asked, readings: Stream, quiet_q: int, seed: int) -> None:
    assert_quiet_agrees_with_oracle(wanted, readings, True, quiet_q, seed)
