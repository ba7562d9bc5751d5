"""Commands take a language that this package does not have, and say in words what it does not offer."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from plugins.authoring import Authoring
from tests.paths import ROOT
from tests.plugins.toy_language import LIFETIME_Q, NAMESPACE, TOY, AlarmAuthoring, alarm, register

PATIENT = ROOT / "docs" / "examples" / "patient.xml"
HEADER = f"0000{LIFETIME_Q:02x}"


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "fast.xml"
    path.write_text(alarm())
    return path


def test_a_folder_of_several_languages_is_compiled_by_namespace(dens, tmp_path: Path, document: Path) -> None:
    (tmp_path / "patient.xml").write_bytes(PATIENT.read_bytes())
    ended = dens("compile", tmp_path, "--id", "7", "--seq", "2")
    assert ended.code == 0
    vectors = [line.split("\t")[1] for line in ended.out.splitlines()]
    assert vectors[0].startswith(f"0702{LIFETIME_Q:02x}")
    assert len(vectors[0]) == 12
    assert dens("compile", tmp_path / "patient.xml", "--id", "7", "--seq", "2").out.strip() == vectors[1]
    told = dens("compile", document, "--json").document()
    assert told["alarm"] == {"event": "patient", "attribute": "heart_rate", "least": "120"}
    assert (told["bytes"], told["warnings"], told["remarks"]) == (6, [], [])


def test_an_unknown_namespace_is_refused_with_all_that_are_known(dens, tmp_path: Path) -> None:
    path = tmp_path / "odd.xml"
    path.write_text('<!-- mine -->\n  <thing xmlns="urn:unknown:1"/>\n')
    for command in ("compile", "explain", "check"):
        ended = dens(command, path)
        assert ended.code == (1 if command == "check" else 3)
        assert (
            f"{path}:2:3: error D010: the document is a <thing> of urn:unknown:1, not a <subscription "
            'xmlns="urn:dens:subscription:1">; other languages: '
            "urn:dens:approximate:1 (atopss), urn:dens:graph:1 (graph), urn:dens:composite:1 (composite), "
            "urn:dens:boxes:1 (boxes), "
            f"{NAMESPACE} (alarm)"
        ) in ended.out + ended.err


def test_non_document_is_refused(dens, tmp_path: Path) -> None:
    for name, content, code in (
        ("torn", b"<alarm", "D006"),
        ("dtd", b'<!DOCTYPE a SYSTEM "x"><a/>', "D007"),
        ("bytes", b"\xff\xfe", "D004"),
        ("deep", b"<a>" * 80, "D008"),
    ):
        path = tmp_path / f"{name}.xml"
        path.write_bytes(content)
        ended = dens("compile", path)
        assert ended.code == 3
        assert f"error {code}" in ended.err


def test_bytes_are_of_the_language_that_is_named(dens) -> None:
    vector = HEADER + "000380"
    ended = dens("decode", vector, "--language", "alarm")
    assert ended.code == 0
    assert "attribute 3 of event class 0 is at least 128" in ended.out
    assert dens("decode", vector).code == 3, "it is none of the usual language"
    misspelt = dens("decode", vector, "--language", "alram")
    assert misspelt.code == 2
    assert (
        'language "alram" is unknown (alarm, atopss, boxes, composite, direct, fuzzy, graph)' in misspelt.err
    )


@pytest.mark.parametrize(
    ("command", "lacking"),
    [
        (("explain", HEADER + "000380"), "explanations"),
        (("decompile", HEADER + "000380"), "decompiler"),
    ],
)
def test_unsupported_feature_of_a_language_is_reported_in_words(
    dens, command: tuple[str, ...], lacking: str
) -> None:
    ended = dens(*command, "--language", "alarm")
    assert ended.code == 3
    assert ended.err == f"error: the alarm language does not support {lacking}\n"
    assert ended.out == ""
    as_json = dens(*command, "--language", "alarm", "--json")
    assert as_json.document()["problems"][0]["message"].endswith(lacking)


def test_a_document_of_another_language_than_the_one_named_is_refused(dens) -> None:
    ended = dens("explain", PATIENT, "--language", "alarm")
    assert ended.code == 2
    assert "is written in the fuzzy language, not in alarm" in ended.err


def test_language_without_authoring_is_reported_as_such(dens) -> None:
    for command in ("decode", "decompile", "explain"):
        ended = dens(command, "000000", "--language", "direct")
        assert ended.code == 3
        assert (
            "the direct language has no authoring: its subscriptions cannot be written as documents"
            in ended.err
        )


def test_an_explanation_without_a_picture(dens, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Said:
        def lines(self) -> list[str]:
            return ["because"]

        def as_document(self) -> dict[str, object]:
            return {"why": "because"}

    class Explaining(AlarmAuthoring):
        explain = staticmethod(lambda vector, table, values, age_s: Said())  # type: ignore[assignment]

    def explaining() -> Authoring:
        return Explaining()

    register(monkeypatch, replace(TOY, authoring=explaining))
    ended = dens("explain", HEADER + "000380", "--language", "alarm")
    assert (ended.code, ended.out) == (0, "because\n")
    drawn = dens("explain", HEADER + "000380", "--language", "alarm", "-o", tmp_path / "x.svg")
    assert drawn.code == 3
    assert "the alarm language draws no pictures" in drawn.err
    assert not (tmp_path / "x.svg").exists()


def test_lines_are_matched_by_the_language_of_the_bytes(dens, tmp_path: Path) -> None:
    (tmp_path / "s.hex").write_text(f"{HEADER}000380\n{HEADER}000390\n0000\n")
    (tmp_path / "n.hex").write_text("000385\n\n0003\n")
    given = ("--subscriptions", tmp_path / "s.hex", "--notifications", tmp_path / "n.hex")
    for more in ((), ("--algorithm", "PLAIN"), ("--now", "9")):
        ended = dens("match", *given, "--language", "alarm", *more)
        assert ended.code == 1
        assert json.loads(ended.out) == {"n": 0, "matches": [[0, 255, "05"]]}
        assert "subscription line 2: byte 2: too short" in ended.err
        assert "notification line 2: byte 2: an alarm is three bytes" in ended.err
    assert dens("match", *given, "--language", "alarm", "--algorithm", "fast").code == 3
    exact = dens("match", *given, "--language", "alarm", "--features", "exact")
    assert exact.code == 2
    assert "the alarm language has no feature conditions" in exact.err
    nameless = dens("match", *given, "--language", "direct", "--algorithm", "fast")
    assert nameless.code == 2
    assert "has only one matching algorithm" in nameless.err


def test_vectors_of_a_language_without_authoring_are_matched(dens, tmp_path: Path) -> None:
    (tmp_path / "s.hex").write_text("0000500005\n")
    (tmp_path / "n.hex").write_text("0005aa\n")
    given = ("--subscriptions", tmp_path / "s.hex", "--notifications", tmp_path / "n.hex")
    ended = dens("match", *given, "--language", "direct", "--now", "5")
    assert (ended.code, json.loads(ended.out)) == (0, {"n": 0, "matches": [[0, 255]]})


def test_covering_by_the_relations_of_the_language(dens, tmp_path: Path) -> None:
    path = tmp_path / "s.hex"
    path.write_text(f"{HEADER}000390\n{HEADER}000380\n{HEADER}0003a0\n{HEADER}010380\nzz\n{HEADER}00\n")
    ended = dens("cover", "--subscriptions", path, "--language", "alarm")
    assert ended.code == 1
    assert ended.out.splitlines() == [
        "1",
        "  0",
        "  2",
        "3",
        "4 subscriptions, 2 roots, 50% spared, deepest tree 2, largest 3",
    ]
    assert [line.split("line ")[1][:2] for line in ended.err.splitlines() if "line" in line] == ["4:", "5:"]
    none = dens("cover", "--subscriptions", path, "--language", "direct")
    assert none.code == 3
    assert "the direct language does not support covering" in none.err


def test_files_are_checked_by_their_language(dens, tmp_path: Path, document: Path) -> None:
    good, bad = tmp_path / "good.sv", tmp_path / "bad.sv"
    good.write_bytes(bytes.fromhex(HEADER + "000380"))
    bad.write_bytes(bytes.fromhex(HEADER + "0003"))
    ended = dens("check", document, good, bad, "--language", "alarm", "--json")
    assert ended.code == 1
    assert ended.document()["failed"] == [str(bad)]
    document.write_text(alarm(attribute="hart_rate"))
    ended = dens("check", document)
    assert ended.code == 1
    assert f"{document}:1:1: error D114:" in ended.out
    assert "heart_rate" in ended.out


def test_json_problems_have_an_end_position_and_a_fix(dens, tmp_path: Path) -> None:
    path = tmp_path / "fever.xml"
    path.write_text(PATIENT.read_text().replace('event="patient"', 'event="patent"'))
    for command in ("check", "compile"):
        [problem] = dens(command, path, "--json").document()["problems"]
        assert problem["code"] == "D101"
        [fix] = problem["fixes"]
        line = path.read_text().splitlines()[fix["line"] - 1]
        assert line[fix["column"] - 1 : fix["end_column"] - 1] == "patent"
        assert line[problem["column"] - 1 : problem["end_column"] - 1] == 'event="patent"'
        assert (fix["title"], fix["replacement"]) == ("write patient", "patient")
    assert dens("check", tmp_path / "none.xml", "--json").document()["problems"][0]["fixes"] == []


def test_boards_say_that_they_do_not_know_it(dens, document: Path, tmp_path: Path) -> None:
    vector = tmp_path / "alarm.sv"
    vector.write_bytes(bytes.fromhex(HEADER + "000380"))
    ended = dens("check", document, vector, "--board", "microbit", "--language", "alarm")
    assert ended.code == 1
    reason = "error D403: a micro:bit does not know the alarm language; it speaks fuzzy"
    assert ended.out.splitlines() == [f"{document}:1:1: {reason}", f"{vector}: {reason}"]
    built = dens("board", "build", "--board", "microbit", "--subscriptions", document, "-o", tmp_path / "out")
    assert built.code == 3
    assert "a board does not know the alarm language" in built.err
