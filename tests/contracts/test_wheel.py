"""The wheel: the six packages and nothing else, and environments of single parts with their commands."""

import os
import re
import shutil
import socket
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution, version
from pathlib import Path

import pytest

from dens.app.tools.name_clashes import PACKAGES
from dens.app.tools.parts import requirements
from tests.paths import ROOT
from tests.spark_analysis.clusters import connect_server, ended

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
    """Make an environment with the wheel and what the core needs, and return its `dens`."""
    folder = tmp_path_factory.mktemp("core")
    make_environment(folder, wheel, closure({needed.name for needed in requirements()["core"]}))
    return folder / "bin" / "dens"


CLASSIC_ONLY = {"bin", "core", "examples", "jars", "messages", "python", "sbin", "worker_message.py"}
CLASSIC_ONLY_SQL = {"classic", "transpile.py"}
"""What pyspark has and pyspark-client lacks."""


@pytest.fixture(scope="module")
def client(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an environment with the part `connect`: the client of Spark Connect, neither Spark nor py4j."""
    folder = tmp_path_factory.mktemp("client")
    names = {needed.name for part in ("core", "connect") for needed in requirements()[part]}
    of_the_client = {"grpcio", "grpcio-status", "googleapis-common-protos", "zstandard"}
    site = make_environment(folder, wheel, closure(names - {"pyspark-client"} | of_the_client))
    whole = Path(str(distribution("pyspark").locate_file("pyspark")))
    link_all(whole, site / "pyspark", CLASSIC_ONLY | {"sql"})
    link_all(whole / "sql", site / "pyspark" / "sql", CLASSIC_ONLY_SQL)
    metadata = site / f"pyspark_client-{version('pyspark')}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: pyspark-client\nVersion: {version('pyspark')}\n")
    return folder / "bin" / "dens"


def link_all(source: Path, target: Path, left_out: set[str]) -> None:
    target.mkdir()
    for path in source.iterdir():
        if path.name not in left_out:
            (target / path.name).symlink_to(path)


def make_environment(folder: Path, wheel: Path, distributions: set[str]) -> Path:
    """Make an environment with the wheel and these distributions, and return its packages.

    The distributions are linked from this environment, so the test needs no package index.
    """
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    [site] = folder.glob("lib/python*/site-packages")
    link_distributions(site, distributions)
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, wheel], env=plain(), check=True)
    return site


def link_distributions(site: Path, names: set[str]) -> None:
    for name in names:
        home = Path(str(distribution(name).locate_file("")))
        for top in {file.parts[0] for file in distribution(name).files or ()} - {".."}:
            if not (site / top).is_symlink():
                (site / top).symlink_to(home / top)


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


@pytest.fixture(scope="module")
def camp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a sample project, a run of it and a sweep of two seeds."""
    folder = tmp_path_factory.mktemp("camp")
    for words in (("init", "demo"), ("run", "demo/scenario.toml", "--out", "out")):
        command = [sys.executable, "-P", "-m", "dens.cli", *words]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    (folder / "sweep.toml").write_text('scenario = "demo/scenario.toml"\nseeds = [1, 2]\n')
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    url, process = connect_server(tmp_path_factory.mktemp("server"))
    yield url
    ended(process)


def test_client_of_spark_connect_reports_and_learns_on_a_server(
    client: Path, camp: Path, server: str
) -> None:
    assert "68 of 123" in run(client, camp, "report", "out", "-o", "report.html", "--remote", server)
    assert (camp / "report.html").is_file()
    what = ("--event", "tent", "--attribute", "carbon_monoxide")
    assert "high" in run(client, camp, "learn", "terms", "out", *what, "--remote", server)


def test_client_of_spark_connect_sweeps_on_a_server(client: Path, camp: Path, server: str) -> None:
    sweep = ("sweep", "sweep.toml", "-o", "sweep", "--remote", server)
    assert "needs the part emulation of dens; missing: simpy" in run(client, camp, *sweep, code=3)
    [site] = client.parents[1].glob("lib/python*/site-packages")
    link_distributions(site, closure({"simpy"}))
    run(client, camp, *sweep)
    assert len(list((camp / "sweep").glob("**/manifest.json"))) == 2


def test_client_of_spark_connect_gives_the_reason_for_what_it_cannot_do(
    client: Path, camp: Path, server: str
) -> None:
    output = run(client, camp, "report", "out", "-o", "other.html", code=3)
    assert "only the client of Spark Connect is installed here" in output
    output = run(client, camp, "live", "out", "--master", server, "--once", code=3)
    assert "cannot be followed through Spark Connect" in output
