"""Payloads: what is encoded is decoded, and nothing else is accepted."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.errors import RemoteProtocolError
from dens.messages import (
    Acknowledgement,
    Bundle,
    Hello,
    Notify,
    Receipt,
    Subscribed,
    SummaryMessage,
    Withdrawal,
)
from dens.numbers import Role, Status

words = st.integers(0, 65_535)
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
        lambda said: said.vector,
        Subscribed.from_subscribe,
        st.binary(min_size=3, max_size=20).map(lambda vector: Subscribed(0, vector)),
    ),
    (
        Subscribed.encode_renew,
        Subscribed.from_renew,
        st.builds(Subscribed, longs, st.binary(min_size=3, max_size=20)),
    ),
    (
        Bundle.encode,
        Bundle.decode,
        st.lists(st.binary(max_size=20), min_size=2, max_size=5).map(lambda parts: Bundle(tuple(parts))),
    ),
    (Withdrawal.encode, Withdrawal.decode, st.builds(Withdrawal, octets, octets)),
    (Receipt.encode, Receipt.decode, st.tuples(words, longs).map(Receipt)),
    (
        Notify.encode,
        Notify.decode,
        st.builds(
            Notify,
            st.lists(st.tuples(octets, octets, octets), min_size=1, max_size=255).map(tuple),
            st.binary(max_size=20),
        ),
    ),
    (
        SummaryMessage.encode,
        SummaryMessage.decode,
        st.builds(SummaryMessage, hellos, st.binary(max_size=20), st.just(b"\x05\x00\x07\x02")),
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
