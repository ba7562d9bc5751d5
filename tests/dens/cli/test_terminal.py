"""Nothing that a file holds steers the terminal: results, warnings and errors of every command go through the
two streams that are guarded here.
"""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.config.streams import TerminalStream, guarded, printable
from knowledge_manager.graphs.terms import literal, written
from tests.paths import ROOT

CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
BIDIRECTIONAL = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
BEYOND_ASCII = [code for code in (*CONTROLS, *BIDIRECTIONAL) if code > 0x7F]

HOSTILE = "".join(map(chr, BEYOND_ASCII))


def on_terminal(text: str) -> str:
    """Return what a terminal gets of a text that a command writes."""
    ours, theirs = pty.openpty()
    stream = guarded(os.fdopen(theirs, "w", encoding="utf-8", newline=""))
    assert isinstance(stream, TerminalStream)
    assert stream.write(text) == len(text)
    stream.flush()
    size = len(text.encode()) * 6
    found = os.read(ours, size)
    stream.close()
    os.close(ours)
    return found.decode()


@pytest.mark.parametrize("code", BEYOND_ASCII)
def test_a_character_that_steers_is_shown_as_its_escape(code: int) -> None:
    assert on_terminal(f"a{chr(code)}b") == f"a\\u{code:04x}b"
    assert chr(code) not in printable(f"a{chr(code)}b")
    assert chr(code) not in written(literal(f"a{chr(code)}b"))


@pytest.mark.parametrize("code", [code for code in CONTROLS if code != 0x0A])
def test_what_quotes_a_file_escapes_ascii_controls(code: int) -> None:
    assert chr(code) not in printable(f"a{chr(code)}b")
    assert chr(code) not in written(literal(f"a{chr(code)}b"))


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=40))
def test_all_other_text_is_shown_as_it_is(text: str) -> None:
    plain = "".join(sign for sign in text if ord(sign) not in BIDIRECTIONAL) or "a"
    assert on_terminal(plain) == plain


def test_colours_pass_and_files_are_written_as_they_are(tmp_path: Path) -> None:
    assert on_terminal("\x1b[31mred\x1b[0m") == "\x1b[31mred\x1b[0m"
    path = tmp_path / "out"
    with path.open("w", encoding="utf-8", newline="") as stream:
        assert guarded(stream) is stream
        stream.write(HOSTILE)
    assert path.read_text(encoding="utf-8") == HOSTILE


STATEMENT = f'<urn:a\u202e> <urn:p> "{HOSTILE}" .\n'


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (("graph", "read"), STATEMENT),
        (("graph", "taxonomy"), STATEMENT),
        (("check",), f'<urn:a> <urn:p> "x"@{HOSTILE} .\n'),
        (("compile",), "<no/>"),
    ],
    ids=["read", "taxonomy", "check", "compile"],
)
def test_no_command_lets_a_file_steer_the_terminal(
    tmp_path: Path, command: tuple[str, ...], text: str
) -> None:
    """Results on stdout, problems on stderr, and the name of the file itself."""
    path = tmp_path / "odd\u009b31m\u202e.ttl"
    path.write_text(text, encoding="utf-8")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "dens.cli", *command, str(path)],
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
    )
    os.close(theirs)
    found = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not more:
            break
        found += more
    process.wait(60)
    os.close(ours)
    shown = found.decode(errors="replace")
    assert "\\u202e" in shown.lower()
    assert [hex(ord(sign)) for sign in shown if ord(sign) in BEYOND_ASCII] == []
