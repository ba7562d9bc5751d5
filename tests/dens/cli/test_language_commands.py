"""The commands around the subscription language, as a person uses them."""

import json
import re
from pathlib import Path

import pytest

from tests.paths import ROOT

PATIENT = ROOT / "docs" / "examples" / "patient.xml"
VECTOR = "00006700009592ff547bff3f01017f0107"
"""The example of the language's specification: temperature, heart rate and ward."""


def test_the_size_of_the_papers_example(dens) -> None:
    assert 850 <= len(PATIENT.read_bytes()) <= 900
    ended = dens("compile", PATIENT, "--vocabulary", "medical")
    assert ended.code == 0
    assert len(bytes.fromhex(ended.out)) == 17
    assert ended.out == ended.out.strip().lower() + "\n"
    readme = (ROOT / "README.md").read_text()
    assert ended.out.strip() in readme
    assert f"{len(PATIENT.read_bytes())} bytes of XML" in readme


def test_the_clock_is_never_read(dens) -> None:
    first, again = dens("compile", PATIENT), dens("compile", PATIENT)
    other = dens("compile", PATIENT, "--id", "7", "--seq", "9", "--stamp", "258")
    assert first.out == again.out
    assert other.out[:10] == "0709" + first.out[4:6] + "0102"
    assert other.out[10:] == first.out[10:]


def test_several_files_and_folders(dens, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.xml").write_bytes(PATIENT.read_bytes())
    ended = dens("compile", tmp_path)
    rows = [line.split("\t") for line in ended.out.splitlines()]
    assert [Path(name).name for name, _ in rows] == ["a.xml", "b.xml"]
    assert rows[0][1] == rows[1][1]
    written = dens("compile", tmp_path, "-o", tmp_path / "out")
    assert written.code == 0
    assert (tmp_path / "out" / "a.sv").read_bytes().hex() == rows[0][1]


def test_every_step_as_json(dens) -> None:
    document = dens("compile", PATIENT, "--json").document()
    assert {"vector", "deviation", "threshold", "warnings", "constraints", "spans"} <= set(document)
    assert document["threshold"] == pytest.approx(0.6)
    assert len(document["spans"]) == 17


HEALTHY = ("patient_temperature=36.5", "heart_rate=160", "oxygen_saturation=80")


def test_error_of_a_broken_down_function_is_reported_and_bounded_by_tolerance(dens, tmp_path: Path) -> None:
    body = "".join(
        f'<approximate-predicate attribute="{attribute}"><is>{term}</is></approximate-predicate>'
        for attribute, term in (
            ("patient_temperature", "high"),
            ("heart_rate", "high"),
            ("oxygen_saturation", "low"),
        )
    )
    path = tmp_path / "mean.xml"
    path.write_text(
        '<subscription xmlns="urn:dens:subscription:1" event="patient" threshold="0.3">'
        f"\n  {body}\n  <function>geometric_mean</function>\n</subscription>"
    )
    note = "mean.xml:3:3: note D721: broken down into pairs in 1 byte, it deviates by up to 0.010"
    checked, compiled = dens("check", path), dens("compile", path, "--strict")
    values = [word for value in HEALTHY for word in ("--value", value)]
    explained = dens("explain", path, *values)
    assert [ended.code for ended in (checked, compiled, explained)] == [0, 0, 0]
    assert all(note in ended.out + ended.err for ended in (checked, compiled, explained))
    assert "does not match: degree 0/255" in explained.out
    assert "the geometric mean within 0.010" in dens("decode", compiled.out.strip()).out
    assert dens("compile", path, "--json").document()["function_error"]["largest"] == pytest.approx(0.01)
    refused = dens("compile", path, "--tolerance", "0.005")
    assert refused.code == 3
    assert "mean.xml:3:3: error D720" in refused.err


def test_warnings_end_0_and_strictly_3(dens, tmp_path: Path) -> None:
    text = PATIENT.read_text().replace(
        '<trapezoidal left="38.5" right="45" width="1.5"/>', '<bell center="38" width="1" slope="0.6"/>'
    )
    (tmp_path / "soft.xml").write_text(text)
    lenient = dens("compile", tmp_path / "soft.xml")
    assert lenient.code == 0
    assert "warning D151" in lenient.err
    strict = dens("compile", tmp_path / "soft.xml", "--strict")
    assert strict.code == 3
    assert strict.out == ""


def test_back_to_xml_and_to_the_same_bytes(dens, tmp_path: Path) -> None:
    xml = tmp_path / "again.xml"
    assert dens("decompile", VECTOR, "--vocabulary", "medical", "-o", xml).code == 0
    assert dens("compile", xml, "--vocabulary", "medical").out.strip() == VECTOR


def test_decode_in_words_and_json(dens) -> None:
    words = dens("decode", VECTOR)
    assert "patient_temperature" in words.out
    assert "ward is ICU" in words.out
    document = dens("decode", VECTOR, "--json").document()
    assert "".join(field["bytes"] for field in document["fields"]) == VECTOR
    assert dens("decode", VECTOR, "--kind", "nv").code == 3


def test_decode_without_its_vocabulary(dens) -> None:
    ended = dens("decode", VECTOR[:-4] + "8007")
    assert ended.code == 0
    assert "event 7" in ended.out
    assert "--vocabulary" in ended.err
    assert dens("decode", VECTOR[:-4] + "8007", "--vocabulary", "medical").code == 3


def test_explain_values_with_the_code_of_the_board(dens, tmp_path: Path) -> None:
    values = ["--value", "patient_temperature=39", "--value", "heart_rate=130", "--value", "ward=ICU"]
    document = dens("explain", VECTOR, *values, "--json").document()
    assert [clause["degree_u8"] for clause in document["clauses"]] == [255, 249, 255]
    assert document["degree_u8"] == 252
    assert document["matches"] is True
    drawn = dens("explain", PATIENT, "-o", tmp_path / "curves.svg")
    assert drawn.code == 0
    assert (tmp_path / "curves.svg").read_text().startswith("<svg")
    assert dens("explain", VECTOR, "--value", "heart_rate").code == 2
    assert 'did you mean "heart_rate"?' in dens("explain", VECTOR, "--value", "heart_rat=1").err


def test_match_line_by_line(dens, tmp_path: Path) -> None:
    subscriptions, notifications = tmp_path / "s.hex", tmp_path / "n.hex"
    subscriptions.write_text(f"{VECTOR}\n\nzz\n{VECTOR}\n")
    notifications.write_text("00005f000000997a010107\nbad\n00005f000000007a010107\n")
    match = ["match", "--subscriptions", subscriptions, "--notifications", notifications]
    ended = dens(*match)
    assert ended.code == 1
    assert [json.loads(line) for line in ended.out.splitlines()] == [
        {"n": 0, "matches": [[0, 252], [3, 252]]},
        {"n": 2, "matches": []},
    ]
    assert "subscription line 2" in ended.err
    assert "notification line 1" in ended.err
    for algorithm in ("NAIVE", "fnif", "Fip", "fast"):
        other = dens(*match, "--algorithm", algorithm)
        assert other.out == ended.out
    unknown = dens(
        "match", "--subscriptions", subscriptions, "--notifications", notifications, "--algorithm", "fnf"
    )
    assert unknown.code == 3
    assert 'did you mean "fnif"?' in unknown.err


def test_words_of_another_thesaurus_as_the_documentation_shows(dens, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "subscriptions.md").read_text("utf-8")
    (turtle,) = re.findall(r"```turtle\n(.*?)```", page, re.S)
    (predicate,) = re.findall(r"where `racing.xml` contains `(.*)`\.", page)
    ours, racing = tmp_path / "ours.ttl", tmp_path / "racing.xml"
    ours.write_text(turtle)
    racing.write_text(
        f'<subscription xmlns="urn:dens:subscription:1" event="patient">{predicate}</subscription>'
    )
    for command in ("check", "compile", "explain"):
        assert f"dens {command} --thesaurus ours.ttl racing.xml" in page
        ended = dens(command, racing)
        assert ended.code in (1, 3)
        assert "ticker" in ended.out + ended.err
        assert dens(command, "--thesaurus", ours, racing).code == 0
    ended = dens("explain", "--thesaurus", ours, racing, "--value", "heart_rate=130")
    assert "heart_rate = 130" in ended.out
    assert dens("compile", "--thesaurus", "nowhere", racing).code != 0


def test_explain_reports_rounding(dens, tmp_path: Path) -> None:
    file = tmp_path / "r.xml"
    file.write_text(PATIENT.read_text().replace('threshold="0.6"', 'threshold="0.61"'))
    assert "note: threshold 0.61 is rounded up to 10/15 (0.667)" in dens("explain", file).out
    assert dens("explain", file, "--json").document()["remarks"][0].startswith("threshold 0.61")
    assert dens("explain", VECTOR, "--json").document()["remarks"] == []


def test_waiting_for_a_compiler_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from dens.cli import console, waiting
    from plugins.kernels import compiled

    for terminal in (False, True):
        monkeypatch.setattr(compiled, "announce", compiled._silently)
        monkeypatch.setattr(console.err(), "_force_terminal", terminal)
        waiting.announce_compiling()
        assert (compiled.announce is console.say) == terminal
