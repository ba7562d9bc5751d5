"""Asking the partition of a running node on the command line: who offers what, and what a word means."""

import signal
from pathlib import Path

import pytest

from dens.node.keys import new_mission_key, write_key
from dens.node.processes.addresses import links_of_end
from dens.node.settings.node_file import load_node
from tests.dens.node.node_process import LONG_S, PATIENT, node_file, processes

pytestmark = pytest.mark.usefixtures("impatient")

LOOPBACK = '[[discovery]]\ninterface = "lo"\nport = {port}\nperiod_s = 0.2\n'


def test_unknown_word_is_reported_with_the_nearest_without_a_query(dens, tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    ended = dens("offers", path, "--word", "hjertefrekvns")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == '"hjertefrekvns" is unknown; did you mean "hjertefrekvens"?\n'
    document = dens("offers", path, "--word", "hjertefrekvns", "--json").document()
    assert document["nearest"] == ["hjertefrekvens"]
    assert (document["offers"], document["mediators"]) == ([], 0)
    assert [one.name for one in tmp_path.iterdir()] == ["node.toml"], "nothing is kept"


def test_missing_answer_is_reported(dens, tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    for words in ([], ["--word", "puls"]):
        ended = dens("offers", path, *words, "--at", "127.0.0.1:9", "--wait", "0.2")
        assert ended.code == 1
        assert "node 1 never answered; is it running at 127.0.0.1:9" in ended.err
    document = dens("offers", path, "--at", "127.0.0.1:9", "--wait", "0.2", "--json").document()
    assert document == {"mediators": 0, "missing": [], "offers": []}
    assert [one.name for one in tmp_path.iterdir()] == ["node.toml"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--word", " "], "the word is empty"),
        (["--at", "home"], "is not an address"),
        (["--at", "127.0.0.1:9", "--as", "1"], "the number of the DENS node itself"),
        (["--at", "127.0.0.1:9", "--hops", "0"], "hops"),
        (["--at", "127.0.0.1:9", "--wait", "nan"], "wait"),
        (["--language", "tlh"], "has no words in"),
        (["--node", "medics-1"], "this option is for a run"),
    ],
)
def test_invalid_queries_are_refused(dens, tmp_path: Path, words: list[str], message: str) -> None:
    path = node_file(tmp_path, 1)
    ended = dens("offers", path, *words)
    assert (ended.code, message in ended.err) == (2, True), ended.err


def test_endpoint_finds_its_node_without_a_port(tmp_path: Path) -> None:
    write_key(new_mission_key(), tmp_path / "m.key")
    discovery = '[[discovery]]\ninterface = "wlan0"\n'
    plan = load_node(node_file(tmp_path, 1, discovery, "0.0.0.0:0", "m.key"))
    found = links_of_end(plan, None)
    assert (found.uses_discovery, found.listed, found.address) == (True, {}, ("0.0.0.0", 0))
    told = links_of_end(plan, ("10.0.0.7", 7001))
    assert (told.uses_discovery, told.listed) == (False, {1: ("10.0.0.7", 7001)})
    plan = load_node(node_file(tmp_path, 1, discovery, "0.0.0.0:7001", "m.key"))
    assert links_of_end(plan, None).listed == {1: ("127.0.0.1", 7001)}


@pytest.mark.slow
def test_partition_is_queried_and_unservable_subscription_is_reported(dens_process, tmp_path: Path) -> None:
    """Two nodes that find each other on loopback; the bed at one, whoever asks at the other."""
    day = tmp_path / "day.csv"
    day.write_text("patient_temperature,heart_rate\n36.8,71\n37.0,70\n")
    found = LOOPBACK.format(port=7_219)
    one, two = node_file(tmp_path / "one", 1, found), node_file(tmp_path / "two", 2, found)
    with processes() as start:
        near, far = start("run", one), start("run", two)
        at = near.wait_for(event="begun")["address"]
        bed_at = far.wait_for(event="begun")["address"]
        bed = start(
            "publish", two, day, "--event", "patient", "--at", bed_at, "--period", "60", "--wait", LONG_S
        )
        near.wait_for(event="replicated", type="announce")
        asked = dens_process("offers", one, "--at", at, "--json").document()
        assert (asked["mediators"], asked["missing"]) == (2, [])
        ways = {
            (offer["attribute"], by["node"], by["in_reach"], by["distance"])
            for offer in asked["offers"]
            for by in offer["by"]
        }
        assert ways == {(name, 65003, True, 3) for name in ("patient_temperature", "heart_rate")}
        pulse = dens_process("offers", one, "--word", "puls", "--language", "no")
        assert pulse.code == 0, pulse.err
        assert "node 65003 (" in pulse.out
        assert "2 DENS nodes answered: all in reach" in pulse.err
        oxygen = dens_process("offers", one, "--word", "oxygen_saturation")
        assert (oxygen.code, '"oxygen_saturation" is not measured in this partition' in oxygen.err) == (
            1,
            True,
        )

        medic = start("subscribe", one, PATIENT)
        told = medic.wait_for(event="unserved")
        assert told["subscription"] == 0
        [alternative] = told["alternatives"]
        assert alternative["measured_by"] == {
            "patient_temperature": [65003],
            "heart_rate": [65003],
            "oxygen_saturation": [],
        }
        assert medic.end(signal.SIGTERM) == 0
        for process in (bed, near, far):
            assert process.end(signal.SIGTERM) == 0
