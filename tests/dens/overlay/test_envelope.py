"""The envelope: golden bytes, and a decoder that accepts exactly what the encoder writes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.errors import LocalProtocolError, RemoteProtocolError
from dens.overlay.wire.codes import (
    LAST_NODE,
    LINK_NUMBER,
    LINK_TYPES,
    SIGNABLE_TYPES,
    SIGNATURE_BYTES,
    MessageType,
)
from dens.overlay.wire.envelope import PAYLOAD_BYTES, TAGGED, pack, peek, read_header, unpack
from dens.overlay.wire.item import ENVELOPE_BYTES, LIFETIME_MS, OLDEST_AGE_MS, Item, lifetime_code_ms

RELAYED = sorted(set(MessageType) - LINK_TYPES)

relayed_items = st.builds(
    lambda *fields: Item(*fields),
    st.sampled_from([int(kind) for kind in RELAYED]),
    st.integers(0, 255),
    st.one_of(st.integers(0, 65_536), st.integers(0, LAST_NODE)),
    st.integers(0, LINK_NUMBER - 1),
    st.integers(-OLDEST_AGE_MS, 0),
    st.integers(0, 255),
    st.integers(0, 255),
    st.binary(max_size=64),
)


def test_a_notification_of_eleven_bytes_costs_eighteen() -> None:
    item = Item(MessageType.NOTIFICATION, 1, 0x01020304, 0x05060708, 0, 95, 0, bytes(range(11)))
    data = pack(item, 0xAB, 0x090A0B0C, 3, 0)
    assert data.hex() == "402301ab0102030405060708" + "090a0b0c" + "5f03" + bytes(range(11)).hex()
    assert len(data) == ENVELOPE_BYTES + 11 == 18 + 11


@given(relayed_items, st.integers(0, 255), st.booleans())
def test_what_is_packed_is_unpacked(item: Item, check: int, is_tagged: bool) -> None:
    data = pack(item, check, item.age_ms(0), item.hops, TAGGED if is_tagged else 0)
    assert unpack(data + b"8 octets" * is_tagged, 0) == (item, check, is_tagged)


@given(relayed_items, st.binary(min_size=SIGNATURE_BYTES, max_size=SIGNATURE_BYTES), st.booleans())
def test_a_signature_travels_with_what_subscribers_say_and_nothing_else(
    item: Item, signature: bytes, is_tagged: bool
) -> None:
    signed = item.replace(signature=signature)
    data = pack(signed, 7, item.age_ms(0), item.hops, TAGGED if is_tagged else 0) + b"8 octets" * is_tagged
    if item.type in SIGNABLE_TYPES:
        assert unpack(data, 0) == (signed, 7, is_tagged)
        assert len(data) == signed.size + 8 * is_tagged
        with pytest.raises(RemoteProtocolError, match="not a valid length"):
            unpack(data[: ENVELOPE_BYTES + 63], 0)
    elif item.type != MessageType.NOTIFICATION:
        with pytest.raises(RemoteProtocolError, match="only a subscriber signs"):
            unpack(data, 0)


@given(st.binary(max_size=120), st.integers(0, 255), st.sampled_from(list(MessageType)), st.booleans())
def test_any_bytes_are_refused_or_are_what_would_be_packed(
    tail: bytes, flags: int, kind: int, is_likely: bool
) -> None:
    data = bytes((0x40 | flags & 0x0F, kind)) + tail if is_likely else tail
    try:
        item, check, is_tagged = unpack(data, 0)
    except RemoteProtocolError:
        return
    body = data[:-8] if is_tagged else data
    assert pack(item, check, -item.created_ms, item.hops, TAGGED if is_tagged else 0) == body


@given(relayed_items, st.data())
def test_every_truncation_is_refused_or_shortens_the_payload(item: Item, data: st.DataObject) -> None:
    whole = pack(item, 7, item.age_ms(0), item.hops, 0)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    if len(cut) < ENVELOPE_BYTES:
        with pytest.raises(RemoteProtocolError, match="18 bytes"):
            unpack(cut, 0)
    else:
        assert unpack(cut, 0)[0].payload == cut[ENVELOPE_BYTES:]


def test_the_header_is_read_for_the_trace() -> None:
    item = Item(MessageType.NOTIFICATION, 1, 5, 6, 0, 95, 0, b"xy", copies=3)
    header = read_header(pack(item, 7, 1_234, 2, TAGGED) + b"8 octets")
    assert (header.type_name, header.origin, header.number, header.age_ms, header.hops) == (
        "notification",
        5,
        6,
        1_234,
        2,
    )
    assert (header.copies, header.is_tagged, header.table_check) == (3, True, 7)
    assert (header.language, header.lifetime_q) == (1, 95)


@pytest.mark.parametrize(
    ("change", "complaint", "offset"),
    [
        ({0: 0x10}, "version 1 is not known, 4 is", 0),
        ({0: 0x30}, "version 3 is not known, 4 is", 0),
        ({4: 0x80}, "a node has a number up to 2147483647, not 2147483653", 4),
        ({1: 99}, "message type 99 is not known", 1),
        (
            {1: MessageType.SUBSCRIBE, 0: 0x42},
            "only a notification counts copies, only a subscriber signs",
            0,
        ),
        ({8: 0x80}, "a number from 2^31 on belongs to link messages", 8),
        ({1: MessageType.HELLO}, "a link message has a number from 2^31 on", 8),
        ({1: MessageType.HELLO, 8: 0x80}, "a link message has no language, age, lifetime or hops", 2),
        ({0: 0x48}, "20 bytes are not a valid length for this type", 20),
    ],
)
def test_errors_name_the_byte_offset(change: dict[int, int], complaint: str, offset: int) -> None:
    item = Item(MessageType.NOTIFICATION, 1, 5, 6, 0, 95, 0, b"xy")
    data = bytearray(pack(item, 7, 0, 1, 0))
    for position, byte in change.items():
        data[position] = byte
    with pytest.raises(RemoteProtocolError) as refused:
        unpack(bytes(data), 0)
    assert str(refused.value) == f"{complaint} (at byte {offset})"
    assert refused.value.offset == offset


def test_short_input_is_reported_with_its_length() -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        unpack(bytes(17), 0)
    assert str(refused.value) == "an envelope has 18 bytes, here are 17 (at byte 17)"


@pytest.mark.parametrize("field", [2, 12, 16, 17])
def test_a_link_message_has_none_of_what_is_stored(field: int) -> None:
    data = bytearray(pack(Item(MessageType.HELLO, 0, 5, LINK_NUMBER, 0, 0, 0, b"x"), 7, 0, 0, 0))
    assert unpack(bytes(data), 0)[0].number == LINK_NUMBER
    data[field] = 1
    with pytest.raises(RemoteProtocolError, match="no language, age, lifetime or hops"):
        unpack(bytes(data), 0)


def test_the_largest_of_everything_fits_and_more_is_cut_or_refused() -> None:
    item = Item(MessageType.NOTIFY, 255, LAST_NODE, LINK_NUMBER - 1, 0, 255, 0, bytes(PAYLOAD_BYTES))
    data = pack(item, 255, OLDEST_AGE_MS + 5, 300, 0)
    found, check, _ = unpack(data, 0)
    assert (found.created_ms, found.hops, check) == (-OLDEST_AGE_MS, 255, 255)
    assert found.payload == item.payload
    with pytest.raises(RemoteProtocolError, match="not a valid length"):
        unpack(data + b"x", 0)
    assert peek(data) == (MessageType.NOTIFY, 255, LAST_NODE, LINK_NUMBER - 1, OLDEST_AGE_MS, 255)
    assert peek(data[: ENVELOPE_BYTES - 1]) is None
    assert peek(bytes(ENVELOPE_BYTES)) is None
    assert peek(b"\x20" + data[1:]) is None, "the fields of another version stand elsewhere"
    assert peek(data[:4] + b"\x80" + data[5:]) is None
    assert peek(data[:ENVELOPE_BYTES]) == peek(data)
    above = data[:8] + LINK_NUMBER.to_bytes(4, "big") + data[12:]
    with pytest.raises(RemoteProtocolError, match="belongs to link messages"):
        unpack(above, 0)


def test_a_payload_that_is_too_long_is_the_callers_fault() -> None:
    item = Item(MessageType.NOTIFICATION, 1, 5, 6, 0, 95, 0, bytes(PAYLOAD_BYTES + 1))
    with pytest.raises(LocalProtocolError, match="split it"):
        pack(item, 7, 0, 1, 0)


@pytest.mark.parametrize("q", range(256))
def test_a_lifetime_code_is_the_floor_of_the_eighth_root(q: int) -> None:
    seconds = LIFETIME_MS[q] // 1000
    assert LIFETIME_MS[q] <= OLDEST_AGE_MS == 2**32 - 1
    assert seconds**8 <= 2**q
    assert 2**q < (seconds + 1) ** 8 or seconds == OLDEST_AGE_MS // 1000


@given(st.integers(0, LIFETIME_MS[255]))
def test_the_least_code_that_is_long_enough_is_taken(lifetime_ms: int) -> None:
    q = lifetime_code_ms(lifetime_ms)
    assert LIFETIME_MS[q] >= lifetime_ms
    assert q == 0 or LIFETIME_MS[q - 1] < lifetime_ms
