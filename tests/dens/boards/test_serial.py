"""The micro:bit in QEMU talks over its serial line to a DENS node, and what it sees reaches a subscriber."""

import os
import select
import time
from pathlib import Path

import pytest

from dens.boards.build import build_board, link_parts, pool_blocks
from dens.boards.conversation import BoardEvent, converse
from dens.boards.emulator.microbit import BoardFailure, started
from dens.boards.local_mission import RESTART, LocalMission, RequestedSubscription
from dens.boards.settings import board_settings
from dens.overlay.events import NotificationDelivered
from knowledge_manager.mission_table import load_mission_table
from tests.dens.boards.test_runtimes import SHARED
from tests.paths import ROOT
from watchdog.codes import ALGORITHMS
from watchdog.normalise import normal_byte
from watchdog.pool import NEVER, Pool

TABLE = load_mission_table(["weather"])
NODE = 7
WARM = bytes([1, 0, 100, 0, 0, 0xD0, 100, 150, 120, 2, 1])
"""Temperature in 100..150 of 255, threshold 13/15."""
DRY = bytes([2, 0, 100, 0, 0, 0xD4, 100, 150, 120, 0, 80, 120, 2, 3])
"""And humidity in 0..80, by the geometric mean."""
WEIGHED = bytes([3, 0, 100, 0, 0, 0xD6, 1, 7, 100, 150, 120, 2, 1])
"""An aggregator that this board does not know."""

ROWS = [bytes([7, temperature, humidity, 9, 0, 0, 0, 0]) for temperature, humidity in
        ((20, 20), (120, 200), (200, 200), (121, 30), (90, 90), (255, 0), (149, 79))]  # fmt: skip
"""Of these the second, fourth and last are warm, and the fourth and last are dry too."""


def files_for(
    folder: Path, rows: list[bytes], subscriptions: tuple[bytes, ...] = ()
) -> dict[str, str | bytes]:
    settings = board_settings(
        TABLE, "weather", ["temperature", "humidity", "pressure"], node=NODE, protocol="file", period_ms=200
    )
    written = build_board("microbit", folder, "0", settings, subscriptions=subscriptions, readings=rows)
    return {path.name: path.read_bytes() for path in written if path.suffix in (".py", ".bin")}


@pytest.mark.board
def test_a_subscription_goes_to_the_board_and_notifications_come_back(tmp_path: Path) -> None:
    heard: list[BoardEvent] = []

    def is_enough(said: BoardEvent) -> bool:
        return len([one for one in [*heard, said] if one.what == "delivered"]) == 5

    files = files_for(tmp_path, ROWS * 3)
    for said in converse(
        files,
        TABLE,
        NODE,
        [RequestedSubscription(WARM), RequestedSubscription(DRY), RequestedSubscription(WEIGHED)],
        60,
        is_enough,
    ):
        heard.append(said)
    words = [(said.what, said.words) for said in heard]
    assert words[0] == ("announced", "the board, node 7, announces its sources")
    assert {said.words for said in heard if said.what == "installed"} == {
        "the board looks for subscription 1",
        "the board looks for subscription 2",
    }
    refused = {said.words for said in heard if said.what == "refused"}
    assert refused == {
        "the board refused subscription 3: unknown_language; a micro:bit cannot combine by weighted_mean "
        "(aggregator 6); it supports min, max, product, arithmetic_mean, geometric_mean, harmonic_mean"
    }
    found = {tuple(said.vector[6:-2]) for said in heard if said.what == "delivered"}
    assert found >= {(121, 30), (149, 79)}
    assert found <= {(120,), (121,), (149,), (121, 30), (149, 79)}


@pytest.mark.board
def test_what_was_built_in_is_looked_for_from_the_start(tmp_path: Path) -> None:
    files = files_for(tmp_path, ROWS * 3, (WARM,))
    assert "blocks.bin" in files
    heard = list(
        converse(files, TABLE, NODE, [RequestedSubscription(WARM)], 60, lambda said: said.what == "delivered")
    )
    assert heard[-1].what == "delivered"
    assert heard[-1].vector[6:-2] in (b"\x78", b"\x79", b"\x95")


@pytest.mark.board
def test_a_thermometer_with_a_scale_says_the_byte_that_the_scale_gives(tmp_path: Path) -> None:
    """QEMU's chip has 21 degrees always."""
    table = load_mission_table(["fire"])
    air = table.event("fire").attribute("air_temperature")
    settings = board_settings(table, "fire", [air.name], node=NODE, protocol="adc", period_ms=200)
    written = build_board("microbit", tmp_path, "0", settings)
    files = {path.name: path.read_bytes() for path in written if path.suffix in (".py", ".bin")}
    byte = normal_byte(210, air.lo_scaled, air.hi_scaled, air.inner)
    wanted = bytes([1, 0, 100, 0, 0, 0xF0, byte, byte, 127, 4, 1])
    heard = list(
        converse(
            files, table, NODE, [RequestedSubscription(wanted)], 60, lambda said: said.what == "delivered"
        )
    )
    assert heard[-1].what == "delivered"
    assert heard[-1].vector[6:-2] == bytes([byte])
    assert byte != normal_byte(210, air.lo_scaled, air.hi_scaled)


@pytest.mark.board
@pytest.mark.parametrize("count", [1, 28])
def test_a_thermometer_with_subscriptions_built_in_starts_and_takes_more(tmp_path: Path, count: int) -> None:
    settings = board_settings(TABLE, "weather", ["temperature"], node=NODE, protocol="adc", period_ms=300)
    wide = bytes([0, 0, 100, 0, 0, 0xD0, 0, 255, 120, 2, 1])
    three = bytes([0, 0, 100, 0, 0, 0xD0, *([0, 255, 120] * 3), 2, 7])
    subscriptions = [bytes([number]) + three[1:] for number in range(1, count)] + [wide]
    written = build_board("microbit", tmp_path, "0", settings, subscriptions=subscriptions)
    files = {path.name: path.read_bytes() for path in written if path.suffix in (".py", ".bin")}
    heard = list(
        converse(
            files,
            TABLE,
            NODE,
            [RequestedSubscription(WARM), RequestedSubscription(wide)],
            120,
            lambda said: said.what == "delivered",
        )
    )
    assert {"announced", "installed", "delivered"} <= {said.what for said in heard}
    assert heard[-1].vector[6] == 156  # 21 of -40..60


@pytest.mark.board
def test_a_board_that_stops_is_a_failure_with_what_it_printed() -> None:
    begin = time.monotonic()
    with pytest.raises(BoardFailure, match=r"stopped:\nTraceback[\s\S]*ZeroDivisionError"):
        list(converse({"main.py": "def f():\n 1//0\nf()\n"}, TABLE, NODE, [], 120))
    assert time.monotonic() < begin + 100


@pytest.mark.board
def test_a_board_that_never_announces_itself_is_a_failure() -> None:
    with pytest.raises(BoardFailure, match=r"did not announce itself within 2 s; it printed:\nhello"):
        list(converse({"main.py": "print('hello')\nwhile True: pass\n"}, TABLE, NODE, [], 2))


@pytest.mark.board
def test_garbage_on_the_line_does_not_stop_the_board(tmp_path: Path) -> None:
    garbage = (
        b"\xc0",
        b"\xc0\x10\x21\x01",
        b"hello\r\n",
        bytes(range(4, 60)),
        b"\xdb\xdb\xc0",
        b"\xc0\xc0\xff",
    )
    begin = time.monotonic()
    delivered: list[bytes] = []
    turns = 0
    with started(files_for(tmp_path, ROWS * 9), "stdio", counted=False) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        desk = LocalMission(TABLE, NODE, [RequestedSubscription(WARM)], 0)
        while len(delivered) < 6 and time.monotonic() < begin + 60:
            data = b""
            if select.select([process.stdout], [], [], 0.005)[0]:
                data = os.read(process.stdout.fileno(), 4096)
            out = desk.step(data, round(1000 * (time.monotonic() - begin)))
            if desk.mediator.notification_count and not out:
                turns += 1
                out = garbage[turns // 40 % len(garbage)] if turns % 40 == 0 else b""
            process.stdin.write(out)
            process.stdin.flush()
            for _, event in desk.events():
                if isinstance(event, NotificationDelivered):
                    delivered.append(event.item.payload)
    assert len(delivered) == 6
    assert turns >= 40


def test_blocks_are_what_a_pool_would_hold() -> None:
    pool = Pool(1, 5 + 22 * 8, 9)
    later = bytes([1, 3]) + WARM[2:]
    for vector in (DRY, bytes([4]) + WARM[1:], later):
        assert pool.put(0, vector[0], vector[1], NEVER, vector, 5, len(vector))
    blocks = pool_blocks([WARM, DRY, bytes([4]) + WARM[1:], later])
    assert [(block[1], block[2:5]) for block in blocks] == [
        (block[1], bytes(block[2:5])) for block in pool.blocks
    ]
    for block, whole in zip(blocks, pool.blocks, strict=True):
        k = block[3]
        for number in range(block[1]):
            here, there = 5 + number * (block[0] << 1), 5 + number * (whole[0] << 1)
            assert block[here : here + 9] == whole[there : there + 9]
            wide = whole[there + 9 : there + 9 + 4 * k]
            assert block[here + 9 : here + 9 + 3 * k] == b"".join(wide[4 * i : 4 * i + 3] for i in range(k))


def test_the_board_speaks_first_and_is_woken_at_its_prompt() -> None:
    desk = LocalMission(TABLE, NODE, [RequestedSubscription(WARM)], 0)
    assert all(desk.step(b"", now_ms) == b"" for now_ms in range(0, 5000, 50))
    assert desk.step(b"MicroPython v1.9.2\r\n>>> ", 5000) == RESTART
    assert desk.step(b"noise", 5050) == b""


def test_every_part_of_the_link_is_in_the_package() -> None:
    package = ROOT / "watchdog"
    assert [
        name
        for algorithm in ALGORITHMS
        for part in link_parts(algorithm).values()
        for name in part
        if not (package / (name + ".py")).is_file()
    ] == []
    assert SHARED.is_dir()
