"""What the documentation shows can be typed: its commands run, and answer what is written below them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

EXAMPLE = ROOT / "docs/examples/intrusion"
PAGE = (ROOT / "docs/how-to/composite.md").read_text("utf-8")


def shown() -> list[tuple[str, str]]:
    """Return every command of the page with what it prints."""
    (block,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def test_the_document_is_the_one_that_the_page_begins_with() -> None:
    written = (EXAMPLE / "intrusion.xml").read_text("utf-8")
    assert re.findall(r"```xml\n(.*?)```", PAGE, re.DOTALL)[0] == written[written.index("<composite") :]


@pytest.mark.slow
@pytest.mark.spark
def test_every_command_answers_what_is_written_below_it(tmp_path: Path) -> None:
    place = tmp_path / "intrusion"
    shutil.copytree(EXAMPLE, place)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    (change, said), *commands = shown()
    assert (change, said) == ("cd docs/examples/intrusion", "")
    assert {command.split()[1] for command, _ in commands} >= {
        "learn",
        "check",
        "compile",
        "explain",
        "match",
    }
    for command, said in commands:
        ended = subprocess.run(
            command, shell=True, cwd=place, env={**os.environ, "PATH": path}, capture_output=True, text=True,
            check=False, timeout=300,
        )  # fmt: skip
        assert (ended.returncode, ended.stdout) == (0, said), f"{command}\n{ended.stderr}"
    assert (place / "intrusion.model").read_bytes() == (EXAMPLE / "intrusion.model").read_bytes()
