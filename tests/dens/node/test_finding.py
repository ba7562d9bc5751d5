"""Nodes that find each other on a network of their own: namespaces on a bridge, which takes root to make."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dens.node.keys import new_mission_key, write_key
from tests.dens.node.node_process import LONG_S, PATIENT, ROOT, processes, recording

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces are made by root: run this as root"),
]


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


class Bridge:
    """Namespaces, each with one interface eth0, whose other ends are ports of one bridge."""

    def __init__(self, count: int) -> None:
        self.name = f"dens{os.getpid()}"
        ip("netns", "add", self.name)
        self._ip("link", "add", "br0", "type", "bridge")
        self._ip("link", "set", "br0", "up")
        self.count = 0
        for _ in range(count):
            self._add()

    def _ip(self, *arguments: str) -> None:
        ip("-n", self.name, *arguments)

    def _add(self) -> None:
        number = self.count + 1
        space, port = f"{self.name}-{number}", f"port{number}"
        ip("netns", "add", space)
        self.count = number
        self._ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space)
        self._ip("link", "set", port, "master", "br0", "up")
        ip("-n", space, "link", "set", "lo", "up")
        ip("-n", space, "addr", "add", f"10.99.0.{number}/24", "brd", "+", "dev", "eth0")
        ip("-n", space, "addr", "add", f"fd99::{number}/64", "dev", "eth0", "nodad")
        ip("-n", space, "link", "set", "eth0", "up")

    def cut(self, number: int) -> None:
        self._ip("link", "set", f"port{number}", "nomaster")

    def mend(self, number: int) -> None:
        self._ip("link", "set", f"port{number}", "master", "br0")

    def within(self, number: int) -> list[str]:
        return ["ip", "netns", "exec", f"{self.name}-{number}"]

    def remove(self) -> None:
        for number in range(1, self.count + 1):
            ip("netns", "del", f"{self.name}-{number}")
        ip("netns", "del", self.name)


@contextmanager
def bridge(count: int) -> Iterator[Bridge]:
    made = Bridge(count)
    try:
        yield made
    finally:
        made.remove()


def file_of(folder: Path, node: int, discovery: str, key: str, address: str = "0.0.0.0:0") -> Path:
    (folder / str(node)).mkdir()
    path = folder / str(node) / "node.toml"
    path.write_text(
        f'node = {node}\nstore = "node.sqlite"\nvocabularies = ["medical"]\nkey = "../{key}"\n'
        f'[udp]\naddress = "{address}"\nsilence_s = 3\n'
        f'[[discovery]]\ninterface = "eth0"\nperiod_s = 0.3\n{discovery}'
    )
    return path


def asked(net: Bridge, number: int, path: Path) -> dict[str, Any]:
    """Query the partition from this namespace, as a client that finds a DENS node by its beacons."""
    command = [sys.executable, "-m", "dens.cli", "offers", str(path), "--json", "--wait", "4"]
    ended = subprocess.run(
        [*net.within(number), *command], capture_output=True, text=True, cwd=ROOT, timeout=LONG_S, check=False
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    document: dict[str, Any] = json.loads(ended.stdout)
    assert ended.returncode == (0 if document["mediators"] else 1), ended.stderr
    return document


def until_answered(net: Bridge, number: int, path: Path, mediators: int) -> dict[str, Any]:
    """Query until this many DENS nodes answer, and all of them do."""
    end_s = time.monotonic() + LONG_S
    while True:
        document = asked(net, number, path)
        if (document["mediators"], document["missing"]) == (mediators, []):
            return document
        assert time.monotonic() < end_s, document


def test_three_nodes_find_each_other_are_parted_and_meet_again(tmp_path: Path) -> None:
    """Beside them, on the same group and port, is a node of another mission, which is ignored."""
    for key in ("ours.key", "theirs.key"):
        write_key(new_mission_key(), tmp_path / key)
    with bridge(3) as net, processes() as start:
        files = {node: file_of(tmp_path, node, "", "ours.key") for node in (1, 2, 3)}
        files[4] = file_of(tmp_path, 4, "", "theirs.key")
        nodes = [start("run", path, within=net.within(min(node, 3))) for node, path in files.items()]
        for node in nodes:
            node.wait_for(event="begun")
        until_answered(net, 1, files[1], 3)
        until_answered(net, 3, files[4], 1)
        net.cut(2)
        until_answered(net, 1, files[1], 2)
        until_answered(net, 2, files[2], 1)
        net.mend(2)
        until_answered(net, 1, files[1], 3)

        medic = start("subscribe", files[3], PATIENT, "--count", "1", within=net.within(3))
        medic.wait_for(event="acknowledged", type="subscribe")
        bed = start("publish", files[2], recording(tmp_path), "--event", "patient", "--period", "0",
                    "--wait", LONG_S, within=net.within(2))  # fmt: skip
        assert medic.wait_for(event="delivered")["origin"] == 65003
        assert medic.end() == 0
        assert bed.end() == 0
        offered = until_answered(net, 1, files[1], 3)["offers"]
        assert {offer["attribute"] for offer in offered} == {
            "patient_temperature",
            "heart_rate",
            "oxygen_saturation",
        }
        assert {one["node"] for offer in offered for one in offer["by"]} == {65003}
        for node in nodes:
            assert node.end(signal.SIGTERM) == 0
            assert "ignored" not in node.said


@pytest.mark.parametrize(
    ("discovery", "address"), [("broadcast = true\n", "0.0.0.0:0"), ('group = "ff02::4445"\n', "[::]:0")]
)
def test_two_nodes_find_each_other_by_broadcast_and_by_ipv6(
    tmp_path: Path, discovery: str, address: str
) -> None:
    write_key(new_mission_key(), tmp_path / "ours.key")
    with bridge(2) as net, processes() as start:
        files = {node: file_of(tmp_path, node, discovery, "ours.key", address) for node in (1, 2)}
        for node, path in files.items():
            start("run", path, within=net.within(node)).wait_for(event="begun")
        until_answered(net, 1, files[1], 2)
