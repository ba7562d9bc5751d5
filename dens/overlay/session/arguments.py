"""What our own caller may hand to an engine; anything else is a `LocalProtocolError` that says what to give.

An engine asks here before it changes anything, because what is wrong with a number would otherwise show much
later, when a message with it is packed or stored.
"""

from collections.abc import Collection

from dens.overlay.errors import LocalProtocolError
from dens.overlay.wire.codes import LAST_NODE
from dens.overlay.wire.envelope import VECTOR_BYTES
from dens.overlay.wire.messages import MOST_HOSTED


def check_node(node: object) -> None:
    """Refuse what is no number of a node."""
    if not (isinstance(node, int) and 0 <= node <= LAST_NODE):
        raise LocalProtocolError(f"{node!r} is no node; give a whole number of 0..{LAST_NODE}")


def check_table_check(check: object) -> None:
    """Refuse what is no check of a mission table."""
    if not (isinstance(check, int) and 0 <= check <= 0xFF):
        raise LocalProtocolError(
            f"{check!r} is no table check; give MissionTable.check, a whole number of 0..255"
        )


def check_peer(peer: object, node: int) -> None:
    """Refuse a contact with what is no other node."""
    check_node(peer)
    if peer == node:
        raise LocalProtocolError(f"node {node} has no contact with itself; give the other node's number")


def check_hosts(hosts: Collection[object], node: int) -> None:
    """Refuse to host what are no other nodes, or more of them than a summary names."""
    if len(hosts) > MOST_HOSTED:
        raise LocalProtocolError(
            f"a mediator hosts at most {MOST_HOSTED} ends, here are {len(hosts)}; give them several mediators"
        )
    for end in hosts:
        check_node(end)
        if end == node:
            raise LocalProtocolError(f"node {node} does not host itself; give the numbers of its ends")


def check_code(code: object, what: str) -> None:
    """Refuse a language or a lifetime that does not fit into its byte."""
    if not (isinstance(code, int) and 0 <= code <= 0xFF):
        raise LocalProtocolError(f"{code!r} is no {what}; give a whole number of 0..255")


def check_bytes(said: object, what: str) -> None:
    """Refuse a vector or an extract that is not bytes, or more of them than an envelope holds."""
    if not isinstance(said, bytes):
        raise LocalProtocolError(f"{what} of type {type(said).__name__} is refused; give bytes")
    if len(said) > VECTOR_BYTES:
        raise LocalProtocolError(
            f"{what} has at most {VECTOR_BYTES} bytes, here are {len(said)}; make it smaller"
        )
