"""The wheel: the six packages and nothing else, and a core environment in which the core commands work."""

import os
import re
import shutil
import socket
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest

from dens.app.name_clashes import PACKAGES
from dens.app.parts import requirements
from tests.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]

DAY = "patient_temperature,heart_rate,oxygen_saturation\n36.8,71,98\n40.1,134,88\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a pure wheel from the tracked files; nothing else may be needed for it."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listing.stdout.split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    environment = {**os.environ, "DENS_BUILD_PURE": "1"}
    subprocess.run([*command, "--wheel-dir", target, source], cwd=target, env=environment, check=True)
    [built] = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an environment with the wheel and what the core needs, and return its `dens`.

    The distributions are linked from this environment, so the test needs no package index.
    """
    folder = tmp_path_factory.mktemp("core")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    [site] = folder.glob("lib/python*/site-packages")
    for name in closure({needed.name for needed in requirements()["core"]}):
        home = Path(str(distribution(name).locate_file("")))
        for top in {file.parts[0] for file in distribution(name).files or ()} - {".."}:
            if not (site / top).is_symlink():
                (site / top).symlink_to(home / top)
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, wheel], env=plain(), check=True)
    return folder / "bin" / "dens"


def closure(names: set[str]) -> set[str]:
    """Return these distributions and all that they require here, without extras."""
    found: set[str] = set()
    waiting = sorted(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for line in distribution(name).requires or ():
            needed = re.match(r"[\w.-]+", line)
            if needed is not None and "extra ==" not in line and is_installed(needed[0]):
                waiting.append(needed[0])
    return found


def is_installed(name: str) -> bool:
    try:
        distribution(name)
    except ModuleNotFoundError:
        return False
    return True


def run(core: Path, folder: Path, *arguments: str, code: int = 0) -> str:
    """Run a command of the core environment, outside of the checkout."""
    ended = subprocess.run(
        [core, *arguments], cwd=folder, env=plain(), capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == code, ended.stderr
    return ended.stdout + ended.stderr


def plain() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DENS_PURE")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "docs" / "examples" / "patient.xml", tmp_path)
    (tmp_path / "day.csv").write_text(DAY)
    return tmp_path


def test_wheel_has_the_six_packages_and_the_pages(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert "dens/_pages/errors/D102.md" in names
    assert "dens/_pages/how-to/node.md" in names
    assert "dens/_pages/tutorial.md" in names
    assert [name for name in names if "/tests/" in name or "experiments" in name.split("/")[0]] == []


def test_core_commands_work_outside_of_the_checkout(core: Path, folder: Path) -> None:
    vector = run(core, folder, "compile", "patient.xml").strip()
    assert vector == "00006700009592ff547bff3f00c249010b"
    assert "heart_rate" in run(core, folder, "decode", vector)
    values = ("patient_temperature=39.1", "heart_rate=128", "oxygen_saturation=90")
    run(core, folder, "explain", "patient.xml", *(f"--value={value}" for value in values))
    run(core, folder, "init", "demo")
    run(core, folder, "check", "demo", "patient.xml")
    run(core, folder, "board", "build", "--board", "pico", "-o", "board")
    assert (folder / "board" / "main.py").is_file()
    assert run(core, folder, "help", "D102").startswith("# D102")
    assert "not installed: numba" in " ".join(run(core, folder, "doctor", "--json").split())


def test_report_in_a_core_environment_prints_an_installation_line(core: Path, folder: Path) -> None:
    output = run(core, folder, "report", "nothing", code=3)
    assert re.search(r'^install: pip install .*"pyspark\[connect,sql\]<5,>=', output, re.MULTILINE)


@pytest.fixture
def node(core: Path, folder: Path) -> Iterator[Path]:
    """Run a node on a free port of loopback; return its file."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    file = folder / "node.toml"
    file.write_text(f'node = 1\nstore = "node.sqlite"\n\n[udp]\naddress = "127.0.0.1:{port}"\n')
    command = [core, "node", "run", file]
    process = subprocess.Popen(command, cwd=folder, env=plain(), stdout=subprocess.DEVNULL)
    yield file
    process.terminate()
    assert process.wait(60) == 0


def test_notification_travels_between_core_processes(core: Path, folder: Path, node: Path) -> None:
    command = [core, "node", "subscribe", node, "patient.xml", "--count", "1"]
    subscriber = subprocess.Popen(command, cwd=folder, env=plain(), stdout=subprocess.PIPE, text=True)
    run(core, folder, "node", "publish", str(node), "day.csv", "--event", "patient", "--on-demand")
    shown, _ = subscriber.communicate(timeout=120)
    assert subscriber.returncode == 0
    assert "patient_temperature is 40.1" in shown
