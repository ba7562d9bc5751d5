"""Every golden case of the fuzzy language, through the scalar code that boards run."""

import json
from typing import Any

import pytest

from tests.paths import ROOT
from watchdog.filter import FuzzyFilter
from watchdog.lifetime import lifetime_code
from watchdog.membership import SLOPES, degree
from watchdog.reading import Reading
from watchdog.score import memberships, satisfies, vector_degree
from watchdog.vector import check_notification, check_subscription, constraints_offset, indexes

GOLDEN: dict[str, Any] = json.loads((ROOT / "tests" / "golden" / "fuzzy_v1.json").read_text(encoding="utf-8"))


def row_of(notification: bytes, age_code: int = 0) -> bytearray:
    """Spread a notification's values over a row of eight."""
    row = bytearray(8)
    places = bytearray(8)
    n = indexes(notification, len(notification) - 1, 1, places)
    for i in range(n):
        row[places[i]] = notification[6 + i]
    row[7] = age_code
    return row


def test_the_slope_table_is_the_listed_one() -> None:
    assert list(SLOPES)[:127] == GOLDEN["slope_table"]


@pytest.mark.parametrize("case", GOLDEN["membership"])
def test_memberships(case: dict[str, Any]) -> None:
    for x, expected in case["degrees"].items():
        assert degree(int(x), case["v"], case["V"], case["g"]) == expected


@pytest.mark.parametrize("case", GOLDEN["match"] + GOLDEN["weighted"] + GOLDEN["age"])
def test_whole_matches(case: dict[str, Any]) -> None:
    subscription = bytes.fromhex(case["subscription"])
    notification = bytes.fromhex(case["notification"])
    check_subscription(subscription, 1)
    check_notification(notification, 1)
    row = row_of(notification, case.get("age_code", 0))
    places = bytearray(8)
    n = indexes(subscription, len(subscription) - 1, 1, places)
    degrees = bytearray(n)
    memberships(subscription, constraints_offset(subscription), row, places, n, degrees)
    assert list(degrees) == case["memberships"]
    low, high = case["degree"] if isinstance(case["degree"], list) else (case["degree"],) * 2
    found = vector_degree(subscription, 1, row)
    assert low <= found <= high
    served = subscription[-2] == notification[-2] and not subscription[-1] & 127 & ~notification[-1]
    if case["matches_subset"] is not None:
        assert (served and satisfies(subscription[5], found)) == case["matches_subset"]


@pytest.mark.parametrize("case", GOLDEN["match"] + GOLDEN["weighted"] + GOLDEN["age"])
def test_what_matches_passes_the_filter(case: dict[str, Any]) -> None:
    subscription = bytes.fromhex(case["subscription"])
    notification = bytes.fromhex(case["notification"])
    reading = Reading()
    reading.clear(notification[-2].bit_length() - 1, 1, 0)
    row = row_of(notification)
    for attribute in range(7):
        if notification[-1] >> attribute & 1:
            reading.set(attribute, row[attribute])
    guard = FuzzyFilter()
    guard.add((1, subscription[0]), subscription)
    releases = guard.feed(reading)
    for release in releases:
        check_notification(release.vector, 1)
    if case["matches_subset"]:
        assert [release.vector[-1] for release in releases] == [subscription[-1] & 127]


@pytest.mark.parametrize(("seconds", "code"), [(int(s), q) for s, q in GOLDEN["valid_codes"].items()])
def test_lifetime_codes(seconds: int, code: int) -> None:
    assert lifetime_code(seconds) == code


@pytest.mark.parametrize("case", GOLDEN["age"])
def test_ages_are_coded_like_lifetimes(case: dict[str, Any]) -> None:
    assert lifetime_code(case["age_s"]) == case["age_code"]
