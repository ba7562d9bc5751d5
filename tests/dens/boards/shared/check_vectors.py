"""Checks of the vector format that run on every runtime as they are."""

from watchdog.lifetime import lifetime_code, lifetime_s
from watchdog.vector import (
    NOTIFICATION,
    SUBSCRIPTION,
    VectorError,
    check_notification,
    check_subscription,
    constraints_offset,
    indexes,
    is_newer,
    kind,
)

SUBSCRIBED = b"\x00\x15\xc8\x89\xee\x00\x44\x7f\x7f\x2d\x2d\x7f\xbf\xc6\x09\x01\x07"
NOTIFIED = b"\x01\x00\xc8\x00\x00\x00\xb9\x29\xec\x01\x07"


def refusal(check, b: bytes) -> int:
    """Return at which offset a vector is refused, or -1."""
    try:
        check(b, 1)
    except VectorError as error:
        assert str(error.offset) in str(error)  # noqa: PT017
        return error.offset
    return -1


def test_good_vectors() -> None:
    assert refusal(check_subscription, SUBSCRIBED) == -1
    assert refusal(check_notification, NOTIFIED) == -1
    assert (kind(SUBSCRIBED, 1), kind(NOTIFIED, 1)) == (SUBSCRIPTION, NOTIFICATION)
    assert constraints_offset(SUBSCRIBED) == 6


def test_truncated_vectors() -> None:
    for end in range(len(SUBSCRIBED)):
        assert refusal(check_subscription, SUBSCRIBED[:end]) >= 0
    for end in range(len(NOTIFIED)):
        assert refusal(check_notification, NOTIFIED[:end]) >= 0


def test_bad_vectors() -> None:
    bad = bytearray(SUBSCRIBED)
    bad[5] = 9
    assert refusal(check_subscription, bad) == 5
    bad[5] = 0
    bad[6] = 0x80
    assert refusal(check_subscription, bad) == 6
    worse = bytearray(NOTIFIED)
    worse[5] = 1
    assert refusal(check_notification, worse) == 5


def test_pattern_blocks() -> None:
    for block, answer in (
        (b"\x01\x82", -1),
        (b"\x06\x00\x02\x82\x01\xc0\x42", -1),
        (b"\x01\x03", 7),
        (b"\x04\x00\x01\x02\x43", 10),
        (b"\x05\x00\x01\x42\x02\x42", 11),
    ):
        assert refusal(check_subscription, bytes(5) + b"\x0f" + block + bytes(9) + b"\x01\x07") == answer


def test_lifetimes() -> None:
    assert [lifetime_s(q) for q in (0, 8, 13, 95, 255)] == [1, 2, 3, 3756, 4294967]
    assert [lifetime_code(s) for s in (0, 1, 2, 3600, 86400)] == [0, 0, 8, 95, 132]


def test_revisions() -> None:
    assert is_newer(1, 255)
    assert not is_newer(255, 1)
    assert not is_newer(128, 0)


def test_indexes() -> None:
    out = bytearray(16)
    assert indexes(b"\x80\x21", 0, 2, out) == 3
    assert list(out[:3]) == [0, 5, 15]
