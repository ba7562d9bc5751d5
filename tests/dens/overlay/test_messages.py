"""Payloads: what is encoded is decoded, and nothing else is accepted."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.wire.codes import LAST_NODE, LINK_NUMBER, Role, Status
from dens.overlay.wire.item import item_id
from dens.overlay.wire.messages import (
    NOTE_BYTES,
    Acknowledgement,
    Batch,
    Hello,
    Notify,
    Receipt,
    Satisfied,
    Subscribed,
    SummaryMessage,
    Withdrawal,
)

words = st.integers(0, 2**31 - 1)
longs = st.integers(0, 2**32 - 1)
octets = st.integers(0, 255)
hellos = st.builds(Hello, st.sampled_from([int(role) for role in Role]), st.integers(1, 2**32 - 1), longs)

CODECS: list[tuple[Callable[[Any], bytes], Callable[[bytes], Any], st.SearchStrategy[Any]]] = [
    (Hello.encode, Hello.decode, hellos),
    (
        Acknowledgement.encode,
        Acknowledgement.decode,
        st.lists(
            st.tuples(words, longs, st.sampled_from([int(status) for status in Status])), min_size=1
        ).map(lambda entries: Acknowledgement(tuple(entries))),
    ),
    (
        lambda message: message.vector,
        Subscribed.from_subscribe,
        st.binary(min_size=3, max_size=20).map(lambda vector: Subscribed(0, vector)),
    ),
    (
        Subscribed.encode_renew,
        Subscribed.from_renew,
        st.builds(Subscribed, longs, st.binary(min_size=3, max_size=20)),
    ),
    (
        Batch.encode,
        Batch.decode,
        st.lists(st.binary(max_size=20), min_size=2, max_size=5).map(lambda parts: Batch(tuple(parts))),
    ),
    (Withdrawal.encode, Withdrawal.decode, st.builds(Withdrawal, octets, octets)),
    (Receipt.encode, Receipt.decode, st.builds(item_id, words, longs).map(Receipt)),
    (
        Notify.encode,
        Notify.decode,
        st.builds(
            Notify,
            st.lists(
                st.builds(Satisfied, octets, octets, octets, st.binary(max_size=255)),
                min_size=1,
                max_size=256,
            ).map(tuple),
            st.binary(max_size=20),
        ),
    ),
    (
        SummaryMessage.encode,
        SummaryMessage.decode,
        st.builds(
            SummaryMessage,
            hellos,
            st.binary(max_size=20),
            st.just(b"\x05\x00\x07\x02"),
            st.sets(words, max_size=5).map(sorted).map(tuple),
            st.just(0),
            words,
            st.just(0),
        ),
    ),
    (
        SummaryMessage.encode,
        SummaryMessage.decode,
        st.builds(
            lambda hello, known, edges, part_of: SummaryMessage(hello, b"", known, (), *edges, part_of),
            hellos,
            st.just(b"\x05\x00\x07\x02"),
            st.tuples(st.integers(1, LAST_NODE), words).map(sorted).filter(lambda edges: edges[0] > 0),
            st.integers(LINK_NUMBER, 2**32 - 1),
        ),
    ),
]


@pytest.mark.parametrize(("encode", "decode", "values"), CODECS)
def test_what_is_encoded_is_decoded(
    encode: Callable[[Any], bytes], decode: Callable[[bytes], Any], values: st.SearchStrategy[Any]
) -> None:
    @given(values)
    def law(value: Any) -> None:
        assert decode(encode(value)) == value

    law()


@pytest.mark.parametrize(("encode", "decode", "values"), CODECS)
def test_any_bytes_are_refused_or_are_what_would_be_encoded(
    encode: Callable[[Any], bytes], decode: Callable[[bytes], Any], values: st.SearchStrategy[Any]
) -> None:
    @given(values, st.binary(max_size=30), st.integers(0, 40), st.integers(0, 7), st.booleans())
    def law(value: Any, junk: bytes, position: int, bit: int, is_likely: bool) -> None:
        payload = junk
        if is_likely:
            changed = bytearray(encode(value))
            if position < len(changed):
                changed[position] ^= 1 << bit
            else:
                del changed[len(changed) - 1 - position % len(changed) :]
            payload = bytes(changed)
        try:
            decoded = decode(payload)
        except RemoteProtocolError:
            return
        assert encode(decoded) == payload

    law()


@pytest.mark.parametrize(
    ("decode", "payload", "text"),
    [
        (Hello.decode, bytes(8), "a hello has 9 bytes, here are 8 (at byte 8)"),
        (Hello.decode, bytes((9, *bytes(8))), "role 9 is not known (at byte 0)"),
        (Hello.decode, bytes((1, *bytes(8))), "a session has a number above 0 (at byte 1)"),
        (SummaryMessage.decode, bytes(10), "a summary has at least 11 bytes, here are 10 (at byte 10)"),
        (
            SummaryMessage.decode,
            bytes((1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1)),
            "the note is longer than the payload or than allowed (at byte 9)",
        ),
        (
            SummaryMessage.decode,
            bytes.fromhex("010000000100000000000365ffff"),
            "101 hosted endpoints are more than 64 or than the payload holds (at byte 11)",
        ),
        (
            SummaryMessage.decode,
            bytes.fromhex("010000000100000000000302ffff"),
            "2 hosted endpoints are more than 64 or than the payload holds (at byte 11)",
        ),
        (
            SummaryMessage.decode,
            bytes.fromhex("010000000100000000000100"),
            "a mediator section without endpoints and note must be empty (at byte 11)",
        ),
        (
            SummaryMessage.decode,
            bytes.fromhex("0100000001000000000009020000000700000007"),
            "hosted endpoints must ascend (at byte 12)",
        ),
        (
            SummaryMessage.decode,
            bytes.fromhex("010000000100000000" + "0008" + "80" + "00000000" + "000000"),
            "a part of a summary ends within its interval (at byte 19)",
        ),
        (
            SummaryMessage.decode,
            bytes.fromhex("010000000100000000" + "0009" + "80" + "00000000" + "7fffffff"),
            "0 to 2147483647 is not an interval of some origins (at byte 12)",
        ),
        (
            SummaryMessage.decode,
            bytes.fromhex("010000000100000000" + "0009" + "80" + "00000000" + "80000000"),
            "0 to 2147483648 is not an interval of some origins (at byte 12)",
        ),
        (
            SummaryMessage.decode,
            bytes.fromhex("010000000100000000" + "0009" + "80" + "00000002" + "00000001"),
            "2 to 1 is not an interval of some origins (at byte 12)",
        ),
        (
            SummaryMessage.decode,
            bytes.fromhex("010000000100000000" + "000c" + "80" + "00000001" + "00000001" + "800000"),
            "a part of a summary ends within a number (at byte 23)",
        ),
        (
            SummaryMessage.decode,
            bytes.fromhex("010000000100000000" + "000d" + "80" + "00000001" + "00000001" + "7fffffff"),
            "a part of a summary follows a link message (at byte 20)",
        ),
        (
            SummaryMessage.decode,
            bytes.fromhex("010000000100000000" + "000e" + "80" + "00000001" + "00000001" + "80000000" + "6e"),
            "only the first part of a summary has hosted endpoints or a note (at byte 24)",
        ),
        (
            SummaryMessage.decode,
            bytes.fromhex("010000000100000000" + "0005" + "01" + "80000000"),
            "2147483648 is not a node number (at byte 12)",
        ),
        (Acknowledgement.decode, b"", "0 bytes are not a whole number of entries (at byte 0)"),
        (Acknowledgement.decode, bytes(8), "8 bytes are not a whole number of entries (at byte 8)"),
        (Acknowledgement.decode, bytes(17) + b"\x63", "status 99 is not known (at byte 17)"),
        (
            Acknowledgement.decode,
            bytes(9) + b"\x80" + bytes(8),
            "2147483648 is not a node number (at byte 9)",
        ),
        (Batch.decode, b"", "a batch has two messages or more (at byte 0)"),
        (Batch.decode, b"\x00\x01a", "a batch has two messages or more (at byte 3)"),
        (Batch.decode, b"\x00\x01a\x00\x02b", "a batch ends within a message (at byte 6)"),
        (Batch.decode, b"\x00\x01a\x00", "a batch ends within a message (at byte 4)"),
        (
            Subscribed.from_subscribe,
            b"ab",
            "a subscription vector starts with id, revision and lifetime (at byte 2)",
        ),
        (
            Subscribed.from_renew,
            bytes(6),
            "a renewal is four bytes and a subscription vector (at byte 6)",
        ),
        (Withdrawal.decode, b"abcd", "a withdrawal has 2 or 3 bytes, here are 4 (at byte 4)"),
        (Receipt.decode, bytes(7), "a receipt has 8 bytes, here are 7 (at byte 7)"),
        (Receipt.decode, b"\x80" + bytes(7), "2147483648 is not a node number (at byte 0)"),
        (Notify.decode, b"", "a notify names 1 to 256 subscriptions, here are 0 (at byte 0)"),
        (
            Notify.decode,
            b"\x00\x00abc",
            "a notify names 1 to 256 subscriptions, here are 0 (at byte 0)",
        ),
        (
            Notify.decode,
            b"\x00\x02abcde",
            "a notify ends within a subscription (at byte 7)",
        ),
        (
            Notify.decode,
            b"\x01\x01" + bytes(3 * 257),
            "a notify names 1 to 256 subscriptions, here are 257 (at byte 0)",
        ),
    ],
)
def test_a_refusal_says_what_is_wrong_and_at_which_byte(
    decode: Callable[[bytes], Any], payload: bytes, text: str
) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        decode(payload)
    assert str(refused.value) == text


@pytest.mark.parametrize(
    ("message", "encoded"),
    [
        (Hello(2, 0x01020304, 0x05060708), "020102030405060708"),
        (SummaryMessage(Hello(1, 1, 2), b"", b"kn"), "01000000010000000200006b6e"),
        (SummaryMessage(Hello(1, 1, 2), b"no", b"kn"), "0100000001000000020003006e6f6b6e"),
        (
            SummaryMessage(Hello(2, 1, 2), b"", b"kn", (7, 258)),
            "0200000001000000020009020000000700000102" + "6b6e",
        ),
        (
            SummaryMessage(Hello(2, 1, 2), b"no", b"kn", (7,), 0, 258),
            "020000000100000002000f" + "81" + "00000000" + "00000102" + "00000007" + "6e6f" + "6b6e",
        ),
        (
            SummaryMessage(Hello(2, 1, 2), b"", b"kn", (), 259, 2**31 - 1, 0x80000009),
            "020000000100000002000d" + "80" + "00000103" + "7fffffff" + "80000009" + "6b6e",
        ),
        (Acknowledgement(((0x01020304, 0x05060708, 1), (7, 8, 9))), "010203040506070801000000070000000809"),
        (Batch((b"a" * 258, b"")), "0102" + "61" * 258 + "0000"),
        (Withdrawal(3, 4), "0304"),
        (Withdrawal(3, 4, 252), "0304fc"),
        (Receipt(item_id(0x01020304, 0x05060708)), "0102030405060708"),
        (Notify((Satisfied(1, 2, 3), Satisfied(4, 5, 6, b"ab")), b"nv"), "0002010203000405060261626e76"),
    ],
)
def test_the_bytes_are_those_of_the_page(message: Any, encoded: str) -> None:
    assert message.encode().hex() == encoded


def test_the_bytes_of_a_renewal_are_those_of_the_page() -> None:
    assert Subscribed(0x01020304, b"vec").encode_renew().hex() == "01020304766563"
    assert Subscribed.from_renew(bytes.fromhex("01020304766563")) == Subscribed(0x01020304, b"vec")


@pytest.mark.parametrize("known", [b"", b"\x05\x00\x07\x02"])
@pytest.mark.parametrize("note_bytes", [0, 1, NOTE_BYTES - 1, NOTE_BYTES])
def test_a_summary_may_know_nothing_yet_and_carry_a_note_of_any_allowed_length(
    known: bytes, note_bytes: int
) -> None:
    message = SummaryMessage(Hello(1, 1, 0), bytes(note_bytes), known)
    assert SummaryMessage.decode(message.encode()) == message


def test_a_note_that_is_longer_than_allowed_is_refused_although_all_of_it_came() -> None:
    payload = SummaryMessage(Hello(1, 1, 0), bytes(NOTE_BYTES + 1), b"").encode()
    with pytest.raises(RemoteProtocolError, match="longer than the payload or than allowed"):
        SummaryMessage.decode(payload)
