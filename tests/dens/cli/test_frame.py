"""What holds for every command: help, start-up, exit codes, no traceback."""

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer.main

from dens.cli.main import app

COMMANDS = [
    "run", "rerun", "compare", "report", "live", "learn", "sweep", "compile", "decode", "decompile",
    "explain", "match", "check", "lookup", "offers", "vocabulary", "thesaurus", "cover", "contacts", "replay",
    "torture", "key", "node", "graph", "board", "experiment", "init", "doctor", "schema",
]  # fmt: skip
HEAVY = ["pyspark", "numpy", "pandas", "lxml", "pydantic", "matplotlib", "simpy", "numba", "pint", "rdflib"]


def test_help_names_every_command(dens) -> None:
    ended = dens("--help")
    assert ended.code == 0
    assert [name for name in COMMANDS if f" {name} " not in ended.out] == []


def leaves(path: tuple[str, ...], command: Any) -> Iterator[tuple[str, ...]]:
    nested = getattr(command, "commands", None)
    if nested is None:
        yield path
    for name, below in (nested or {}).items():
        yield from leaves((*path, name), below)


@pytest.mark.parametrize("command", list(leaves((), typer.main.get_command(app))), ids=" ".join)
def test_every_command_has_help_and_json(dens, command: tuple[str, ...]) -> None:
    ended = dens(*command, "--help")
    assert ended.code == 0
    assert "--json" in ended.out


def test_help_imports_nothing_heavy() -> None:
    probe = (
        "import sys\n"
        "from dens.cli.main import _run\n"
        "_run(['--help'], False)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    ended = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert ended.stderr.strip() == "[]"


@pytest.mark.parametrize(
    "words", [["no-such-command"], ["run"], ["decode", "--kind", "zz", "00"], ["schema", "x"]]
)
def test_wrong_usage_ends_2(dens, words: list[str]) -> None:
    ended = dens(*words)
    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert ended.err.strip()


def test_version(dens) -> None:
    ended = dens("--version")
    assert (ended.code, ended.out) == (0, f"dens {version('dens')}\n")


def test_a_fault_of_ours_is_named_and_debug_shows_it(dens, monkeypatch: pytest.MonkeyPatch) -> None:
    from dens.app.tools import doctor as examination

    def broken() -> list[examination.Finding]:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(examination, "examine", broken)
    ended = dens("doctor")
    assert ended.code == 4
    assert "planted" in ended.err
    assert "--debug" in ended.err
    debugged = dens("doctor", "--debug")
    assert debugged.code == 4
    assert "Traceback" in debugged.err


def test_completion_can_be_shown_in_a_shell() -> None:
    """The shell is the one that the command was called from."""
    called = f"{Path(sys.executable).parent / 'dens'} --show-completion; echo ended $?"
    ended = subprocess.run(["bash", "-c", called], capture_output=True, text=True, check=True, timeout=300)
    assert "complete" in ended.stdout
    assert ended.stdout.endswith("ended 0\n")
