"""What commands say of boxes that are none: where, what, and what to do; nothing with a traceback."""

from pathlib import Path

import pytest

ASKED = "010074000003060026ff7f0220090000657f40ff7f02090900c0ff7f40ff7f0209"


@pytest.mark.parametrize(
    ("vector", "says"),
    [
        ("00085f0000f0268020", 'byte 7: event index "7" is unknown'),
        ("010074000001060026ff7f8020", 'byte 11: event index "7" is unknown'),
        ("010074000001060026ff7e0220", "byte 10: a side is not crisp: its slope is not 127"),
        ("0100740000010600ff267f0220", "byte 8: v is greater than V"),
        ("010074000001060000ff7f0220", "byte 8: a range of all bytes restricts nothing"),
        ("010074000001060026ff7f0280", "byte 12: boxes do not constrain the age of events"),
        ("010074000000", "byte 6: too short for boxes"),
        ("0100740000000600", "byte 5: 0 boxes; expected 1 to 64"),
        ("0100740000020600267f0220", "the last box is cut off"),
    ],
)
def test_a_vector_that_is_none_is_refused_with_its_offset(dens, vector: str, says: str) -> None:
    ended = dens("decode", vector, "--language", "boxes", "--vocabulary", "weather")
    notifications = " ".join((ended.out + ended.err).split())
    assert (says in notifications, ended.code) == (True, 3)


def test_event_of_unknown_vocabulary_is_shown_by_numbers(dens) -> None:
    ended = dens("decode", "00085f0000f0268020", "--language", "boxes")
    assert (ended.code, "event 7 event 8: attribute 5 is 38." in ended.out) == (0, True)
    assert "the shipped vocabularies do not fit this vector" in ended.err


@pytest.mark.parametrize(
    ("inside", "attributes", "codes"),
    [
        ("", 'threshold="0.5"', ["D181"]),
        ("<aggregating-function>min</aggregating-function>", "", ["D182"]),
        ("<function/>", "", ["D182"]),
        ("<predicate-pattern>1 and 2</predicate-pattern>", "", ["D182"]),
        ('<approximate-predicate attribute="rain"><is>heavy</is></approximate-predicate>', "", ["D183"]),
        ('<fuzzy-set term="a"><hedge name="very"/></fuzzy-set>', "", ["D183", "D184"]),
        ("<within-last>PT1H</within-last>", 'keep="PT1H"', ["D184", "D184"]),
        ('<within-last>PT1H</within-last><hedge name="very"/>', 'threshold="1"', ["D181", "D184", "D184"]),
    ],
)
def test_what_has_degrees_or_an_age_is_refused_all_at_once(
    dens, tmp_path: Path, inside: str, attributes: str, codes: list[str]
) -> None:
    file = tmp_path / "s.xml"
    rain = '<crisp-predicate attribute="rain" operator="ge">30</crisp-predicate>'
    begin = f'<subscription xmlns="urn:dens:boxes:1" event="weather" {attributes}>'
    file.write_text(f"{begin}\n{rain}{inside}\n</subscription>")
    ended = dens("check", file)
    assert ended.code == 1
    lines = [line for line in ended.out.splitlines() if "error" in line]
    assert [line.partition("error ")[2][:4] for line in lines] == codes
    assert all(line.startswith(f"{file}:") and "urn:dens:subscription:1" in line for line in lines)


@pytest.mark.parametrize(
    ("value", "says"),
    [("colour=1", 'attribute "colour" of weather is unknown'), ("temperature=hot", '"hot" is not a')],
)
def test_invalid_values_are_reported(dens, value: str, says: str) -> None:
    ended = dens("explain", ASKED, "--language", "boxes", "--value", value)
    assert (ended.code, says in ended.err) == (3, True)


def test_explain_says_which_box_or_by_which_side(dens) -> None:
    cold = ("explain", ASKED, "--language", "boxes", "--value", "temperature=-5", "--value", "wind_speed=20")
    assert dens(*cold).out.splitlines()[-1] == "matches: box 1"
    mild = dens("explain", ASKED, "--language", "boxes", "--value", "temperature=10")
    assert mild.out.splitlines()[-1] == "does not match: outside every box"
    assert "10 degC (byte 80) is 27 steps above" in mild.out
    assert "no value given" in mild.out


def test_golden_through_the_commands(dens, tmp_path: Path) -> None:
    subscriptions, notifications = tmp_path / "subscriptions.hex", tmp_path / "notifications.hex"
    subscriptions.write_text(ASKED + "\n")
    notifications.write_text("00075f0000f059550209\n00075f0000f080550209\n00085f0000f0260220\n")
    files = ("--subscriptions", subscriptions, "--notifications", notifications, "--language", "boxes")
    lines = [
        '{"n": 0, "matches": [[0, 255, "01"]]}',
        '{"n": 1, "matches": []}',
        '{"n": 2, "matches": [[0, 255, "00"]]}',
    ]
    for algorithm in ("scan", "rtree", "blocks"):
        assert dens("match", *files, "--algorithm", algorithm).out.splitlines() == lines
