"""The payloads that only publishers and brokers say, each with `encode` and a total `decode`."""

from dataclasses import dataclass
from typing import Final

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.wire.codes import LAST_NODE, LINK_NUMBER
from dens.overlay.wire.messages import Subscribed, Withdrawal

_NUMBER_BYTES: Final = 4
ALL: Final = (1 << 32) - 1
"""In the place of a publisher: all of them."""


def _number(payload: bytes, at: int = 0) -> int:
    return int.from_bytes(payload[at : at + _NUMBER_BYTES], "big")


def _generation(payload: bytes) -> int:
    generation = _number(payload)
    if generation >= LINK_NUMBER:
        raise RemoteProtocolError("a generation is the number of an advertisement", 0)
    return generation


@dataclass(frozen=True, slots=True)
class Advertised:
    """What ADVERTISE says: the number of the first advertisement of its generation, and a vector."""

    generation: int
    vector: bytes

    def encode(self) -> bytes:
        """Return four bytes and the vector."""
        return self.generation.to_bytes(_NUMBER_BYTES, "big") + self.vector

    @classmethod
    def decode(cls, payload: bytes) -> "Advertised":
        """Read one, or raise RemoteProtocolError."""
        return cls(_generation(payload), Subscribed.from_subscribe(payload[_NUMBER_BYTES:]).vector)


@dataclass(frozen=True, slots=True)
class Unadvertised:
    """What UNADVERTISE says: the generation, and this advertisement, this revision and all older ones."""

    generation: int
    withdrawal: Withdrawal

    def encode(self) -> bytes:
        """Return six bytes."""
        return self.generation.to_bytes(_NUMBER_BYTES, "big") + self.withdrawal.encode()

    @classmethod
    def decode(cls, payload: bytes) -> "Unadvertised":
        """Read six bytes, or raise RemoteProtocolError."""
        if len(payload) != _NUMBER_BYTES + 2:
            raise RemoteProtocolError("an advertisement is taken back in six bytes", len(payload))
        return cls(_generation(payload), Withdrawal.decode(payload[_NUMBER_BYTES:]))


@dataclass(frozen=True, slots=True)
class Join:
    """What JOIN says: whose notifications (`ALL`: everybody's), and a vector whose body describes them. Its
    id and revision say nothing: a JOIN is named by the number of its message.
    """

    publisher: int
    vector: bytes

    def encode(self) -> bytes:
        """Return four bytes and the vector."""
        return self.publisher.to_bytes(_NUMBER_BYTES, "big") + self.vector

    @classmethod
    def decode(cls, payload: bytes) -> "Join":
        """Read one, or raise RemoteProtocolError."""
        vector = Subscribed.from_subscribe(payload[_NUMBER_BYTES:]).vector
        publisher = _number(payload)
        if LAST_NODE < publisher != ALL:
            raise RemoteProtocolError(f"{publisher} is no node", 0)
        return cls(publisher, vector)


@dataclass(frozen=True, slots=True)
class Prune:
    """What PRUNE says: the number of a JOIN of the same broker's."""

    number: int

    def encode(self) -> bytes:
        """Return four bytes."""
        return self.number.to_bytes(_NUMBER_BYTES, "big")

    @classmethod
    def decode(cls, payload: bytes) -> "Prune":
        """Read four bytes, or raise RemoteProtocolError."""
        if len(payload) != _NUMBER_BYTES or _number(payload) >= LINK_NUMBER:
            raise RemoteProtocolError("a prune is the number of a join, in four bytes", 0)
        return cls(_number(payload))
