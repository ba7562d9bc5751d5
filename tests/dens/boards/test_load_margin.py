"""The networked micro:bit has a margin: unplanned statements do not keep it from loading.

Its compiler needs much more heap than what it compiles will take, so an image can be too large to load while
hundreds of bytes are left. Here characters are added to its largest program until that is so.
"""

import re
from pathlib import Path

import pytest

from dens.boards.build import build_board
from dens.boards.emulator.microbit import in_still_air, run_on_microbit
from dens.boards.settings import board_settings
from knowledge_manager.mission_table import load_mission_table

TABLE = load_mission_table(["weather"])
STATEMENT = "c=a+b*25-(a&b)*4711;d=c+a*b&255;"
"""32 characters."""
MARGIN = {True: 4, False: 8}
"""Statements that still fit: 128 characters with recorded readings and 256 without; fewer fit
too.
"""


def built(folder: Path, is_recorded: bool, algorithm: str) -> dict[str, bytes]:
    names = ["temperature", "humidity", "pressure"] if is_recorded else ["temperature"]
    settings = board_settings(
        TABLE, "weather", names, node=7, protocol="adc", period_ms=200, algorithm=algorithm
    )
    rows = [bytes(8)] * 10 if is_recorded else None
    written = build_board("microbit", folder, "0", settings, readings=rows)
    return {path.name: path.read_bytes() for path in written if path.suffix in (".py", ".bin")}


def with_statements(files: dict[str, bytes], number: int) -> dict[str, bytes]:
    """Return an image with this many extra statements in its loop, which reports that it loaded, and ends."""
    changed = dict(in_still_air(files))
    main = changed["main.py"].decode()
    assert main.endswith("run()\n")
    assert "reset()" in main
    main = main.replace("from microbit import reset;reset()", "print('no room');print('--end--')")
    changed["main.py"] = main.replace("\nrun()\n", "\nprint('loaded');print('--end--')\n").encode()
    [home] = [name for name, text in changed.items() if b"\ndef run():\n" in text]
    text = changed[home].decode()
    found = re.search(r"#(\d{4})\ndef run\(\):\n (\S+)\n", text)
    assert found is not None
    more = STATEMENT * number
    head = f"#{int(found[1]) + len(more):04d}\ndef run():\n {more}{found[2]}\n"
    changed[home] = (text[: found.start()] + head + text[found.end() :]).encode()
    return changed


@pytest.mark.board
@pytest.mark.parametrize("is_recorded", [True, False])
def test_unplanned_statements_do_not_keep_it_from_loading(tmp_path: Path, is_recorded: bool) -> None:
    files = built(tmp_path, is_recorded, "fnifs")
    outcomes = {
        number: run_on_microbit(with_statements(files, number), timeout_s=30).split("\n")[0]
        for number in range(MARGIN[is_recorded] + 1)
    }
    assert set(outcomes.values()) == {"loaded"}, outcomes
    assert run_on_microbit(with_statements(files, 60), timeout_s=30).startswith("no room")


@pytest.mark.board
def test_the_flat_algorithm_loads_too(tmp_path: Path) -> None:
    files = built(tmp_path, True, "fnif")
    assert run_on_microbit(with_statements(files, 1), timeout_s=30).startswith("loaded")


def test_a_board_that_replays_several_attributes_works_out_the_curved_means(tmp_path: Path) -> None:
    """The README's own example combines three attributes by the harmonic mean."""
    reciprocal = b"8388607"
    assert any(reciprocal in text for text in built(tmp_path / "recorded", True, "fnifs").values())
    assert not any(reciprocal in text for text in built(tmp_path / "chip", False, "fnifs").values())


FREE = 1_600
"""Bytes of free heap when the networked image has loaded; it had 1,680 before readings began with
the number of a session."""


@pytest.mark.board
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_networked_image_leaves_room(tmp_path: Path, seed: int) -> None:
    files = dict(in_still_air(built(tmp_path, False, "fnifs")))
    statements = "import gc;gc.collect();print('free',gc.mem_free());print('--end--')"
    main = files["main.py"].decode()
    assert main.endswith("\nrun()\n")
    files["main.py"] = main.replace("\nrun()\n", f"\n{statements}\n").encode()
    free = run_on_microbit(files, timeout_s=30, seed=seed).split()
    assert free[0] == "free"
    assert int(free[1]) >= FREE
