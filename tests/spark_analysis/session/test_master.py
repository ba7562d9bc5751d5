"""What is surely no Spark master is refused at once; everything else is left to Spark."""

import re
import socket
import threading
from collections.abc import Callable

from spark_analysis.errors import NoSpark
from spark_analysis.session.classic import refuse_no_master


def refusal(master: str) -> str | None:
    """Return why there is surely no master, or None where that is left to Spark."""
    try:
        refuse_no_master(master, "start one")
    except NoSpark as error:
        return str(error)
    return None


def refusal_of(answer: Callable[[socket.socket], object], before: str = "") -> str | None:
    """Return why a server with this answer does not count as a master; `before` are masters to try first."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            caller, _ = server.accept()
            with caller:
                answer(caller)

        thread = threading.Thread(target=serve)
        thread.start()
        found = refusal(f"spark://{before}127.0.0.1:{server.getsockname()[1]}")
        thread.join()
    return found


def say(words: bytes) -> Callable[[socket.socket], object]:
    def answer(caller: socket.socket) -> None:
        caller.recv(100)
        caller.sendall(words)

    return answer


def test_a_program_that_speaks_otherwise_is_refused() -> None:
    for words in (b"HTTP/1.0 400 Bad request\r\n", b"SSH-2.0\r\n"):
        found = refusal_of(say(words))
        assert found is not None
        assert re.search("another program uses this port.*; start one", found)


def test_a_frame_of_sparks_and_silence_are_left_to_spark() -> None:
    """Spark refuses the stream: length 40, type 8. One that wants to know who asks just hangs up."""
    assert refusal_of(say(bytes([0, 0, 0, 0, 0, 0, 0, 40, 8]))) is None
    assert refusal_of(lambda caller: caller.recv(100)) is None


def test_of_several_masters_one_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        closed = nobody.getsockname()[1]
    assert refusal_of(say(bytes(9)), before=f"127.0.0.1:{closed},") is None
    found = refusal(f"spark://127.0.0.1:{closed}")
    assert found is not None
    assert f"127.0.0.1:{closed}: Connection refused" in found


def test_address_other_than_a_cluster_is_not_contacted() -> None:
    assert refusal("local[2]") is None
