"""Every command that a documentation page shows is run, in the order of the page."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.documented.pages import PAGES
from tests.paths import ROOT

SHOWN = re.compile(r"^(?:\$ |    \$ |    (?=dens ))(.+)$", re.MULTILINE)
LONGEST_S = 240


def shown_commands(page: str) -> list[str]:
    """Return the commands of a page, without comments."""
    found = SHOWN.findall((ROOT / "docs" / page).read_text())
    return [re.sub(r"\s+#.*", "", command).strip() for command in found]


def test_every_page_with_commands_is_known() -> None:
    with_commands = {path.name for path in (ROOT / "docs").glob("*.md") if shown_commands(path.name)}
    assert with_commands == set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_what_is_left_out_is_on_the_page(name: str) -> None:
    commands = shown_commands(name)
    for beginning in (*PAGES[name].left_out, *PAGES[name].background, *PAGES[name].after):
        assert any(command.startswith(beginning) for command in commands), beginning


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.board
@pytest.mark.parametrize("name", PAGES)
def test_every_shown_command_ends_0(name: str, tmp_path: Path) -> None:
    page = PAGES[name]
    for folder in ("docs", "knowledge_manager"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    page.prepare(tmp_path)
    waiting: list[tuple[str, subprocess.Popen[str]]] = []
    place = tmp_path
    with node(tmp_path) if page.with_node else nothing():
        for command in shown_commands(name):
            if command.startswith("cd "):
                place = place / command.removeprefix("cd ")
            elif not command.startswith(tuple(page.left_out)):
                process = started(command, place)
                if page.background and command.startswith(page.background):
                    waiting.append((command, process))
                    time.sleep(2)
                else:
                    ended_well(command, process)
                for beginning, step in page.after.items():
                    if command.startswith(beginning):
                        step(tmp_path)
        for command, process in waiting:
            if "--count" not in command:
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=LONGEST_S)
                assert process.returncode == 130, command
            else:
                ended_well(command, process)


def started(command: str, place: Path) -> subprocess.Popen[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.Popen(
        ["bash", "-c", f"exec {command}" if "&&" not in command else command],
        cwd=place,
        env={**os.environ, "PATH": path, "COLUMNS": "120"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended_well(command: str, process: subprocess.Popen[str]) -> None:
    out, _ = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 0, f"{command}\n{out}"


@contextmanager
def nothing() -> Iterator[None]:
    yield


@contextmanager
def node(folder: Path) -> Iterator[None]:
    """Run a DENS node of `node.toml`, on a port that is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    text = f'node = 1\nstore = "node.sqlite"\n\n[udp]\naddress = "127.0.0.1:{port}"\n'
    (folder / "node.toml").write_text(text)
    process = started("dens node run node.toml --json", folder)
    try:
        assert process.stdout is not None
        assert "begun" in process.stdout.readline()
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0
