"""Seeds are read as a person writes them, and no more of them than can be run."""

import pytest

from emulation.random.seeds import MOST_WORLDS, parse_seeds


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("7", (7,)), ("1..4", (1, 2, 3, 4)), ("1..3,9,2", (1, 2, 3, 9)), (" 5 , 5..6", (5, 6))],
)
def test_seeds_are_written_as_numbers_and_ranges(text: str, seeds: tuple[int, ...]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "1-5",
        "5..1",
        "1..",
        "-3",
        "1..99999999",
        "1,,2",
        str(2**63),
        "1..10001",
        "1..6000,7000..12000",
        f"1..{10**21}",
        "9" * 5000,
        "٣",
    ],
)
def test_what_names_no_seeds_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"seed|backwards"):
        parse_seeds(text)


def test_torture_takes_more_seeds_than_runs_do() -> None:
    assert len(parse_seeds("1..10001,5", MOST_WORLDS)) == 10_001
    with pytest.raises(ValueError, match="names more than 1,000,000 seeds"):
        parse_seeds(f"1..{10**21}", MOST_WORLDS)
