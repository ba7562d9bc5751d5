"""Manners of the whole tree: nothing in it names a machine, a package index or a folder outside of it."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.paths import ROOT

FORBIDDEN = {
    "a package index": re.compile(
        r"https?://[\w.-]+/(?:simple|packages|debian)\b|--(?:extra-)?index-url|\"resolved\":"
    ),
    "an absolute machine path": re.compile(r"(?<![\w./-])/(?:root|work|home/\w+)/"),
    "the folder beside the project": re.compile(r"\.\./" + r"shared"),
}


def tracked_text() -> list[tuple[str, str]]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    texts = []
    for name in filter(None, listing.split("\0")):
        path = ROOT / name
        if not path.is_file() or path == Path(__file__):
            continue
        try:
            texts.append((name, path.read_text("utf-8")))
        except UnicodeDecodeError:
            continue
    return texts


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_names(what: str) -> None:
    found = [name for name, text in tracked_text() if FORBIDDEN[what].search(text)]
    assert found == []


def test_every_pinned_requirement_has_a_hash() -> None:
    files = sorted((ROOT / "requirements").glob("*.txt"))
    assert len(files) >= 4
    for file in files:
        blocks = re.split(r"\n(?=\S)", file.read_text().strip())
        assert [block for block in blocks if "==" not in block or "--hash=sha256:" not in block] == []


def test_no_module_lost_its_docstring() -> None:
    bare = []
    for name, text in tracked_text():
        top = name.split("/")[0]
        if name.endswith(".py") and top not in {"tests"} and not text.lstrip().startswith(('"""', "#")):
            bare.append(name)
    assert bare == []
