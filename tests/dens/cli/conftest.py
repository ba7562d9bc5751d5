"""How the tests of the command line call it: in this process, or as a person would."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dens.cli import console
from dens.cli.main import main
from dens.node.processes import subscriber as asking


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str

    def document(self) -> Any:
        return json.loads(self.out)


Dens = Callable[..., Ended]


@pytest.fixture
def dens(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Dens:
    """Call a command in this process."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments: str | Path) -> Ended:
        console.out.cache_clear()
        console.err.cache_clear()
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        code = end.value.code
        assert isinstance(code, int)
        return Ended(code, captured.out, captured.err)

    return call


@pytest.fixture
def dens_process() -> Dens:
    """Call a command as a process of its own."""

    def call(*arguments: str | Path, **options: Any) -> Ended:
        command = [str(Path(sys.executable).parent / "dens"), *map(str, arguments)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **options)
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return call


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an endpoint without a peer end at once instead of waiting for an answer."""
    monkeypatch.setattr(asking, "SETTLE_S", 0.2)
