"""Which predictions were shown before what they predict, and by how much."""

from dens_experiments.composite.warnings_in_time import Warned, in_words, paired, share_in_time
from plugins.composite.composites import (
    CONFIRMED,
    LAPSED,
    PREDICTED,
    Composite,
    Opening,
    WitnessEntry,
    encode_composite,
)
from plugins.composite.language import COMPOSITE_ID

WITNESS = (WitnessEntry(0, 1, 0, (0,), b"\x05"),)


def made(at_ms: int, number: int, kind: int, opening: int, *, source: int = 3) -> dict[str, object]:
    said = Opening(3, opening, opening, 200, True, False, 5)
    whole = Composite(number, 95, 7, 15, kind, 2, 1, 0, source, 3, WITNESS, said)
    return {
        "at_ms": at_ms,
        "origin": source,
        "number": number,
        "language": COMPOSITE_ID,
        "vector": encode_composite(whole, 1),
    }


def shown(at_ms: int, number: int, *, source: int = 3) -> dict[str, object]:
    return {"at_ms": at_ms, "origin": source, "number": number}


def test_a_prediction_is_paired_with_its_own_outcome_and_first_showing() -> None:
    rows = [
        made(1_000, 1, PREDICTED, 40),
        made(1_000, 1, PREDICTED, 40, source=4),
        made(9_000, 2, CONFIRMED, 40),
        made(20_000, 3, PREDICTED, 50),
        made(25_000, 4, CONFIRMED, 50),
        made(30_000, 5, PREDICTED, 60),
        made(60_000, 6, LAPSED, 60),
        {**made(0, 7, PREDICTED, 70), "language": 1},
    ]
    seen = [shown(5_000, 1), shown(3_000, 1), shown(25_000, 3), shown(31_000, 5)]
    warned = paired(rows, seen)
    assert warned == [
        Warned(1_000, 3_000, 9_000),
        Warned(1_000, None, None),
        Warned(20_000, 25_000, 25_000),
        Warned(30_000, 31_000, None),
    ]
    assert [one.lead_ms for one in warned] == [6_000, None, None, None]
    assert share_in_time(warned) == (1, 2)
    first, lead, ahead = in_words(warned)
    assert "of 4 predictions 2 came true and 3 were shown" in first
    assert "1 (50%)" in first
    assert "median 6 s" in lead
    assert "6 s before completion" in ahead


def test_absence_of_predictions_is_reported() -> None:
    assert in_words(paired([], [])) == ("triage: nothing was predicted.",)
