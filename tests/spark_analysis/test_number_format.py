"""Numbers as people read them."""

import pytest

from spark_analysis.number_format import (
    NO_BREAK,
    bytes_text,
    counted,
    number_text,
    share_text,
    time_text,
)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0, "0 ms"),
        (0.25, "250 ms"),
        (1, "1 s"),
        (95, "1.58 min"),
        (5400, "1.5 h"),
        (172_800, "2 d"),
    ],
)
def test_times(seconds: float | None, text: str) -> None:
    assert time_text(seconds) == text.replace(" ", NO_BREAK)


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, "–"), (0, "0 B"), (999, "999 B"), (1_670, "1.67 kB"), (25e6, "25 MB"), (3e9, "3 GB")],
)
def test_bytes(count: float | None, text: str) -> None:
    assert bytes_text(count) == text.replace(" ", NO_BREAK)


@pytest.mark.parametrize(
    ("share", "text"), [(None, "–"), (0, "0.0 %"), (0.7512, "75.1 %"), (0.99999, "> 99.9 %"), (1, "100.0 %")]
)
def test_shares_are_never_rounded_up_to_everything(share: float | None, text: str) -> None:
    assert share_text(share) == text.replace(" ", NO_BREAK)


@pytest.mark.parametrize(("number", "text"), [(None, "–"), (12_345, "12,345"), (5.25, "5.25"), (5.0, "5")])
def test_numbers(number: float | None, text: str) -> None:
    assert number_text(number) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), (1000, "1,000 runs")]
)
def test_one_of_a_thing_is_not_many(count: int, text: str) -> None:
    assert counted(count, "run") == text
