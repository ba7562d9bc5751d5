"""Every command that the README shows is run. `make test` is what runs this file."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT


def shown_commands() -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.slow
@pytest.mark.spark
def test_every_shown_command_ends_0(tmp_path: Path) -> None:
    commands = shown_commands()
    assert "make run" in commands
    assert "make test" in commands
    for folder in ("docs", "tests"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in commands:
        if command == "make test":
            continue
        place = ROOT if command.startswith("make ") else tmp_path
        ended = subprocess.run(
            command,
            shell=True,
            cwd=place,
            env={**os.environ, "PATH": path, "MAKEFLAGS": ""},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"


def test_every_linked_page_exists() -> None:
    text = "\n".join(
        path.read_text() for path in [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
    )
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert len(links) > 8
    assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []


@pytest.mark.slow
@pytest.mark.spark
def test_a_run_is_reported_from_anywhere_and_without_its_files(dens, dens_process, tmp_path: Path) -> None:
    """A run carries its vocabularies: it was once only readable from the folder of its scenario."""
    assert dens("init", tmp_path / "demo").code == 0
    assert dens("run", tmp_path / "demo" / "scenario.toml", "--out", tmp_path / "run").code == 0
    shutil.rmtree(tmp_path / "demo")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ended = dens_process("report", tmp_path / "run", "--json", cwd=elsewhere)
    assert ended.code == 0
    assert ended.document()["delivery"]["total"]["delivered"] > 0
