"""A micro:bit in QEMU on a pseudo-terminal that a `dens node run` opens as a trusted serial port.

Everything is real: the board's program and its firmware, the terminal between them, the node's process with
its store and key, and a subscriber's process that knows nothing of cables.
"""

import os
import re
import select
import signal
import subprocess
from pathlib import Path

import pytest

from dens.boards.build import build_board
from dens.boards.emulator.microbit import in_still_air, started
from dens.boards.settings import board_settings
from dens.node.keys import new_mission_key, write_key
from knowledge_manager.mission_table import load_mission_table
from plugins.composite.composites import MATCH, decode_composite
from tests.dens.node.node_process import LONG_S, processes

TABLE = load_mission_table(["weather"])
BOARD = 7
MILD = """<subscription xmlns="urn:dens:subscription:1" event="weather">
  <approximate-predicate attribute="temperature"><is>mild</is></approximate-predicate>
</subscription>
"""
BOXES = """<subscription xmlns="urn:dens:boxes:1" event="weather">
  <or>
    <crisp-predicate attribute="temperature" operator="between"><min>20</min><max>22</max></crisp-predicate>
    <crisp-predicate attribute="temperature" operator="gt">50</crisp-predicate>
  </or>
</subscription>
"""
THRICE = """<composite xmlns="urn:dens:composite:1" window="PT1M" valid="PT1H" keep="PT1H">
  <primitive name="warm" event="weather">
    <crisp-predicate attribute="temperature" operator="between"><min>20</min><max>22</max></crisp-predicate>
  </primitive>
  <primitive name="not_hot" event="weather">
    <crisp-predicate attribute="temperature" operator="lt">30</crisp-predicate></primitive>
  <pattern>warm, not_hot, warm</pattern>
</composite>
"""
OUTSIDE = BOXES.replace("<min>20</min><max>22</max>", "<min>0</min><max>20</max>")


def thermometer(folder: Path) -> dict[str, bytes]:
    """Return the files of a board that measures 21 degrees for ever, so that no subscriber comes too late."""
    settings = board_settings(TABLE, "weather", ["temperature"], node=BOARD, protocol="adc", period_ms=300)
    written = build_board("microbit", folder, "0", settings)
    return in_still_air({path.name: path.read_bytes() for path in written if path.suffix in (".py", ".bin")})


def terminal_of(board: "subprocess.Popen[bytes]") -> str:
    """Return the terminal at which QEMU says that the board's serial line is."""
    assert board.stdout is not None
    said = b""
    while (found := re.search(rb"redirected to (\S+)", said)) is None:
        assert select.select([board.stdout], [], [], LONG_S)[0], said
        data = os.read(board.stdout.fileno(), 4096)
        assert data, said
        said += data
    return found.group(1).decode()


@pytest.mark.board
def test_a_board_without_a_key_is_served_by_a_node_with_one_over_a_trusted_cable(tmp_path: Path) -> None:
    write_key(new_mission_key(), tmp_path / "mission.key")
    asked = tmp_path / "mild.xml"
    asked.write_text(MILD)
    file = tmp_path / "node.toml"
    with started(thermometer(tmp_path / "board"), "pty", counted=False) as board, processes() as start:
        file.write_text(
            'node = 1\nstore = "node.sqlite"\nvocabularies = ["weather"]\nkey = "mission.key"\n'
            '[udp]\naddress = "127.0.0.1:0"\n'
            f'[[serial]]\nport = "{terminal_of(board)}"\nnode = {BOARD}\ntrusted = true\n'
        )
        node = start("run", file)
        address = node.wait_for(event="begun")["address"]
        announced = node.wait_for(event="stored", type="announce")
        assert (announced["origin"], announced["peer"], announced["reason"]) == (BOARD, BOARD, "unverified")
        medic = start("subscribe", file, asked, "--at", address, "--count", "2", "--seconds", LONG_S)
        stored = node.wait_for(event="stored", type="notification", origin=BOARD)
        assert stored["reason"] == "unverified"
        heard = [medic.wait_for(event="delivered") for _ in range(2)]
        assert medic.end() == 0
        assert [one["origin"] for one in heard] == [BOARD, BOARD]
        assert {bytes.fromhex(one["vector"])[6] for one in heard} == {156}  # 21 of -40..60
        assert heard[0]["number"] < heard[1]["number"]
        assert all(one["reason"] is None for one in heard), "the node vouches for what it hands on"
        assert node.end(signal.SIGTERM) == 0


@pytest.mark.board
def test_a_board_that_knows_nothing_of_boxes_serves_their_parts(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside.xml", tmp_path / "outside.xml"
    inside.write_text(BOXES)
    outside.write_text(OUTSIDE)
    file = tmp_path / "node.toml"
    with started(thermometer(tmp_path / "board"), "pty", counted=False) as board, processes() as start:
        file.write_text(
            'node = 1\nstore = "node.sqlite"\nvocabularies = ["weather"]\n[udp]\naddress = "127.0.0.1:0"\n'
            f'[[serial]]\nport = "{terminal_of(board)}"\nnode = {BOARD}\ntrusted = true\n'
        )
        node = start("run", file)
        address = node.wait_for(event="begun")["address"]
        node.wait_for(event="stored", type="announce")
        deaf = start("subscribe", file, outside, "--at", address, "--as", "9")
        medic = start("subscribe", file, inside, "--at", address, "--count", "2", "--seconds", LONG_S)
        heard = [medic.wait_for(event="delivered") for _ in range(2)]
        assert medic.end() == 0
        assert {bytes.fromhex(one["vector"])[6] for one in heard} == {156}  # 21 of -40..60
        assert {tuple(match) for one in heard for match in one["satisfied"]} == {(0, 0, 255, "00")}
        assert node.end(signal.SIGTERM) == 0
        deaf.end(signal.SIGTERM)
        assert not [one for one in deaf.rest() if one["event"] == "delivered"]


@pytest.mark.board
def test_a_composite_of_a_boards_readings_is_made_by_the_node_and_seen_once_each(tmp_path: Path) -> None:
    """The board takes the parts and knows nothing of sequences."""
    asked = tmp_path / "thrice.xml"
    asked.write_text(THRICE)
    file = tmp_path / "node.toml"
    with started(thermometer(tmp_path / "board"), "pty", counted=False) as board, processes() as start:
        file.write_text(
            'node = 1\nstore = "node.sqlite"\nvocabularies = ["weather"]\n[udp]\naddress = "127.0.0.1:0"\n'
            f'[[serial]]\nport = "{terminal_of(board)}"\nnode = {BOARD}\ntrusted = true\n'
        )
        node = start("run", file)
        address = node.wait_for(event="begun")["address"]
        node.wait_for(event="stored", type="announce")
        medic = start("subscribe", file, asked, "--at", address, "--count", "3", "--seconds", LONG_S)
        heard = [medic.wait_for(event="delivered") for _ in range(3)]
        assert medic.end() == 0
        assert node.end(signal.SIGTERM) == 0
    found = [decode_composite(bytes.fromhex(one["vector"])) for one in heard]
    assert {(one["origin"], said.source, said.kind) for one, said in zip(heard, found, strict=True)} == {
        (1, BOARD, MATCH)
    }
    for said in found:
        numbers = [told.number for told in said.witness]
        assert numbers == [said.number - 2, said.number - 1, said.number]
        assert {told.values for told in said.witness} == {bytes((156,))}  # 21 of -40..60
    assert len({said.number for said in found}) == 3
