"""Profiles: their tables are those of the golden file, and they say what hedges say."""

from itertools import pairwise

import pytest

from knowledge_manager.vocabulary.hedges import HEDGES as WORDS
from plugins.atopss.matching.sieve_scan import PROFILE_MASK
from plugins.atopss.shapes.profiles import DUALS, HEDGES, bent, is_profile, profile, table, words
from tests.plugins.atopss.shapes import GOLDEN, PROFILES


def test_there_are_the_tables_of_the_golden_file_and_no_others() -> None:
    assert {str(byte) for byte in PROFILES} == GOLDEN["tables"].keys()
    assert {byte: list(table(int(byte))) for byte in GOLDEN["tables"]} == GOLDEN["tables"]


@pytest.mark.parametrize("byte", [0, *PROFILES])
def test_a_table_rises_from_end_to_end(byte: int) -> None:
    found = table(byte)
    assert (len(found), found[0], found[255]) == (256, 0, 65535)
    assert all(low < high for low, high in pairwise(found))


@pytest.mark.parametrize("name", HEDGES)
def test_a_hedge_bends_a_side_as_it_bends_degrees(name: str) -> None:
    found = table(HEDGES[name])
    dual = table(DUALS[HEDGES[name]])
    for k in range(20, 236):
        assert abs(WORDS[name].bend(found[k] / 65535) - k / 255) < 0.004
        assert abs(1 - WORDS[name].bend(1 - dual[k] / 65535) - k / 255) < 0.004


def test_all_hedges_but_not_have_a_code() -> None:
    assert HEDGES.keys() == {name for name, hedge in WORDS.items() if not hedge.turns_over}


def test_codes_are_those_of_stored_vectors() -> None:
    assert HEDGES == {"very": 1, "extremely": 2, "more_or_less": 3, "slightly": 4, "indeed": 5}
    assert DUALS == {1: 6, 2: 7, 3: 8, 4: 9, 5: 5, 6: 1, 7: 2, 8: 3, 9: 4}
    cancelling = {(1, 3), (3, 1), (2, 4), (4, 2), (6, 8), (8, 6), (7, 9), (9, 7)}
    expected = {
        profile(inner, outer)
        for inner in range(1, 11)
        for outer in range(10)
        if (inner, outer) not in cancelling
    }
    assert set(PROFILES) == expected


def test_numbers_of_profiles_fit_into_the_records_of_the_matcher() -> None:
    assert 1 + len(PROFILES) <= PROFILE_MASK + 1


def test_two_functions_are_the_most_and_must_not_cancel() -> None:
    assert bent(0, 1) == 1
    assert bent(1, 1) == profile(1, 1)
    assert bent(1, 3) is None
    assert bent(profile(1, 1), 1) is None
    assert not is_profile(0)
    assert not is_profile(16)
    assert not is_profile(profile(1, 10))
    assert words(profile(2, 6)) == "dual very extremely"
