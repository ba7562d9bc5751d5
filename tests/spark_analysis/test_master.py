"""What is surely no Spark master is refused at once; everything else is left to Spark."""

import socket
import threading
from collections.abc import Callable

import pytest

from spark_analysis.errors import NoSpark
from spark_analysis.master import refuse_no_master


def served(answer: Callable[[socket.socket], object], act: Callable[[str], None]) -> None:
    """Call `act` with the address of somebody who answers one caller."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            caller, _ = server.accept()
            with caller:
                answer(caller)

        thread = threading.Thread(target=serve)
        thread.start()
        act(f"spark://127.0.0.1:{server.getsockname()[1]}")
        thread.join()


def refused(master: str) -> None:
    with pytest.raises(NoSpark, match=r"another program uses this port.*; start one"):
        refuse_no_master(master, "start one")


def taken(master: str) -> None:
    refuse_no_master(master, "start one")


def say(words: bytes) -> Callable[[socket.socket], object]:
    def answer(caller: socket.socket) -> None:
        caller.recv(100)
        caller.sendall(words)

    return answer


def test_a_program_that_speaks_otherwise_is_refused() -> None:
    served(say(b"HTTP/1.0 400 Bad request\r\n"), refused)
    served(say(b"SSH-2.0\r\n"), refused)


def test_a_frame_of_sparks_and_silence_are_left_to_spark() -> None:
    """Spark refuses the stream: length 40, type 8. One that wants to know who asks just hangs up."""
    served(say(bytes([0, 0, 0, 0, 0, 0, 0, 40, 8])), taken)
    served(lambda caller: caller.recv(100), taken)


def test_of_several_masters_one_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        closed = nobody.getsockname()[1]
    served(say(bytes(9)), lambda master: taken(f"{master.replace('//', f'//127.0.0.1:{closed},')}"))
    with pytest.raises(NoSpark, match=f"127.0.0.1:{closed}: Connection refused"):
        taken(f"spark://127.0.0.1:{closed}")


def test_what_is_no_cluster_is_not_asked() -> None:
    taken("local[2]")
