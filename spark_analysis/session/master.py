"""Checks quickly whether a Spark master is reachable. Spark itself would retry for a minute."""

import socket
import struct
from typing import Final

from spark_analysis.errors import NoSpark

CLUSTER: Final = "spark://"

_CONNECT_TIMEOUT_S: Final = 10
_ANSWER_TIMEOUT_S: Final = 3

_STREAM: Final = b"dens\r\n\r\n"
_QUESTION: Final = struct.pack(">qbi", 13 + len(_STREAM), 6, len(_STREAM)) + _STREAM
"""A request for a stream that does not exist, as a Spark frame with its length first. The line ends make
line-based servers, such as web servers, respond too.
"""


def refuse_no_master(master: str, otherwise: str) -> None:
    """Raise `NoSpark`, with the advice `otherwise`, if no address of a cluster can be a Spark master.

    Only certain cases are rejected: nothing listens, or the response is not Spark's. A master that requires
    authentication sends nothing, and is left to Spark.
    """
    if not master.startswith(CLUSTER):
        return
    reasons = []
    for place in master.removeprefix(CLUSTER).split(","):
        reason = _why_no_master(place)
        if reason is None:
            return
        reasons.append(f"{place}: {reason}")
    raise NoSpark(f"no Spark master answers at {master} ({'; '.join(reasons)}); {otherwise}")


def _why_no_master(place: str) -> str | None:
    host, _, port = place.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_TIMEOUT_S) as there:
            return None if _may_be_spark(there) else "another program uses this port, perhaps a web server"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)


def _may_be_spark(there: socket.socket) -> bool:
    """Send a request and check the first bytes of the response: Spark's starts with a small length."""
    there.settimeout(_ANSWER_TIMEOUT_S)
    try:
        there.sendall(_QUESTION)
        answer = there.recv(4)
    except OSError:
        return True
    return not answer or answer == bytes(len(answer))
