"""Subscriptions of applications across restarts of their device.

Requests made while the device is down are sent after the restart. After the loss of a store, all
subscriptions are made again as new revisions. Subscriptions that were withdrawn meanwhile are withdrawn after
the restart and not repeated.
"""

from typing import NamedTuple

from emulation.world.node import Node
from watchdog.header import HEADER_ID, HEADER_REVISION


class Request(NamedTuple):
    """A subscription request of an application."""

    language: int
    vector: bytes
    document: str | None

    def renewed(self) -> "Request":
        """Return the next revision of the subscription."""
        vector = bytearray(self.vector)
        vector[HEADER_REVISION] = (vector[HEADER_REVISION] + 1) % 256
        return self._replace(vector=bytes(vector))


class Resubscription:
    """Keeps the requests of every application, and those that wait for the restart of its device."""

    def __init__(self) -> None:
        self._requested: dict[int, list[Request]] = {}
        self._postponed: dict[int, list[Request]] = {}
        self._withdrawals: dict[int, list[int]] = {}

    def requested(self, node: Node, request: Request) -> None:
        """Record a request."""
        self._requested.setdefault(node.number, []).append(request)

    def postpone(self, node: Node, request: Request) -> None:
        """Record a request for after the restart."""
        self._postponed.setdefault(node.number, []).append(request)

    def forget(self, node: Node, id: int) -> None:
        """Drop the requests of this subscription id."""
        for requests in (self._requested, self._postponed):
            requests[node.number] = [
                request for request in requests.get(node.number, []) if request.vector[HEADER_ID] != id
            ]

    def postpone_withdrawal(self, node: Node, id: int) -> None:
        """Record a withdrawal for after the restart."""
        self._withdrawals.setdefault(node.number, []).append(id)

    def requests(self, node: Node, has_store: bool) -> list[Request]:
        """Return and clear the requests to make after a restart, with the store or without."""
        again = [] if has_store else [request.renewed() for request in self._requested.pop(node.number, [])]
        return [*again, *self._postponed.pop(node.number, [])]

    def withdrawals(self, node: Node) -> list[int]:
        """Return and clear the subscription ids to withdraw after a restart."""
        return self._withdrawals.pop(node.number, [])
