"""Texts avoid idioms that engineers of the field do not use."""

import io
import re
import subprocess
import tokenize
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


def idioms() -> list[str]:
    """Return the idioms of all pages and modules, each with its file."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [
        f"{name}: {idiom}"
        for name in listed.stdout.splitlines()
        if name.endswith((".py", ".md")) and (ROOT / name).is_file() and Path(name).name != "test_prose.py"
        for idiom in PATTERN.findall(texts_of(ROOT / name))
    ]


def test_the_pattern_finds_idioms() -> None:
    assert PATTERN.findall("It is no number, and nobody was told; it is no longer there.") == [
        "is no ",
        "nobody",
        "told",
    ]


def test_texts_have_no_idioms() -> None:
    assert idioms() == [], f"write instead: {INSTEAD}"
