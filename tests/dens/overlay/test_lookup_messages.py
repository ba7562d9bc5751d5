"""The bytes of look-ups: what is written is read again, and nothing else is."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.wire.lookup_messages import Lookup, OfferEntry, Offers

NODES = st.integers(0, 2**31 - 1)
NUMBERS = st.integers(0, 2**32 - 1)
BYTES = st.integers(0, 255)
LOOKUPS = st.builds(Lookup, NODES, NUMBERS, BYTES, st.integers(0, 65_535), st.binary(max_size=1_024))
ENTRIES = st.lists(st.builds(OfferEntry, BYTES, st.binary(max_size=60)), max_size=5).map(tuple)


@st.composite
def offers(draw: st.DrawFn) -> Offers:
    parts = draw(st.integers(1, 255))
    part, flags = draw(st.integers(0, parts - 1)), draw(st.integers(0, 31))
    mediators = draw(st.integers(0, 65_535))
    return Offers(draw(NODES), draw(NUMBERS), part, parts, flags, mediators, draw(ENTRIES))


def test_bytes_that_others_rely_on() -> None:
    asked = Lookup(0x01020304, 0x0A0B0C0D, 7, 3_000, b"\x11\x00\x00\x03")
    assert asked.encode().hex(" ") == "01 02 03 04 0a 0b 0c 0d 07 0b b8 11 00 00 03"
    said = Offers(0x01020304, 0x0A0B0C0D, 1, 2, 5, 300, (OfferEntry(2, b"abc"), OfferEntry(0, b"")))
    head = "01 02 03 04 0a 0b 0c 0d 01 02 05 01 2c"
    assert said.encode().hex(" ") == f"{head} 02 00 03 61 62 63 00 00 00"


@given(LOOKUPS)
def test_a_question_is_read_as_it_was_written(message: Lookup) -> None:
    assert Lookup.decode(message.encode()) == message


@given(offers())
def test_an_answer_is_read_as_it_was_written(message: Offers) -> None:
    assert Offers.decode(message.encode()) == message


@given(st.one_of(st.binary(max_size=60), LOOKUPS.map(Lookup.encode)), st.integers(0, 60), BYTES)
def test_the_decoders_are_total_and_take_only_what_the_encoders_write(
    content: bytes, at: int, byte: int
) -> None:
    for changed in (content, content[:at], content[:at] + bytes((byte,)) + content[at + 1 :]):
        for kind in (Lookup, Offers):
            with suppress(RemoteProtocolError):
                assert kind.decode(changed).encode() == changed


@given(offers().map(Offers.encode), st.integers(0, 400))
def test_an_answer_that_is_cut_is_another_one_or_none(content: bytes, at: int) -> None:
    with suppress(RemoteProtocolError):
        assert Offers.decode(content[:at]).encode() == content[:at]
