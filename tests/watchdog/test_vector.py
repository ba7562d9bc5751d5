"""Which bytes are vectors: every well-formed one is accepted, everything else is refused with one error
type.
"""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.watchdog.strategies import notifications, subscriptions
from watchdog.aggregators import is_known
from watchdog.lifetime import LONGEST_LIFETIME_S, lifetime_code, lifetime_s
from watchdog.vector import (
    NOTIFICATION,
    SUBSCRIPTION,
    VectorError,
    attribute_feature_offset,
    cardinality,
    check_notification,
    check_subscription,
    constraints_offset,
    event_feature_offset,
    indexes,
    is_newer,
    kind,
)

feature_sizes = st.sampled_from([1, 2, 4, 8])
UNKNOWN = next(number for number in range(16) if not is_known(number))


def refused(check: object, b: bytes, feature_bytes: int) -> VectorError | None:
    """Return the VectorError, or None when b was accepted; any other exception fails the test."""
    try:
        check(b, feature_bytes)  # type: ignore[operator]
    except VectorError as error:
        return error
    return None


@given(st.data(), feature_sizes)
def test_every_well_formed_subscription_is_accepted(data: st.DataObject, size: int) -> None:
    b = data.draw(subscriptions(size))
    check_subscription(b, size)
    assert kind(b, size) == SUBSCRIPTION
    k = cardinality(b, attribute_feature_offset(b, size), size)
    assert event_feature_offset(b, size) == constraints_offset(b) + 3 * k


@given(st.data(), feature_sizes)
def test_every_well_formed_notification_is_accepted(data: st.DataObject, size: int) -> None:
    b = data.draw(notifications(size))
    check_notification(b, size)
    assert kind(b, size) == NOTIFICATION
    assert refused(check_subscription, b, size) is not None


@given(st.data())
def test_every_truncation_and_extension_is_refused(data: st.DataObject) -> None:
    b = data.draw(subscriptions())
    for end in range(len(b)):
        # A shorter vector can be a vector again only if its last byte happens to be a fitting feature.
        error = refused(check_subscription, b[:end], 1)
        if error is None:
            assert kind(b[:end], 1) == SUBSCRIPTION
        else:
            assert 0 <= error.offset <= end
    n = data.draw(notifications())
    for end in range(7):
        assert refused(check_notification, n[:end], 1) is not None


@given(st.binary(max_size=80), feature_sizes)
def test_garbage_is_a_vector_or_a_vector_error(b: bytes, size: int) -> None:
    for check in (check_subscription, check_notification, kind):
        error = refused(check, b, size)
        assert error is None or (0 <= error.offset <= len(b) and str(error.offset) in str(error))


@given(st.data(), st.integers(0, 10**6), st.integers(0, 255))
def test_a_changed_byte_is_refused_or_well_formed_in_its_own_right(
    data: st.DataObject, place: int, value: int
) -> None:
    b = bytearray(data.draw(subscriptions()))
    b[place % len(b)] = value
    if refused(check_subscription, bytes(b), 1) is None:
        assert b[-1] != 0
        assert b[-2].bit_count() == 1
        assert is_known(b[5] & 15)
        at = constraints_offset(b)
        k = cardinality(b, len(b) - 1, 1)
        assert at + 3 * k + 2 == len(b)
        assert all(b[i] <= b[i + 1] for i in range(at, len(b) - 2, 3))


@pytest.mark.parametrize(
    ("wrong", "offset", "sentence"),
    [
        ("00" * 5, 5, "too short"),
        (f"0000000000 0{UNKNOWN:x} 000000 01 01", 5, f"unknown aggregator {UNKNOWN}"),
        ("0000000000 00 050400 01 01", 6, "v is greater than V"),
        ("0000000000 00 000000 03 01", 9, "exactly one event class"),
        ("0000000000 00 000000 00 01", 9, "exactly one event class"),
        ("0000000000 00 000000 01 00", 10, "attribute feature is 0"),
        ("0000000000 00 000000 01 03", 11, "11 bytes where the features ask for 14"),
        ("0000000000 06 0100 000000 01 01", 7, "all weights are 0"),
        ("0000000000 06 020101 000000 01 01", 6, "one weight for each"),
        ("0000000000 0f 00 000000 01 01", 6, "never empty"),
        ("0000000000 0f 0180 000000 01 01", 7, "no connective"),
        ("0000000000 0f 0101 000000 000000 01 03", 7, "groups of one only"),
        ("0000000000 0f 0102 000000 000000 01 03", 7, "border after the last"),
        ("0000000000 0f 020001 000000 000000 01 03", 8, "operands without a connective"),
        ("0000000000 0f 02000042 000000 000000 01 03", 18, "where the features"),
        ("0000000000 0f 03000042 000000 000000 01 03", 8, "used before"),
        ("0000000000 0f 03000542 000000 000000 01 03", 8, "beyond the last constraint"),
        ("0000000000 0f 03000142 000000 000000 01 03", 9, "one-byte form"),
        ("0000000000 0f 03010042 000000 000000 01 03", 9, "out of order"),
        ("0000000000 0f 0400c0c0c0 000000 01 01", 9, "not of a not"),
        ("0000000000 0f 0400c14242 000000 01 01", 8, "unknown token"),
        ("0000000000 0f 020041 000000 01 01", 8, "at least two operands"),
        ("0000000000 0f 020042 000000 01 01", 8, "too few operands"),
        ("0000000000 0f 0200c0 000000 000000 01 03", 8, "does not use"),
        ("0000000000 0f 0500014202 42 000000 000000 000000 01 07", 11, "inside the same connective"),
        ("0000000000 07 0100 000000 01 01", 7, "at least two constraints"),
        ("0000000000 07 020000 000000 000000 01 03", 6, "carries no table"),
        ("0000000000 07 0106 000000 000000 01 03", 7, "unknown function"),
        ("0000000000 07 020209 000000 000000 01 03", 6, "2 to 8 regions"),
        ("0000000000 07 08 02 02 0505 01020304 000000 000000 01 03", 10, "must rise"),
        ("0000000000 07 07 02 02 0506 010203 000000 000000 01 03", 6, "does not agree"),
        ("0000000000 08 08 03 02 0506 01020304 000000 000000 01 03", 7, "one pair has one table"),
    ],
)
def test_what_is_wrong_and_where(wrong: str, offset: int, sentence: str) -> None:
    error = refused(check_subscription, bytes.fromhex(wrong), 1)
    assert error is not None
    assert error.offset == offset
    assert sentence in error.message


@pytest.mark.parametrize(
    ("wrong", "offset", "sentence"),
    [
        ("000000000000", 6, "too short"),
        ("0000000000 01 00 01 01", 5, "low nibble"),
        ("0000000000 00 00 01 80", 8, "never carries its age"),
        ("0000000000 00 00 06 01", 7, "exactly one event class"),
        ("0000000000 00 00 01 00", 8, "attribute feature is 0"),
        ("0000000000 00 00 01 03", 9, "9 bytes where the features ask for 10"),
    ],
)
def test_what_is_wrong_with_a_notification(wrong: str, offset: int, sentence: str) -> None:
    error = refused(check_notification, bytes.fromhex(wrong), 1)
    assert error is not None
    assert (error.offset, sentence in error.message) == (offset, True)


@given(st.binary(min_size=8, max_size=8), feature_sizes)
def test_indexes_are_the_set_bits(mask: bytes, size: int) -> None:
    out = bytearray(64)
    number = int.from_bytes(mask[:size], "big")
    n = indexes(mask, 0, size, out)
    assert list(out[:n]) == [i for i in range(64) if number >> i & 1]


@given(st.integers(0, 255))
def test_a_lifetime_is_the_floor_of_the_power(q: int) -> None:
    n = lifetime_s(q)
    assert n**8 <= 2**q
    assert 2**q < (n + 1) ** 8 or n == LONGEST_LIFETIME_S == (2**32 - 1) // 1000


@given(st.integers(0, 2**33))
def test_a_lifetime_code_is_the_least_that_is_long_enough(seconds: int) -> None:
    q = lifetime_code(seconds)
    assert lifetime_s(q) >= seconds or q == 255
    assert q == 0 or lifetime_s(q - 1) < seconds


@given(st.integers(0, 255), st.integers(0, 255))
def test_revisions_are_compared_modulo_256(a: int, b: int) -> None:
    assert is_newer((b + a) % 256, b) == (0 < a < 128)
    assume(a != b and (a - b) % 256 != 128)
    assert is_newer(a, b) != is_newer(b, a)
