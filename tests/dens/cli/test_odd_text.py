"""Unexpected characters and bytes are reported in words, wherever they occur."""

import json
import os
from pathlib import Path

import pytest

from tests.dens.cli.conftest import Dens
from tests.paths import ROOT

HALF = '{"@id":"https://e.org/\\ud800","http://purl.org/dc/elements/1.1/title":"x"}'
STRICT = {**os.environ, "PYTHONIOENCODING": "utf-8:strict", "NO_COLOR": "1"}
PATIENT = ROOT / "docs" / "examples" / "patient.xml"


def test_half_a_character_in_json_is_refused_in_json_too(dens_process: Dens, tmp_path: Path) -> None:
    path = tmp_path / "half.jsonld"
    path.write_text(HALF)
    for words in (("graph", "read"), ("check",)):
        plain = dens_process(*words, path, env=STRICT)
        told = dens_process(*words, path, "--json", env=STRICT)
        assert plain.code == told.code
        assert plain.code in (1, 3)
        assert "internal error" not in plain.err + told.err
        assert "Traceback" not in plain.err + told.err
        assert json.loads(told.out)


def test_file_with_an_odd_name_is_reported(dens_process: Dens, tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xfe.xml"))
    path.write_bytes(b"<no/>")
    ended = dens_process("check", path, env=STRICT)
    assert ended.code == 1
    assert "error D010" in ended.out


def test_non_text_bytes_are_refused_as_vector(dens_process: Dens) -> None:
    with (ROOT / "LICENSE").open("rb") as text:
        assert dens_process("decode", "-", env=STRICT, stdin=text).code == 3
    read, write = os.pipe()
    os.write(write, b"\xff\xfe\n")
    os.close(write)
    with os.fdopen(read, "rb") as odd:
        ended = dens_process("decode", "-", env=STRICT, stdin=odd)
    assert ended.code == 3
    assert "internal error" not in ended.err


@pytest.mark.parametrize("encoding", ["x-foo", "rot13", "hex", "zlib"])
def test_a_document_in_an_encoding_that_is_none(dens: Dens, tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "odd.xml"
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    path.write_text(f'{head}<subscription xmlns="urn:dens:boxes:1" event="weather"/>')
    ended = dens("compile", path)
    assert ended.code == 3
    assert f"{path}:1:" in ended.err
    assert " error D0" in ended.err


@pytest.mark.parametrize("command", [("compile",), ("graph", "read")])
def test_two_files_of_one_name_are_not_written_over_each_other(
    dens: Dens, tmp_path: Path, command: tuple[str, ...]
) -> None:
    suffix, text = (
        (".xml", PATIENT.read_text())
        if command == ("compile",)
        else (".ttl", '<urn:a> <http://purl.org/dc/elements/1.1/title> "x" .')
    )
    files = [tmp_path / name / f"same{suffix}" for name in ("one", "two")]
    for file in files:
        file.parent.mkdir()
        file.write_text(text)
    ended = dens(*command, *files, "-o", tmp_path / "out")
    assert ended.code == 3
    assert all(str(file) in ended.err for file in files)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("heart_rate\n" + "9" * 70_000, "D386"),
        ("heart_rate,heart_rate\n120,30\n", "1:1: error D351: duplicate column heart_rate"),
        ("number,heart_rate\n1.5,120\n", '2:1: error D352: "1.5" is not a number; use an integer'),
        ("time_s,heart_rate\n99999999999999999999,120\n", "2:1: error D352"),
        ("heart_rate\n\xe9\n", "error D004"),
    ],
)
def test_odd_tables_of_readings(dens: Dens, tmp_path: Path, text: str, says: str) -> None:
    pattern, data = tmp_path / "fast.xml", tmp_path / "day.csv"
    pattern.write_text(
        '<composite xmlns="urn:dens:composite:1" window="PT10M" valid="PT6H">'
        '<primitive name="fast" event="patient"><crisp-predicate attribute="heart_rate" operator="ge">100'
        "</crisp-predicate></primitive><pattern>fast; fast</pattern></composite>"
    )
    data.write_bytes(text.encode("latin-1"))
    ended = dens("match", pattern, "--csv", data)
    assert ended.code == 3, ended.err
    assert says in ended.err
