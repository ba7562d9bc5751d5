"""Extracts: their bytes, and that nothing else is taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.dictionary.extract import (
    CONTENT_TYPES,
    PROTOCOLS,
    Extract,
    ExtractError,
    OfferedSource,
    decode_extract,
    indexes_of,
    mask_of,
)
from knowledge_manager.mission_table import MissionTable, load_mission_table
from watchdog.lifetime import lifetime_s

TABLE = load_mission_table(["medical", "weather", "fire"])


@st.composite
def extracts(draw: st.DrawFn) -> Extract:
    size = draw(st.sampled_from([1, 2, 4, 8]))
    source = st.builds(
        OfferedSource,
        st.integers(0, 8 * size - 1),
        st.integers(1, 2 ** (8 * size - 1) - 1),
        st.integers(0, len(PROTOCOLS) - 1),
        st.integers(0, len(CONTENT_TYPES) - 1),
    )
    sources = tuple(sorted(draw(st.sets(source, max_size=5))))
    return Extract(draw(st.integers(0, 2**32 - 1)), draw(st.integers(0, 255)), size, sources)


def read_or_refused(content: bytes, table: MissionTable | None = None) -> Extract | ExtractError:
    try:
        return decode_extract(content, table)
    except ExtractError as error:
        return error


@given(extracts())
def test_what_is_written_is_read(extract: Extract) -> None:
    content = extract.encode()
    assert len(content) == 7 + len(extract.sources) * (3 + extract.feature_bytes)
    assert decode_extract(content) == extract


@given(st.binary(max_size=40))
def test_any_bytes_are_an_extract_or_refused(content: bytes) -> None:
    read = read_or_refused(content)
    if isinstance(read, Extract):
        assert read.encode() == content
    else:
        assert 0 <= read.offset <= len(content)


@given(extracts(), st.data())
def test_changed_bytes_are_an_extract_or_refused(extract: Extract, data: st.DataObject) -> None:
    content = bytearray(extract.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(content[: data.draw(st.integers(0, len(content)))])
    for damaged in (bytes(content), cut):
        read = read_or_refused(damaged, TABLE)
        if isinstance(read, Extract):
            assert read.encode() == damaged
        else:
            assert 0 <= read.offset <= len(damaged)


GOLDEN = "10000000078402000a020201010400"


def test_golden_bytes() -> None:
    sources = (OfferedSource(1, 1, 4, 0), OfferedSource(0, 0b1010, 2, 2))
    assert Extract(7, 0x84, 1, sources).encode().hex() == GOLDEN
    assert decode_extract(bytes.fromhex(GOLDEN), TABLE).lifetime_ms == lifetime_s(0x84) * 1000


def test_a_typical_publisher_fits_into_64_bytes_with_room() -> None:
    everything = tuple(
        OfferedSource(event.index, mask_of(a.index for a in event.attributes), 2, 2) for event in TABLE.events
    )
    assert len(Extract(2**31, 131, 1, everything).encode()) == 19
    wide = tuple(OfferedSource(event, 2**63 - 1, 2, 2) for event in range(5))
    assert len(Extract(2**31, 131, 8, wide).encode()) < 64


@pytest.mark.parametrize(
    ("content", "offset", "reason"),
    [
        ("", 0, "at least 7 bytes"),
        ("20000000000000", 0, "layout version 2"),
        ("14000000000000", 0, "feature size code 4"),
        ("10000000000001", 7, "1 sources need 11 bytes, not 7"),
        ("1000000000000000", 7, "0 sources need 7 bytes, not 8"),
        ("1000000000000108010000", 7, "event index 8"),
        ("1000000000000100000000", 8, "at least one attribute"),
        ("1000000000000100800000", 8, "an event's age"),
        ("1000000000000100010800", 9, "protocol code 8"),
        ("1000000000000100010006", 10, "content type code 6"),
        ("100000000000020001000000010000", 11, "ascending order"),
    ],
)
def test_what_is_wrong_and_where(content: str, offset: int, reason: str) -> None:
    with pytest.raises(ExtractError, match=reason) as error:
        decode_extract(bytes.fromhex(content))
    assert error.value.offset == offset


@pytest.mark.parametrize(
    ("extract", "offset", "reason"),
    [
        (Extract(0, 0, 1, (OfferedSource(5, 1),)), 7, "event index 5 is not in the mission table"),
        (Extract(0, 0, 1, (OfferedSource(2, 0x40),)), 8, "fire has no such attributes"),
        (Extract(0, 0, 2, ()), 0, "features of 2 bytes; the mission table has 1"),
    ],
)
def test_what_a_table_does_not_know(extract: Extract, offset: int, reason: str) -> None:
    content = extract.encode()
    assert decode_extract(content) == extract
    with pytest.raises(ExtractError, match=reason) as error:
        decode_extract(content, TABLE)
    assert error.value.offset == offset


@pytest.mark.parametrize(
    "extract",
    [
        Extract(-1, 0, 1, ()),
        Extract(2**32, 0, 1, ()),
        Extract(0, 256, 1, ()),
        Extract(0, 0, 3, ()),
        Extract(0, 0, 1, (OfferedSource(0, 256),)),
        Extract(0, 0, 1, (OfferedSource(-1, 1),)),
        Extract(0, 0, 1, (OfferedSource(0, 1), OfferedSource(0, 1))),
        Extract(0, 0, 8, tuple(OfferedSource(0, mask) for mask in range(1, 257))),
    ],
)
def test_unencodable_extract_is_refused(extract: Extract) -> None:
    with pytest.raises(ExtractError):
        extract.encode()


@given(st.sets(st.integers(0, 63)))
def test_masks_and_indexes(indexes: set[int]) -> None:
    assert indexes_of(mask_of(indexes)) == tuple(sorted(indexes))
