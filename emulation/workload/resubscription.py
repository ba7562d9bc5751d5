"""What applications do about subscriptions when their device was down.

What one wanted to ask while its device was down it asks afterwards; after the loss of a store it asks again
for everything, as new revisions. What it took back meanwhile it takes back afterwards, and nobody asks for it
again.
"""

from typing import NamedTuple

from emulation.world.node import Node
from watchdog.header import HEADER_ID, HEADER_REVISION


class Request(NamedTuple):
    """What was asked for, or will be."""

    language: int
    vector: bytes
    document: str | None

    def renewed(self) -> "Request":
        """Return the next revision of it."""
        vector = bytearray(self.vector)
        vector[HEADER_REVISION] = (vector[HEADER_REVISION] + 1) % 256
        return self._replace(vector=bytes(vector))


class Resubscription:
    """Keeps for every application what it asked for, and what it has to say when its device is up again."""

    def __init__(self) -> None:
        self._asked: dict[int, list[Request]] = {}
        self._waiting: dict[int, list[Request]] = {}
        self._unsaid: dict[int, list[int]] = {}

    def asked(self, node: Node, request: Request) -> None:
        """It asked for this."""
        self._asked.setdefault(node.number, []).append(request)

    def postpone(self, node: Node, request: Request) -> None:
        """It wants to ask for this and cannot now."""
        self._waiting.setdefault(node.number, []).append(request)

    def forget(self, node: Node, id: int) -> None:
        """It does not want any more what it asked for, or wanted to, under this number."""
        for requests in (self._asked, self._waiting):
            requests[node.number] = [
                one for one in requests.get(node.number, []) if one.vector[HEADER_ID] != id
            ]

    def postpone_withdrawal(self, node: Node, id: int) -> None:
        """It wants to take this back and cannot now."""
        self._unsaid.setdefault(node.number, []).append(id)

    def requests(self, node: Node, has_store: bool) -> list[Request]:
        """Return, once, what it asks for when its device is up again, with its store or without."""
        again = [] if has_store else [request.renewed() for request in self._asked.pop(node.number, [])]
        return [*again, *self._waiting.pop(node.number, [])]

    def withdrawals(self, node: Node) -> list[int]:
        """Return, once, the numbers of what it takes back when its device is up again."""
        return self._unsaid.pop(node.number, [])
