"""Validation of arguments of the application. An invalid one raises a `LocalProtocolError` with the valid
values.

An engine validates before it changes anything: otherwise a wrong number would fail much later, when a message
with it is packed or stored.
"""

from collections.abc import Collection

from dens.overlay.errors import LocalProtocolError
from dens.overlay.wire.codes import LAST_NODE
from dens.overlay.wire.envelope import VECTOR_BYTES
from dens.overlay.wire.messages import MOST_HOSTED


def check_node(node: object) -> None:
    if not (isinstance(node, int) and 0 <= node <= LAST_NODE):
        raise LocalProtocolError(f"{node!r} is not a node number; use 0..{LAST_NODE}")


def check_table_check(check: object) -> None:
    if not (isinstance(check, int) and 0 <= check <= 0xFF):
        raise LocalProtocolError(f"{check!r} is not a table check; use MissionTable.check (0..255)")


def check_peer(peer: object, node: int) -> None:
    """Refuse a peer that is not another node."""
    check_node(peer)
    if peer == node:
        raise LocalProtocolError(f"node {node} has no contact with itself; use the number of the other node")


def check_hosts(hosts: Collection[object], node: int) -> None:
    """Refuse hosted endpoints that are not other nodes, or are too many for a summary."""
    if len(hosts) > MOST_HOSTED:
        raise LocalProtocolError(
            f"a mediator hosts at most {MOST_HOSTED} endpoints, not {len(hosts)}; use several mediators"
        )
    for endpoint in hosts:
        check_node(endpoint)
        if endpoint == node:
            raise LocalProtocolError(f"node {node} does not host itself; list its endpoints only")


def check_code(code: object, what: str) -> None:
    """Refuse a language or lifetime code that is not a byte."""
    if not (isinstance(code, int) and 0 <= code <= 0xFF):
        raise LocalProtocolError(f"{code!r} is not a {what}; use 0..255")


def check_bytes(data: object, what: str) -> None:
    """Refuse a vector or an extract that is not bytes, or too long for an envelope."""
    if not isinstance(data, bytes):
        raise LocalProtocolError(f"{what} must be bytes, not {type(data).__name__}")
    if len(data) > VECTOR_BYTES:
        raise LocalProtocolError(f"{what} has at most {VECTOR_BYTES} bytes, not {len(data)}")
