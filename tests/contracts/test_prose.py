"""Texts avoid idioms that engineers of the field do not use.

`LEFT` is what remains per folder. Its numbers only go down; the goal is an empty table.
"""

import io
import re
import subprocess
import tokenize
from collections import Counter
from pathlib import Path

from tests.paths import ROOT

INSTEAD = {
    "told": "reported, recorded, stated",
    "tell": "report, show, state",
    "tells": "reports, shows, states",
    "said": "stated, given",
    "asked": "requested, queried",
    "owed": "expected, pending",
    "wish": "subscription",
    "wishes": "subscriptions",
    "anew": "again",
    "whence": "from where",
    "nobody": "no node, no subscriber",
    "somebody": "a node, a user",
    "by chance": "at random",
    "say whether": "return whether",
    "foretold": "predicted",
    "foretell": "predict",
    "foretells": "predicts",
    "in vain": "unnecessarily",
    "says whether": "returns whether",
    "lets? go of": "release",
    "puts? up with": "tolerate",
}
PATTERN = re.compile(
    rf"\b(?:{'|'.join(INSTEAD)}|is no (?!longer|more than|less than|later than|earlier than))\b",
    re.IGNORECASE,
)

LEFT: dict[str, int] = {
    "spark_analysis": 1,  # the key "foretold" of reports (json_keys.py)
    "tests": 1,
}

DATA_NAMES = ('"owed"', '"foretold"')
"""Columns of traces and keys of documents that keep their names."""


def texts_of(path: Path) -> str:
    """Return a page without inline code (data names stay), or the comments and strings of a module."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        return re.sub(r"`[^`\n]+`", "", text)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    texts = (token.string for token in tokens if token.type in (tokenize.COMMENT, tokenize.STRING))
    return "\n".join(text for text in texts if text not in DATA_NAMES)


def folder_of(name: str) -> str:
    parts = name.split("/")
    depth = 2 if parts[0] in ("dens", "docs") else 1
    return "/".join(parts[:depth]) if len(parts) > depth else parts[0]


def idioms() -> Counter[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    found: Counter[str] = Counter()
    for name in listed.stdout.splitlines():
        if name.endswith((".py", ".md")) and (ROOT / name).is_file() and Path(name).name != "test_prose.py":
            found[folder_of(name)] += len(PATTERN.findall(texts_of(ROOT / name)))
    return +found


def test_the_pattern_finds_idioms() -> None:
    assert PATTERN.findall("It is no number, and nobody was told; it is no longer there.") == [
        "is no ",
        "nobody",
        "told",
    ]


def test_idioms_only_become_fewer() -> None:
    found = idioms()
    more = {
        folder: (count, LEFT.get(folder, 0)) for folder, count in found.items() if count > LEFT.get(folder, 0)
    }
    assert not more, f"folder: (found, allowed); write {INSTEAD}"
