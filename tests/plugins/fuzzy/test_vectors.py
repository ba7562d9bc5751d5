"""Codec: the parts of golden vectors, canonical encoding, and nothing but VectorError for anything else."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.mission_table import load_mission_table
from plugins.board_vectors import (
    decode_body,
    decode_notification,
    encode_body,
    encode_notification,
)
from plugins.fuzzy.authoring.describe import describe_vector
from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.matching.naive import NaiveMatcher
from tests.paths import ROOT
from tests.plugins.fuzzy.subscriptions import encoded_again
from watchdog.header import body_of
from watchdog.vector import VectorError

GOLDEN = json.loads((ROOT / "tests" / "golden" / "fuzzy_v1.json").read_text("utf-8"))
CASES = [case for name in ("match", "weighted", "age") for case in GOLDEN[name]]
TABLE = load_mission_table(["medical", "weather"])


@pytest.mark.parametrize("case", CASES)
def test_golden_vectors_match_as_they_should(case: dict) -> None:  # type: ignore[type-arg]
    subscription, notification = (bytes.fromhex(case[name]) for name in ("subscription", "notification"))
    assert encode_body(decode_body(body_of(subscription))) == body_of(subscription)
    assert encode_notification(decode_notification(notification)) == notification
    matcher = NaiveMatcher(None)
    matcher.add((1, 1), body_of(subscription))
    found = matcher.match(notification, 0, 1000 * case.get("age_s", 0))
    degree = case["degree"]
    least, most = degree if isinstance(degree, list) else (degree, degree)
    if case["matches_subset"] is not None and least == most:
        assert bool(found) == case["matches_subset"]
    if found:
        assert least <= found[0].degree_u8 <= most


def accepted(vector: bytes, codec: FuzzyCodec) -> bool:
    try:
        again = encoded_again(vector, codec)
    except VectorError:
        return False
    assert again == vector
    return True


@pytest.mark.parametrize("codec", [FuzzyCodec(None), FuzzyCodec(TABLE), FuzzyCodec(None, 4)])
def test_random_and_mutated_vectors(codec: FuzzyCodec) -> None:
    chance = random.Random(20260101)
    seeds = [bytes.fromhex(case[name]) for case in CASES for name in ("subscription", "notification")]
    taken = 0
    for _ in range(6000):
        vector = bytearray(chance.choice(seeds))
        for _ in range(chance.randrange(3)):
            vector[chance.randrange(len(vector))] = chance.randrange(256)
        if chance.random() < 0.2:
            del vector[chance.randrange(len(vector)) :]
        taken += accepted(bytes(vector), codec)
        accepted(chance.randbytes(chance.randrange(24)), codec)
    assert codec.feature_bytes > 1 or taken > 100


@given(st.binary(max_size=40), st.sampled_from([None, "sv", "nv"]))
def test_describing_is_total(vector: bytes, kind: str | None) -> None:
    for table in (None, TABLE):
        try:
            found = describe_vector(vector, table, kind)
        except VectorError:
            continue
        assert b"".join(field.content for field in found.fields) == vector
        assert found.lines()
        json.dumps(found.as_document())


def test_mission_table_is_consulted() -> None:
    codec = FuzzyCodec(TABLE)
    good = bytes.fromhex("00006700009592ff547bff3f01017f0107")
    assert codec.subscription(body_of(good)).attributes == (0, 1, 2)
    with pytest.raises(VectorError, match='byte 15: event index "3" is unknown'):
        codec.subscription(body_of(good[:-2] + b"\x08\x07"))
    with pytest.raises(VectorError, match="byte 8: ward has 4 values, not 10"):
        codec.notification(bytes.fromhex("0001670000909292090107"))
    fire = FuzzyCodec(load_mission_table(["fire"]))
    with pytest.raises(VectorError, match="byte 10: fire has no attribute with index 6"):
        fire.subscription(body_of(bytes.fromhex("00006700000000ff7f0440")))


def test_a_notification_in_words() -> None:
    found = describe_vector(bytes.fromhex("0001670000909292010107"), TABLE)
    assert found.kind == "notification"
    assert found.sentences == (
        "patient event 1: patient_temperature is 38.59 degC, heart_rate is 151.7 bpm, ward is ICU.",
    )
