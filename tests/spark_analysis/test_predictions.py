"""Predictions: settled once, true or not, seen before or after."""

from spark_analysis.predictions import PredictionStats, prediction_stats

MATCH, OTHER, FIRST, SECOND, THIRD, OPEN = (bytes([number]) for number in range(6))
SAID = [
    (1_000, 7, 1, FIRST, 0),
    (2_000, 7, 2, SECOND, 0),
    (3_000, 7, 3, THIRD, 0),
    (4_000, 7, 4, OPEN, 0),
    (61_000, 7, 5, MATCH, 0),
    (61_000, 7, 5, FIRST, 1),
    (62_000, 7, 6, OTHER, 0),
    (62_000, 7, 6, SECOND, 1),
    (63_000, 7, 7, THIRD, 1),  # withdrawn: it says nothing besides
]
ROWS = [dict(zip(("at_ms", "origin", "number", "identity", "rank"), row, strict=True)) for row in SAID]


def shown(*steps: tuple[int, int]) -> list[dict[str, int]]:
    return [{"at_ms": at_ms, "origin": 7, "number": number} for at_ms, number in steps]


def test_what_is_seen_before_its_outcome_is_in_time() -> None:
    seen = shown((50_000, 1), (21_000, 1), (70_000, 2), (5_000, 3), (5_000, 4), (90_000, 5))
    assert prediction_stats(ROWS, seen) == PredictionStats(3, 2, 1, 40.0)
    assert prediction_stats(ROWS, []) == PredictionStats(3, 2, 0, None)
    assert prediction_stats(ROWS, shown((61_000, 1))) == PredictionStats(3, 2, 0, None)


def test_prediction_is_described_in_words() -> None:
    assert PredictionStats(3, 2, 1, 40.0).as_text() == (
        "3 predictions ended, 2 of them came true; of these 1 (50%) were delivered before the outcome, "
        "40 s ahead (median)"
    )
    assert PredictionStats(1, 0, 0, None).as_text() == (
        "1 predictions ended, 0 of them came true; of these 0 were delivered before the outcome"
    )


def test_nothing_is_reported_without_settled_predictions() -> None:
    assert prediction_stats(ROWS[:4], shown((2_000, 1))) is None
