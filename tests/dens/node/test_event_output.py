"""A node and its ends whose standard output can no longer be written."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.dens.node.node_process import LONG_S, PATIENT, ROOT, node_file, recording

pytestmark = pytest.mark.usefixtures("impatient")


def begun_with(output: Any, *arguments: str | Path) -> subprocess.Popen[str]:
    """Start a node's command whose standard output is this."""
    command = [sys.executable, "-m", "dens.cli", "node", *map(str, arguments)]
    return subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def said_until(process: subprocess.Popen[str], word: str) -> str:
    """Return the line of stderr in which this word stands."""
    assert process.stderr is not None
    return next(line for line in process.stderr if word in line)


def test_a_node_whose_log_cannot_be_written_says_so_and_goes_on(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        node = begun_with(full, "run", node_file(tmp_path, 1), "--json")
    try:
        said = said_until(node, "standard output")
        assert "No space left on device; this continues" in said
        assert node.poll() is None
        node.send_signal(signal.SIGTERM)
        assert node.wait(timeout=LONG_S) == 0
        assert node.stderr is not None
        assert node.stderr.read() == ""
    finally:
        node.kill()
        node.communicate()


def test_node_reports_closed_event_output_and_continues(tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    node = begun_with(subprocess.PIPE, "run", path, "--json")
    try:
        assert node.stdout is not None
        address = json.loads(node.stdout.readline())["address"]
        node.stdout.close()
        asking = ["subscribe", path, PATIENT, "--at", address, "--json"]
        for number in ("7", "8"):
            asked = begun_with(subprocess.DEVNULL, *asking, "--as", number)
            assert "has it" in said_until(asked, "node 1")
            asked.send_signal(signal.SIGTERM)
            assert asked.wait(timeout=LONG_S) == 0
            asked.communicate()
        assert "Broken pipe; this continues" in said_until(node, "standard output")
        node.send_signal(signal.SIGTERM)
        assert node.wait(timeout=LONG_S) == 0
    finally:
        node.kill()
        node.stderr.close()  # type: ignore[union-attr]


def test_a_publisher_whose_output_is_lost_publishes_all_the_same(tmp_path: Path) -> None:
    words = ["--event", "patient", "--at", "127.0.0.1:9", "--period", "0", "--wait", "0", "--json"]
    with Path("/dev/full").open("w") as full:
        end = begun_with(full, "publish", node_file(tmp_path, 1), recording(tmp_path), *words)
    _, said = end.communicate(timeout=LONG_S)
    assert end.returncode == 1, "the reader was gone"
    assert "standard output: No space left on device; this continues" in said


@pytest.mark.parametrize(("is_full", "code"), [(True, 3), (False, 0)])
def test_a_subscriber_whose_output_is_lost_ends_and_says_which_output(
    tmp_path: Path, is_full: bool, code: int
) -> None:
    """A reader that went away does not count as a failure, as in `dens … | head`; a full disk is."""
    words = ["subscribe", node_file(tmp_path, 1), PATIENT, "--at", "127.0.0.1:9", "--json"]
    if is_full:
        with Path("/dev/full").open("w") as full:
            end = begun_with(full, *words)
    else:
        read, write = os.pipe()
        os.close(read)
        end = begun_with(write, *words)
        os.close(write)
    _, said = end.communicate(timeout=LONG_S)
    assert end.returncode == code
    assert "standard output: " in said
    assert "everything is committed" in said
