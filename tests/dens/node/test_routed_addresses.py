"""Nodes whose addresses are several hops apart: who forwards is the business of the network below."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from dens.node.keys import new_mission_key, write_key
from tests.dens.node.node_process import LONG_S, PATIENT, Process, node_file, recording

NAMES = [f"dens{os.getpid()}{letter}" for letter in "abcd"]
"""A node, two routers, a node: three hops from end to end."""


def ip(*words: str) -> bool:
    """Run a command of iproute2 and return whether it did what it should."""
    return subprocess.run(["ip", *words], capture_output=True, check=False).returncode == 0


def chain() -> bool:
    """Make the namespaces and the routes between them; return whether that can be done here."""
    for name in NAMES:
        if not ip("netns", "add", name):
            return False
        ip("-n", name, "link", "set", "lo", "up")
    for index, (one, other) in enumerate(pairwise(NAMES)):
        if not ip("link", "add", "east", "netns", one, "type", "veth", "peer", "west", "netns", other):
            return False
        for name, side, host in ((one, "east", 1), (other, "west", 2)):
            ip("-n", name, "address", "add", f"10.77.{index}.{host}/24", "dev", side)
            ip("-n", name, "link", "set", side, "up")
    a, b, c, d = NAMES
    for name in (b, c):
        forward = ["ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv4.ip_forward=1"]
        if subprocess.run(forward, capture_output=True, check=False).returncode != 0:
            return False
    return (
        ip("-n", a, "route", "add", "default", "via", "10.77.0.2")
        and ip("-n", b, "route", "add", "10.77.2.0/24", "via", "10.77.1.2")
        and ip("-n", c, "route", "add", "10.77.0.0/24", "via", "10.77.1.1")
        and ip("-n", d, "route", "add", "default", "via", "10.77.2.1")
    )


@pytest.fixture
def mesh() -> Iterator[None]:
    """A chain of namespaces, which ends with the test."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("network namespaces need iproute2 and root")
    try:
        if not chain():
            pytest.skip("no network namespaces can be made here")
        yield
    finally:
        for name in NAMES:
            ip("netns", "delete", name)


def within(name: str, *arguments: str | Path) -> Process:
    """Begin a command of a node in a namespace."""
    return Process(*arguments, within=["ip", "netns", "exec", name])


@pytest.mark.slow
def test_nodes_three_hops_apart_are_peers(mesh: None, tmp_path: Path) -> None:
    write_key(new_mission_key(), tmp_path / "mission.key")
    here, there = NAMES[0], NAMES[-1]
    places = {1: "10.77.0.1:7001", 2: "10.77.2.2:7001"}
    files = {
        node: node_file(
            tmp_path / str(node),
            node,
            f'[[peer]]\nnode = {3 - node}\naddress = "{places[3 - node]}"\n',
            address=places[node],
            key="../mission.key",
        )
        for node in places
    }
    started: list[Process] = []
    try:
        for node, name in ((1, here), (2, there)):
            started.append(within(name, "run", files[node]))
            started[-1].wait_for(event="begun")
        medic = within(
            here, "subscribe", files[1], PATIENT, "--at", places[1], "--count", "1", "--seconds", str(LONG_S)
        )
        started.append(medic)
        medic.wait_for(event="acknowledged", type="subscribe")
        words = ["--event", "patient", "--at", places[2], "--period", "0", "--wait", str(LONG_S)]
        bed = within(there, "publish", files[2], recording(tmp_path), *words)
        started.append(bed)
        assert bed.wait_for(event="ended")["taken_by_node"] == 1
        assert medic.wait_for(event="delivered")["origin"] == 65003
        assert [process.end(signal.SIGTERM) for process in started[:2]] == [0, 0]
    finally:
        for process in started:
            process.clear_away()
