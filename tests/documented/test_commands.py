"""Every command that a documentation page shows is run, in the order of the page."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.dens.cli.conftest import Dens
from tests.documented.pages import PAGES
from tests.paths import DOCS, KINDS, ROOT, page_path

SHOWN = re.compile(r"^(?:\$ |    \$ |    (?=dens ))(.+)$", re.MULTILINE)
LONGEST_S = 240


def shown_commands(page: str) -> list[str]:
    """Return the commands of a page, without comments."""
    found = SHOWN.findall(page_path(page).read_text())
    return [re.sub(r"\s+#.*", "", command).strip() for command in found]


def test_every_page_with_commands_is_known() -> None:
    folders = (DOCS, *(DOCS / kind for kind in KINDS))
    names = [path.name for folder in folders for path in folder.glob("*.md")]
    assert len(names) == len(set(names)), "dens help finds a page by its name"
    with_commands = {name for name in names if shown_commands(name)}
    assert with_commands == set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_what_is_left_out_is_on_the_page(name: str) -> None:
    commands = shown_commands(name)
    for beginning in (*PAGES[name].left_out, *PAGES[name].background, *PAGES[name].after):
        assert any(command.startswith(beginning) for command in commands), beginning


@pytest.mark.slow
@pytest.mark.board
@pytest.mark.parametrize("name", PAGES)
def test_every_shown_command_ends_0(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dens: Dens, spark: SparkSession
) -> None:
    """Commands run in this process and share its Spark; the README's are run as processes of their own."""
    page = PAGES[name]
    for folder in ("docs", "knowledge_manager"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    page.prepare(tmp_path)
    waiting: list[tuple[str, subprocess.Popen[str]]] = []
    monkeypatch.chdir(tmp_path)
    with node(tmp_path) if page.with_node else nothing():
        for command in shown_commands(name):
            if command.startswith("cd "):
                monkeypatch.chdir(command.removeprefix("cd "))
            elif not command.startswith(tuple(page.left_out)):
                if page.background and command.startswith(page.background):
                    waiting.append((command, started(command)))
                    time.sleep(2)
                else:
                    for part in command.split(" && "):
                        assert_ends_well(part, dens)
                for beginning, step in page.after.items():
                    if command.startswith(beginning):
                        step(tmp_path)
        for command, process in waiting:
            if "--count" not in command:
                process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=LONGEST_S)
            assert process.returncode == (0 if "--count" in command else 130), f"{command}\n{out}"


def assert_ends_well(command: str, dens: Dens) -> None:
    program, *arguments = shlex.split(command)
    if program == "dens":
        ended = dens(*arguments)
        assert ended.code == 0, f"{command}\n{ended.out}\n{ended.err}"
    else:
        subprocess.run([program, *arguments], stdout=subprocess.DEVNULL, check=True, timeout=LONGEST_S)


def started(command: str) -> subprocess.Popen[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.Popen(
        shlex.split(command),
        env={**os.environ, "PATH": path, "COLUMNS": "120"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


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
    process = started("dens node run node.toml --json")
    try:
        assert process.stdout is not None
        assert "begun" in process.stdout.readline()
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0
