"""Payloads of messages between publishers and brokers, each with `encode` and a total `decode`."""

from dataclasses import dataclass
from typing import Final

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.wire.codes import LAST_NODE, LINK_NUMBER
from dens.overlay.wire.messages import Subscribed, Withdrawal

_NUMBER_BYTES: Final = 4
ALL: Final = (1 << 32) - 1
"""In place of a publisher: all publishers."""


def _number(payload: bytes, at: int = 0) -> int:
    return int.from_bytes(payload[at : at + _NUMBER_BYTES], "big")


def _generation(payload: bytes) -> int:
    generation = _number(payload)
    if generation >= LINK_NUMBER:
        raise RemoteProtocolError("a generation is the number of an advertisement", 0)
    return generation


@dataclass(frozen=True, slots=True)
class Advertised:
    """ADVERTISE: the number of the first advertisement of its generation, and a vector."""

    generation: int
    vector: bytes

    def encode(self) -> bytes:
        return self.generation.to_bytes(_NUMBER_BYTES, "big") + self.vector

    @classmethod
    def decode(cls, payload: bytes) -> "Advertised":
        return cls(_generation(payload), Subscribed.from_subscribe(payload[_NUMBER_BYTES:]).vector)


@dataclass(frozen=True, slots=True)
class Unadvertised:
    """UNADVERTISE: the generation, and an advertisement with this revision and all older ones."""

    generation: int
    withdrawal: Withdrawal

    def encode(self) -> bytes:
        return self.generation.to_bytes(_NUMBER_BYTES, "big") + self.withdrawal.encode()

    @classmethod
    def decode(cls, payload: bytes) -> "Unadvertised":
        if len(payload) != _NUMBER_BYTES + 2:
            raise RemoteProtocolError("an UNADVERTISE has six bytes", len(payload))
        return cls(_generation(payload), Withdrawal.decode(payload[_NUMBER_BYTES:]))


@dataclass(frozen=True, slots=True)
class Join:
    """JOIN: a publisher (or `ALL`), and a vector whose body describes the requested notifications. Its id and
    revision have no meaning: a JOIN is identified by its message number.
    """

    publisher: int
    vector: bytes

    def encode(self) -> bytes:
        return self.publisher.to_bytes(_NUMBER_BYTES, "big") + self.vector

    @classmethod
    def decode(cls, payload: bytes) -> "Join":
        vector = Subscribed.from_subscribe(payload[_NUMBER_BYTES:]).vector
        publisher = _number(payload)
        if LAST_NODE < publisher != ALL:
            raise RemoteProtocolError(f"{publisher} is not a node number", 0)
        return cls(publisher, vector)


@dataclass(frozen=True, slots=True)
class Prune:
    """PRUNE: the message number of a JOIN of the same broker."""

    number: int

    def encode(self) -> bytes:
        return self.number.to_bytes(_NUMBER_BYTES, "big")

    @classmethod
    def decode(cls, payload: bytes) -> "Prune":
        if len(payload) != _NUMBER_BYTES or _number(payload) >= LINK_NUMBER:
            raise RemoteProtocolError("a PRUNE is the message number of a JOIN, in four bytes", 0)
        return cls(_number(payload))
