"""A node's process where little is to be had: no descriptor more than it began with, over IPv4 and IPv6."""

import resource
import signal
import time
from itertools import count
from pathlib import Path

import pytest

from dens.node.keys import new_mission_key, write_key
from tests.dens.node.node_process import LONG_S, PATIENT, node_file, processes, recording

WRITTEN_S = 7.0
"""By then a node has tried to write its trace, which it does every five seconds."""


@pytest.mark.slow
@pytest.mark.parametrize("address", ["127.0.0.1:0", "[::1]:0"])
def test_a_node_without_a_free_descriptor_serves_whoever_comes(tmp_path: Path, address: str) -> None:
    """Everything it needs is open when it begins; only the trace, which makes files, is given up."""
    write_key(new_mission_key(), tmp_path / "mission.key")
    path = node_file(tmp_path, 1, address=address, key="mission.key")
    with processes() as start:
        node = start("run", path, "--trace", tmp_path / "seen")
        at = node.wait_for(event="begun")["address"]
        assert at.startswith(address.rpartition(":")[0])
        taken = {int(one.name) for one in Path(f"/proc/{node.pid}/fd").iterdir()}
        free = next(number for number in count() if number not in taken)
        resource.prlimit(node.pid, resource.RLIMIT_NOFILE, (free, free))
        medic = start("subscribe", path, PATIENT, "--at", at, "--count", "1", "--seconds", LONG_S)
        medic.wait_for(event="acknowledged", type="subscribe")
        words = ["--event", "patient", "--at", at, "--period", "0", "--wait", LONG_S]
        bed = start("publish", path, recording(tmp_path), *words)
        assert bed.wait_for(event="ended")["taken_by_node"] == 1
        assert bed.end() == 0
        assert medic.wait_for(event="delivered")["origin"] == 65003
        assert medic.end() == 0
        time.sleep(WRITTEN_S)
        assert node.end(signal.SIGTERM) == 0
        assert "the node continues without a trace" in node.said


@pytest.mark.slow
def test_a_hangup_does_not_end_a_node_and_contacts_are_reported(tmp_path: Path) -> None:
    """`systemctl reload` and a closed terminal send SIGHUP. Contacts are events with their reason."""
    path = node_file(tmp_path, 1)
    with processes() as start:
        node = start("run", path)
        at = node.wait_for(event="begun")["address"]
        medic = start("subscribe", path, PATIENT, "--at", at)
        opened = node.wait_for(event="contact_opened", peer=65002)
        assert opened["address"].startswith("127.0.0.1:")
        assert medic.wait_for(event="contact_opened", peer=1)["address"] == at
        node.signal(signal.SIGHUP)
        assert medic.wait_for(event="acknowledged", type="subscribe")["reason"] is None
        assert node.end(signal.SIGTERM) == 0
        assert "SIGHUP: nothing is reloaded" in node.said
        assert "no answer for" in medic.wait_for(event="contact_closed", peer=1)["reason"]
        assert medic.end(signal.SIGTERM) == 0
