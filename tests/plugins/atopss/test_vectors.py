"""The bytes of the language: one spelling, and a decoder that takes nothing else."""

import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.atopss.canonical import canonical
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Subscription, tree_of
from plugins.atopss.vectors import (
    decode_notification,
    decode_subscription,
    encode_notification,
    encode_subscription,
)
from plugins.byte_numbers import number
from tests.plugins.atopss.shapes import shapes
from tests.plugins.atopss.subscriptions import PUBLICATION, SUBSCRIPTION, subscriptions, values
from watchdog.vector import VectorError


def test_the_example_is_read_and_written_again() -> None:
    assert encode_subscription(decode_subscription(SUBSCRIPTION[3:])) == SUBSCRIPTION[3:]
    assert encode_notification(decode_notification(PUBLICATION)) == PUBLICATION


@given(subscriptions(events=64))
def test_law_a_subscription_comes_back(wanted: Subscription) -> None:
    body = encode_subscription(wanted)
    assert decode_subscription(body) == wanted
    again = canonical(
        wanted.event,
        tree_of(wanted),
        wanted.norm,
        possibility=wanted.possibility,
        necessity=wanted.necessity,
    )
    assert again == wanted


@given(values(most=63), st.integers(0, 65535), st.integers(0, 255), st.integers(0, 63))
def test_law_a_notification_comes_back(told: dict[int, Shape], number: int, byte: int, event: int) -> None:
    notification = Notification(number, byte, 65535 - number, event, told, byte >> 4, byte & 15)
    assert decode_notification(encode_notification(notification)) == notification


def test_a_crisp_notification_of_three_values_has_few_bytes() -> None:
    told = Notification(1, 95, 0, 0, {at: Shape(x, x, x, x) for at, x in ((0, 900), (1, 80), (3, 930))})
    assert len(encode_notification(told)) <= 20


REFUSED = [
    ("", 3, "ends where a stamp"),
    ("00000000 00", 8, "ends where an attribute"),
    ("00000000 00 00", 9, "ends where a shape"),
    ("00000000 c0 000078", 7, "unknown form"),
    ("00000000 40 000078", 7, "single predicate must be joined by and"),
    ("00000080 41 000078 010078", 7, "a mean must join a flat list"),
    ("00000000 00 3f0078", 8, "unknown attribute 63"),
    ("00000000 00 000778", 9, "unknown kind of shape"),
    ("00000000 00 008078", 9, "unknown kind of shape"),
    ("00000000 00 003078", 9, "unknown kind of shape"),
    ("00000000 00 000e", 9, "complement of anything"),
    ("00000000 00 00400078", 10, "thresholds of 0"),
    ("00000000 00 000078 00", 11, "trailing bytes"),
    ("00000000 00 00017800", 9, "interval of one value"),
    ("00000000 00 0004780000", 9, "no slope"),
    ("00000000 00 000578000900", 9, "no slope"),
    ("00000000 00 000578010001", 9, "trapezoid is a triangle"),
    ("00000000 00 00100178", 9, "unknown profile"),
    ("00000000 00 00143078010101", 9, "unknown profile"),
    ("00000000 00 00240101780101", 9, "two profiles"),
    ("00000000 00 00240001780001", 9, "two profiles"),
    ("00000000 00 00008078", 10, "write it shorter"),
    ("00000000 00 0000ffffffff00", 10, "more than four bytes"),
    ("00000000 00 000088808000", 10, "too far out"),
    ("00000000 01 000078 000078", 11, "ascending order of their bytes"),
    ("000000c0 00 00007800", 12, "all weights are 0"),
    ("00000000 81 000078 010078 03 00017f", 17, "connective must follow"),
    ("00000000 81 000078 010078 04 00017f", 15, "4 tokens are announced, 3 follow"),
    ("00000000 81 000078 010078 03 000142", 15, "a flat function must not have tokens"),
    ("00000000 81 000078 010078 03 010042", 17, "operands are not in ascending"),
    ("00000000 81 000078 010078 03 000242", 16, "unknown predicate 2"),
    ("00000000 81 000078 010078 02 0001", 15, "not one function"),
    ("00000000 81 000078 010078 05 00000142c2", 19, "connective must follow"),
    ("00000000 81 000078 010078 05 0000014242", 19, "directly inside its own kind"),
    ("00000000 82 000078 010078 020078 05 0000014282", 18, "a predicate is not used"),
]
"""Bodies, the offset in their vector at which they are refused, and why."""


@pytest.mark.parametrize(("body", "offset", "message"), REFUSED)
def test_what_is_refused_and_where(body: str, offset: int, message: str) -> None:
    with pytest.raises(VectorError, match=message) as raised:
        decode_subscription(bytes.fromhex(body))
    assert raised.value.offset == offset


def test_too_deep_a_function_is_refused() -> None:
    tokens = b"\x00\x01\x42"
    for level in range(60):
        tokens = b"\x00" + tokens + (b"\x82", b"\x42")[level % 2]
    body = bytes.fromhex("0000000081000078010078") + number(len(tokens)) + tokens
    with pytest.raises(VectorError, match="nested more than 48 deep"):
        decode_subscription(body)


def test_law_mutated_vectors_are_refused_or_spelt_so() -> None:
    chance = random.Random(26)
    accepted = 0
    seeds = [SUBSCRIPTION[3:], bytes.fromhex("0000370081" + _nested_tail())]
    decode_subscription(seeds[1])
    for _ in range(20_000):
        body = _mutated(chance, chance.choice(seeds))
        with suppress(VectorError):
            assert encode_subscription(decode_subscription(body)) == body
            accepted += 1
        vector = _mutated(chance, PUBLICATION)
        with suppress(VectorError):
            assert encode_notification(decode_notification(vector)) == vector
            accepted += 1
    assert accepted > 1000


@given(st.binary(max_size=40))
def test_law_any_bytes_are_refused_or_spelt_so(data: bytes) -> None:
    with suppress(VectorError):
        assert encode_subscription(decode_subscription(data)) == data
    with suppress(VectorError):
        assert encode_notification(decode_notification(data)) == data


@given(shapes(reach=8_000_000), st.integers(0, 62))
def test_law_far_shapes_come_back(shape: Shape, attribute: int) -> None:
    told = Notification(0, 0, 0, 0, {attribute: shape})
    assert decode_notification(encode_notification(told)) == told


def _nested_tail() -> str:
    """Return two predicates and tokens: 0 or (0 and 1)."""
    return "00000a" + "010014" + "05" + "00" + "0001" + "42" + "82"


def _mutated(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(changed)) if changed else 0
        match chance.randrange(4):
            case 0 if changed:
                changed[at] ^= 1 << chance.randrange(8)
            case 1 if changed:
                changed[at] = chance.randrange(256)
            case 2 if changed:
                del changed[at]
            case _:
                changed.insert(at, chance.randrange(256))
    return bytes(changed)
