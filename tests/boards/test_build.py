"""What `build_board` writes is complete, small, and runs."""

import json
from pathlib import Path

import pytest

from studio.board.build import UnknownBoard, build_board
from studio.board.microbit import run_on_microbit
from tests.boards.install import cross_compiler

PROGRAM = """
from store import Pool
from scan import Scan
pool = Pool(1, 181, 9)
pool.put(7, 1, 0, 1000, b"\\x01\\x00\\x64\\x00\\x00\\x00\\x0a\\x14\\x7f\\x01\\x01", 5, 11)
scan = Scan(pool, False, 95, None)
scan.prepare()
scan.begin(0, 258, 772, bytearray(b"\\x0f\\0\\0\\0\\0\\0\\0\\0"), bytearray(b"\\x01"))
print(scan.advance(), list(scan.vector)[:scan.length], scan.advance())
print("--end--")
"""


@pytest.mark.board
def test_a_program_of_the_user_runs_on_the_built_modules(tmp_path: Path) -> None:
    written = build_board("microbit", tmp_path / "out", "0.1.0")
    files = {path.name: path.read_text(encoding="utf-8") for path in written}
    assert sorted(files) == ["board.json", "grade.py", "scan.py", "store.py"]
    assert all(len(text) <= 2560 for text in files.values())
    start = "import gc\nimport store\ngc.collect()\nimport grade\ngc.collect()\nimport scan\ngc.collect()\n"
    output = run_on_microbit({**files, "user.py": PROGRAM, "main.py": start + "import user\n"})
    assert output.split("\n")[0] == "255 [1, 2, 95, 3, 4, 240, 15, 1, 1] 0"


def test_a_board_with_folders_gets_the_package_and_its_listing(tmp_path: Path) -> None:
    written = build_board("pico", tmp_path, "0.1.0")
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
    written = build_board("esp32", tmp_path, "0.1.0", cross_compiler("1.29"))
    modules = [path for path in written if path.suffix == ".mpy"]
    assert len(modules) > 15
    assert all(path.read_bytes()[:2] == b"M\x06" for path in modules)
    assert list((tmp_path / "watchdog").glob("*.py")) == []


def test_an_unknown_board_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownBoard, match="esp32, microbit, pico"):
        build_board("toaster", tmp_path, "0.1.0")
    assert list(tmp_path.iterdir()) == []
