"""Whether a Spark master is where one was named. Spark itself would try for a minute to find that out."""

import socket
import struct
from typing import Final

from spark_analysis.errors import NoSpark

CLUSTER: Final = "spark://"

_CONNECT_TIMEOUT_S: Final = 10
_ANSWER_TIMEOUT_S: Final = 3

_STREAM: Final = b"dens\r\n\r\n"
_QUESTION: Final = struct.pack(">qbi", 13 + len(_STREAM), 6, len(_STREAM)) + _STREAM
"""A request for a stream that no Spark has, which it refuses: a frame of Spark's own, its length first. The
ends of lines let a program that speaks lines, as web servers do, answer too.
"""


def refuse_no_master(master: str, otherwise: str) -> None:
    """Raise `NoSpark`, with the advice `otherwise`, when at none of a cluster's places a Spark master can be.

    Only what surely is none is refused: nobody listens, or what answers does not speak as Spark does. One
    that wants to know who asks first says nothing, and is left to Spark.
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
            return None if _may_be_spark(there) else "another program uses this port, perhaps a web page"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)


def _may_be_spark(there: socket.socket) -> bool:
    """Ask, and look at the first bytes of the answer: Spark's begins with its length, which is small."""
    there.settimeout(_ANSWER_TIMEOUT_S)
    try:
        there.sendall(_QUESTION)
        answer = there.recv(4)
    except OSError:
        return True
    return not answer or answer == bytes(len(answer))
