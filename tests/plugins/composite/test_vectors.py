"""Bytes: one spelling, total decoders, an offset in every refusal."""

import random
from dataclasses import fields
from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.composite.composites import (
    CONFIRMED,
    LAPSED,
    MATCH,
    Composite,
    Opening,
    WitnessEntry,
    decode_composite,
    encode_composite,
)
from plugins.composite.pattern import canonical, postfix, read_postfix
from plugins.composite.results import results_of
from plugins.composite.vectors import (
    SUBSCRIPTION,
    CompositeBody,
    Prediction,
    decode_body,
    encode_body,
    split_body,
)
from tests.plugins.composite.mutations import mutated, survives
from tests.plugins.composite.oracle import Asked
from tests.plugins.composite.test_oracle import LAWS
from tests.plugins.composite.worlds import TABLE, asked, body_of, patterns, tree_of
from watchdog.vector import VectorError


@LAWS
@given(asked(), st.sampled_from(("ends", "all", "first")), st.booleans(), st.sampled_from((0, 9, 96)))
def test_a_body_has_one_spelling(wanted: Asked, select: str, has_key: bool, quiet: int) -> None:
    body, _ = body_of(wanted, has_key=has_key, select=select, quiet_q=quiet if select == "ends" else 0)
    assert encode_body(decode_body(body, 1), 1) == body


@LAWS
@given(patterns(6, (0, 1, 2)))
def test_a_tree_has_one_spelling(pattern: tuple) -> None:
    tree = canonical(tree_of(pattern))
    spelt = postfix(tree)
    used = len({byte for byte in spelt if byte < 15})
    if used == 3:
        assert postfix(read_postfix(spelt, 0, 3)) == spelt
    assert canonical(tree) == tree


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(d; s), l", "d; (s, l)"),
        ("d, (s; l)", "(d, s); l"),
        ("d; (s; l)", "d; s; l"),
        ("s and d", "d and s"),
        ("(d or s) or l", "d or (s or l)"),
    ],
)
def test_what_means_the_same_is_written_alike(one: str, other: str) -> None:
    from tests.plugins.composite.letter_streams import TABLE, compiled

    assert decode_body(compiled(one), 1, TABLE).pattern is not None
    first, second = (decode_body(compiled(text), 1, TABLE) for text in (one, other))
    assert postfix(first.pattern) == postfix(second.pattern)


PREDICTS = Prediction(128, 0, 5, ((1, bytes(range(8))), (3, bytes(8))))
EXAMPLES = (
    Composite(1, 95, 7, 15, MATCH, 2, 1, 0, 3, 3, [WitnessEntry(0, 1, 0, (0, 1), b"\x05\x06")]),
    Composite(
        1, 95, 7, 9, CONFIRMED, 70_000, 1, 4, 3, 3,
        [WitnessEntry(0, 1, 9, (0,), b"\x05"), WitnessEntry(2, 4, 0, (1,), b"\x05", 40_000)],
        Opening(2, 1, 2, 200, True, False, 3, b"\x09"), (48, b"\x09"),
    ),
    Composite(1, 95, 7, 0, LAPSED, 2, 1, 0, 3, 3, [], Opening(3, 1, 2, 9, False, True, 0)),
    Composite(1, 95, 7, 3, MATCH, 2, 1, 0, 3, 3, [WitnessEntry(1, 1, 0, (9,), b"\x05")], is_each=True),
)  # fmt: skip


TOLD = "leaf", "number", "seconds_before", "attributes", "values", "source"
SAID = (
    "number", "keep_q", "stamp_s", "degree", "kind", "subscriber", "id", "revision", "source", "event",
    "opening", "quiet", "is_each",
)  # fmt: skip


@pytest.mark.parametrize("composite", EXAMPLES)
def test_a_composite_comes_back(composite: Composite) -> None:
    width = 2 if composite.is_each else 1
    vector = encode_composite(composite, width)
    found = decode_composite(vector)
    told, said = attrgetter(*TOLD), attrgetter(*SAID)
    assert said(found) == said(composite)
    assert list(map(told, found.witness)) == list(map(told, composite.witness))
    assert 1 <= len(results_of(vector)) <= 2


def test_mutated_bytes_are_refused_or_read() -> None:
    """A hundred thousand of them; `make soak` tries more."""
    rng = random.Random(4)
    bodies = [body_of(Asked(("then", ("leaf", 0), ("leaf", 1)), ((0, 1, 1, 9),)), prediction=PREDICTS)[0]]
    bodies += [body_of(Asked(("and", ("next", ("leaf", 0), ("leaf", 0)), ("leaf", 2))), has_key=True)[0]]
    composites = [encode_composite(one, 2 if one.is_each else 1) for one in EXAMPLES]
    read = sum(survives(decode_body, encode_body, mutated(rng, bodies), 1) for _ in range(60_000))
    read += sum(survives(decode_composite, None, mutated(rng, composites)) for _ in range(40_000))
    assert 0 < read < 100_000


def test_refusals_say_where() -> None:
    body = body_of(Asked(("then", ("leaf", 0), ("leaf", 1))))[0]
    for length in range(len(body)):
        with pytest.raises(VectorError) as refused:
            decode_body(body[:length], 1)
        assert 0 <= refused.value.offset <= length + 3


@pytest.mark.parametrize("runs", [2, 3])
def test_few_runs_of_neighbours_go_together_over_all_sources(runs: int) -> None:
    tree = ("next", ("leaf", 0), ("leaf", 1))
    for _ in range(runs - 1):
        tree = ("then", tree, ("next", ("leaf", 0), ("leaf", 1)))
    body = bytearray(body_of(Asked(tree, (), 30, False, 1))[0])
    assert not decode_body(bytes(body), 1, TABLE).is_any_source
    body[2] |= 4
    if runs == 3:
        with pytest.raises(VectorError, match="at most 2 runs"):
            decode_body(bytes(body), 1, TABLE)
    else:
        assert decode_body(bytes(body), 1, TABLE).is_any_source


def test_the_rows_of_the_table_are_the_parts_in_order() -> None:
    parts = [part for row in SUBSCRIPTION.fields for part in row.parts]
    assert parts == [part.name for part in fields(CompositeBody)]
    body = body_of(Asked(("then", ("leaf", 0), ("leaf", 1)), ((0, 1, 1, 9),)), prediction=PREDICTS)[0]
    pieces = split_body(body, 1)
    assert b"".join(piece for row in SUBSCRIPTION.fields for piece in pieces[row.name]) == body
    for row in SUBSCRIPTION.fields:
        if isinstance(row.width, int):
            assert [len(piece) for piece in pieces[row.name]] == [row.width]
    assert [len(pieces[name]) for name in ("pattern", "conditions", "primitives", "prediction")] == [
        2,
        1,
        2,
        3,
    ]
