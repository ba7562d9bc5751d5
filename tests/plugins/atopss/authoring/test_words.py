"""Descriptions, explanations, pictures, and documents made from bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.atopss.authoring.decompile import decompile
from plugins.atopss.subscriptions import Subscription
from plugins.atopss.vectors import encode_subscription
from plugins.authoring import CompileOptions
from plugins.authoring.constants import BadConstant
from plugins.language import Match
from tests.plugins.atopss.authoring.test_compile import AUTHORING, TABLE
from tests.plugins.atopss.subscriptions import PUBLICATION, SUBSCRIPTION, few, subscriptions
from watchdog.header import framed
from watchdog.vector import VectorError


def test_every_byte_is_described() -> None:
    for vector, kind in ((SUBSCRIPTION, "subscription"), (PUBLICATION, "notification")):
        for table in (TABLE, None):
            found = AUTHORING.describe(vector, table)
            assert found.kind == kind
            assert b"".join(field.content for field in found.fields) == vector
    with pytest.raises(VectorError):
        AUTHORING.describe(PUBLICATION, TABLE, "sv")


def test_an_explanation_says_both_degrees_and_what_failed() -> None:
    told = AUTHORING.explain_notification(SUBSCRIPTION, TABLE, PUBLICATION)
    assert told.as_document()["possibility_u8"] == 255
    assert told.as_document()["necessity_u8"] == 223
    assert told.lines()[-1] == "Π 255 (1.000), N 223 (0.875): it matches"
    values = {"size": "60", "rent": "cheap", "age": "20..45"}
    assert AUTHORING.explain(SUBSCRIPTION, TABLE, values, 0).lines() == told.lines()
    without = AUTHORING.explain(SUBSCRIPTION, TABLE, {"size": "60", "rent": "900"}, 0)
    assert without.matches is False
    assert without.lines()[-1] == "Π 0 (0.000), N 0 (0.000): it does not match: age is unknown"
    assert AUTHORING.explain(SUBSCRIPTION, TABLE, {}, 0).matches is None


def test_values_that_are_none() -> None:
    with pytest.raises(UnknownName):
        AUTHORING.explain(SUBSCRIPTION, TABLE, {"height": "2"}, 0)
    with pytest.raises(BadConstant):
        AUTHORING.explain(SUBSCRIPTION, TABLE, {"size": "tall"}, 0)


def test_pictures() -> None:
    picture = AUTHORING.picture(SUBSCRIPTION, TABLE)
    assert sum("wanted |" in line for line in picture.terminal()) == 3
    assert picture.svg().startswith("<svg")
    assert "<h1>flat</h1>" in picture.page(["words"], "flat")


def test_a_match_in_words() -> None:
    assert AUTHORING.describe_match(Match((1, 1), 255, b"\x80"), TABLE) == "possible 1.00, necessary 0.50"
    with pytest.raises(VectorError):
        AUTHORING.describe_match(Match((1, 1), 255, b""), TABLE)
    assert AUTHORING.happened_s(PUBLICATION) == 0
    assert AUTHORING.meaning(SUBSCRIPTION[3:]) == SUBSCRIPTION[5:]


@few(40)
@given(wanted=subscriptions(), stamp_s=st.integers(0, 65535), valid=st.integers(0, 255))
def test_law_what_is_decompiled_compiles_to_the_same(wanted: Subscription, stamp_s: int, valid: int) -> None:
    body = encode_subscription(wanted)
    body = stamp_s.to_bytes(2, "big") + body[2:3] + bytes([body[3] | 3]) + body[4:]
    vector = framed(7, 8, valid, body)
    made = AUTHORING.compile(decompile(vector, TABLE).encode(), "f", TABLE, CompileOptions(stamp_s=stamp_s))
    assert framed(7, 8, made.lifetime_q, made.body) == vector


FAILURES = [
    (
        '<approximate-predicate attribute="age" necessity="0.6"><is>old</is></approximate-predicate>',
        "",
        "age: N 0.500 is below its threshold 9/15 (0.600)",
    ),
    (
        '<approximate-predicate attribute="age"><is>old</is></approximate-predicate>',
        'necessity="0.6"',
        "the whole: N 0.500 is below its threshold 9/15 (0.600)",
    ),
    (
        '<crisp-predicate attribute="rent" operator="ge" possibility="0.8">1260</crisp-predicate>'
        '<approximate-predicate attribute="age"><is>old</is></approximate-predicate>',
        "",
        "it matches",
    ),
    (
        '<crisp-predicate attribute="rent" operator="ge" possibility="0.8">1290</crisp-predicate>'
        '<approximate-predicate attribute="age" necessity="0.6"><is>old</is></approximate-predicate>',
        "",
        "rent: Π 0.700 is below its threshold 12/15 (0.800); "
        "age: N 0.500 is below its threshold 9/15 (0.600)",
    ),
    (
        '<crisp-predicate attribute="rent" operator="ge">1500</crisp-predicate>',
        "",
        "rent is impossible",
    ),
    (
        '<crisp-predicate attribute="size" operator="ge">50</crisp-predicate>',
        "",
        "size is unknown",
    ),
    (
        "<or>"
        '<crisp-predicate attribute="rent" operator="ge" possibility="0.8">1290</crisp-predicate>'
        '<approximate-predicate attribute="age"><is>old</is></approximate-predicate>'
        "</or>",
        'necessity="1"',
        "the whole: N 0.500 is below its threshold 15/15 (1.000); "
        "rent: Π 0.700 is below its threshold 12/15 (0.800)",
    ),
]


@pytest.mark.parametrize(("inner", "attributes", "reason"), FAILURES)
def test_an_explanation_names_what_failed(inner: str, attributes: str, reason: str) -> None:
    """Known are a cheap rent, at most 1200 and 0 at 1500, and an old house."""
    head = f'<subscription xmlns="urn:dens:approximate:1" event="apartment" {attributes}>'
    made = AUTHORING.compile(f"{head}{inner}</subscription>".encode(), "f.xml", TABLE)
    vector = framed(0, 0, made.lifetime_q, made.body)
    found = AUTHORING.explain(vector, TABLE, {"rent": "cheap", "age": "old"}, 0)
    verdict = found.lines()[-1].partition("): ")[2]
    assert verdict.removeprefix("it does not match: ") == reason
    assert found.matches == (reason == "it matches")
