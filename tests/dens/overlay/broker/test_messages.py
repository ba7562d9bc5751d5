"""What publishers and brokers say, byte by byte; bytes that say nothing are refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.wire.broker_messages import ALL, Advertised, Join, Prune, Unadvertised
from dens.overlay.wire.codes import LAST_NODE, LINK_NUMBER
from dens.overlay.wire.messages import Withdrawal

numbers = st.integers(0, LINK_NUMBER - 1)
vectors = st.binary(min_size=3, max_size=40)


def test_golden_bytes() -> None:
    assert Advertised(258, b"\x01\x02\x60body").encode().hex() == "00000102" + "010260" + b"body".hex()
    assert Unadvertised(258, Withdrawal(1, 2)).encode().hex() == "000001020102"
    assert Join(200, b"\x00\x00\xa8body").encode().hex() == "000000c8" + "0000a8" + b"body".hex()
    assert Join(ALL, b"\x00\x00\xa8").encode().hex() == "ffffffff0000a8"
    assert Prune(7).encode().hex() == "00000007"


@given(numbers, vectors, st.integers(0, LAST_NODE) | st.just(ALL), st.integers(0, 255), st.integers(0, 255))
def test_what_is_written_is_read(generation: int, vector: bytes, publisher: int, id: int, seq: int) -> None:
    for said in (
        Advertised(generation, vector),
        Unadvertised(generation, Withdrawal(id, seq)),
        Join(publisher, vector),
        Prune(generation),
    ):
        assert type(said).decode(said.encode()) == said


@given(st.binary(max_size=12))
def test_any_bytes_are_read_or_refused(payload: bytes) -> None:
    for kind in (Advertised, Unadvertised, Join, Prune):
        with suppress(RemoteProtocolError):
            assert kind.decode(payload).encode() == payload


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (Advertised, b"\x80\x00\x00\x00\x00\x00\x60"),
        (Advertised, b"\x00\x00\x00\x01\x00\x00"),
        (Unadvertised, b"\x00\x00\x00\x01\x00\x00\x01"),
        (Join, b"\x80\x00\x00\x00\x00\x00\x60"),
        (Join, b"\x00\x00\x00\x01\x00"),
        (Prune, b"\x80\x00\x00\x00"),
        (Prune, b""),
    ],
)
def test_invalid_broker_messages_are_refused(kind: type[Advertised], payload: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        kind.decode(payload)
