"""What `build_board` writes is complete, small, and runs."""

import json
from pathlib import Path

import pytest

from knowledge_manager.mission_table import load_mission_table
from studio.board.build import UnknownBoard, build_board
from studio.board.recording import recorded_rows
from studio.board.settings import board_settings
from studio.failures import Refusal
from tests.boards.install import cross_compiler

TABLE = load_mission_table(["weather"])
SETTINGS = board_settings(TABLE, "weather", ["temperature"], node=7, protocol="adc")


def test_a_board_with_folders_gets_the_package_and_its_listing(tmp_path: Path) -> None:
    written = build_board("pico", tmp_path, "0.1.0", SETTINGS)
    listing = json.loads((tmp_path / "package.json").read_text(encoding="utf-8"))
    assert listing["version"] == "0.1.0"
    listed = {tmp_path / name for name, _ in listing["urls"]}
    assert listed == set(written) - {
        tmp_path / name for name in ("package.json", "manifest.py", "board.json")
    }
    assert all(path.is_file() for path in written)
    assert tmp_path / "watchdog" / "manager.py" in listed


@pytest.mark.board
def test_a_board_with_folders_gets_compiled_modules(tmp_path: Path) -> None:
    written = build_board("esp32", tmp_path, "0.1.0", SETTINGS, mpy_cross=cross_compiler("1.29"))
    modules = [path for path in written if path.suffix == ".mpy"]
    assert len(modules) > 15
    assert all(path.read_bytes()[:2] == b"M\x06" for path in modules)
    assert list((tmp_path / "watchdog").glob("*.py")) == []


def test_an_unknown_board_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownBoard, match="esp32, microbit, pico"):
        build_board("toaster", tmp_path, "0.1.0", SETTINGS)
    assert list(tmp_path.iterdir()) == []


def test_no_file_of_a_micro_bit_is_larger_than_it_may_be(tmp_path: Path) -> None:
    written = build_board("microbit", tmp_path, "0.1.0", SETTINGS)
    sources = [path for path in written if path.suffix == ".py"]
    assert len(sources) > 3
    assert all(0 < path.stat().st_size <= 2560 for path in sources)
    for path in sources:
        compile(path.read_text(encoding="utf-8"), path.name, "exec")


def test_what_a_board_cannot_do_is_refused(tmp_path: Path) -> None:
    two = board_settings(TABLE, "weather", ["temperature", "humidity"], node=7)
    sealed = board_settings(TABLE, "weather", ["temperature"], node=7, mission_key=b"x")
    for settings, says in ((two, "one attribute"), (sealed, "hashlib")):
        with pytest.raises(Refusal, match=says):
            build_board("microbit", tmp_path, "0.1.0", settings)
    with pytest.raises(Refusal, match=r"sensors\.py"):
        build_board("pico", tmp_path, "0.1.0", SETTINGS, readings=[bytes(8)])
    with pytest.raises(Refusal, match="is a word"):
        board_settings(TABLE, "weather", ["wind_direction"], node=7)
    with pytest.raises(Refusal, match="65000"):
        board_settings(TABLE, "weather", ["temperature"], node=65001)
    assert list(tmp_path.iterdir()) == []


def test_more_subscriptions_than_a_micro_bit_has_room_for_are_refused(tmp_path: Path) -> None:
    many = [bytes([number, 0, 100, 0, 0, 0xD0, 0, 255, 120, 2, 1]) for number in range(60)]
    with pytest.raises(Refusal, match=r"60 subscriptions take .* give it fewer"):
        build_board("microbit", tmp_path, "0.1.0", SETTINGS, subscriptions=many)
    assert list(tmp_path.iterdir()) == []


def test_a_recording_is_read_as_a_board_would_and_its_faults_are_counted(tmp_path: Path) -> None:
    recording = tmp_path / "r.csv"
    recording.write_text(
        "time,temperature,humidity\n1,20.00,50\n2,99.00,x\n3,20\n4,-40.00,100.00\n", encoding="utf-8"
    )
    settings = board_settings(TABLE, "weather", ["temperature", "humidity"], node=7)
    recorded = recorded_rows(recording, settings)
    assert [row.hex() for row in recorded.rows] == [
        "0399800000000000",
        "01ff000000000000",
        "0300ff0000000000",
    ]
    assert (recorded.broken, recorded.missing, recorded.clipped) == (1, 1, 1)
    recording.write_text("time,temperature\n", encoding="utf-8")
    with pytest.raises(Refusal, match="no reading"):
        recorded_rows(recording, settings)
