"""Parts for boards say what the boards' own language says in the same bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.mission_table import load_mission_table
from plugins.board_parts import BOARD_LANGUAGE_ID, crisp_part, values_of_board
from plugins.board_vectors import (
    NotificationVector,
    SubscriptionBody,
    encode_body,
    encode_notification,
)
from plugins.fuzzy.language import FUZZY
from watchdog.vector import VectorError

TABLE = load_mission_table(["medical"])
bytes_ = st.integers(0, 255)
ranges = st.tuples(bytes_, bytes_).map(lambda two: (min(two), max(two)))
attributes = st.integers(0, 6)


def test_it_is_the_language_of_boards() -> None:
    assert FUZZY.language_id == BOARD_LANGUAGE_ID


@given(st.dictionaries(attributes, ranges, min_size=1))
def test_a_crisp_part_is_what_the_language_would_write(wanted: dict[int, tuple[int, int]]) -> None:
    ordered = sorted(wanted.items())
    written = SubscriptionBody(
        stamp_s=0,
        threshold=0,
        aggregator=0,
        block=b"",
        constraints=tuple((low, high, 127) for _, (low, high) in ordered),
        event=0,
        attributes=tuple(index for index, _ in ordered),
    )
    assert crisp_part(TABLE, 0, wanted).body == encode_body(written)


@given(st.dictionaries(attributes, bytes_, min_size=1))
def test_board_notification_is_decoded(values: dict[int, int]) -> None:
    ordered = sorted(values.items())
    vector = encode_notification(
        NotificationVector(
            7, 95, 0, 3, bytes(value for _, value in ordered), 0, tuple(index for index, _ in ordered)
        )
    )
    assert values_of_board(vector, TABLE) == (0, values)


def test_invalid_range_and_notification_are_refused() -> None:
    with pytest.raises(VectorError):
        crisp_part(TABLE, 0, {1: (9, 3)})
    with pytest.raises(VectorError):
        crisp_part(TABLE, 0, {})
    with pytest.raises(VectorError):
        values_of_board(b"\x00" * 7, TABLE)
