"""Composites through the commands: matched in tables, learnt, explained, laid into boards."""

import random
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from tests.paths import ROOT
from tests.plugins.composite import oracle
from tests.plugins.composite.oracle import Asked, Seen

VOCABULARY = ROOT / "tests" / "plugins" / "composite" / "sessions.toml"
NAMES = ("denied", "successful", "logoff")
SIGNS = {"next": ", ", "then": "; ", "and": " and ", "or": " or "}


def document(pattern: str, attributes: str, rest: str = "") -> str:
    primitives = "".join(
        f'<primitive name="{name}" event="session"><crisp-predicate attribute="status" operator="eq">{name}'
        "</crisp-predicate></primitive>"
        for name in NAMES
        if name in pattern
    )
    inside = f"{primitives}<pattern>{escape(pattern)}</pattern>{rest}"
    return f'<composite xmlns="urn:dens:composite:1" {attributes}>{inside}</composite>'


def written(pattern: tuple) -> str:
    if pattern[0] == "leaf":
        return NAMES[pattern[1]]
    return "(" + SIGNS[pattern[0]].join(written(part) for part in pattern[1:]) + ")"


def drawn(rng: random.Random, leaves: int) -> tuple:
    if leaves == 1:
        return "leaf", rng.randrange(3)
    left = rng.randint(1, leaves - 1)
    return rng.choice(list(SIGNS)), drawn(rng, left), drawn(rng, leaves - left)


def table_of(readings: list[tuple[Seen, int, int]]) -> str:
    rows = [
        f"{seen.source},{seen.number},{seen.second},{(*NAMES, 'passwd')[status]},{address}"
        for seen, status, address in readings
    ]
    return "\n".join(["source,number,time_s,status,address", *rows, ""])


def test_random_patterns_in_order_and_shuffled(dens, tmp_path: Path) -> None:
    """What the command finds is what the definition says, whatever the order of lines."""
    rng = random.Random(11)
    found = 0
    for _ in range(25):
        tree, window = drawn(rng, rng.randint(1, 4)), rng.randint(2, 30)
        readings, number, second = [], 0, 0
        for _ in range(8):
            number, second = number + rng.choice((1, 1, 2)), second + rng.choice((0, 1, 4))
            status, address = rng.randrange(4), rng.randrange(2)
            seen = Seen(1, 3, number, second, (address,), ((status, 255),) if status < 3 else ())
            readings.append((seen, status, address))
        path, data = tmp_path / "pattern.xml", tmp_path / "data.csv"
        path.write_text(document(written(tree), f'window="PT{window}S" key="address"'))
        wanted = Asked(tree, (), window)
        expected = {
            (end.number, end.key[0]) for end in oracle.ends(wanted, [seen for seen, _, _ in readings])
        }
        for order in (readings, rng.sample(readings, len(readings))):
            data.write_text(table_of(order))
            ended = dens("match", path, "--csv", data, "--vocabulary", VOCABULARY, "--json")
            assert ended.code == 0, ended.err
            ends = {(end["number"], end["key"][0]) for end in ended.document()["ends"]}
            assert ends == expected
        found += len(expected)
    assert found > 20


def test_table_errors_are_reported_at_once(dens, tmp_path: Path) -> None:
    path, data = tmp_path / "pattern.xml", tmp_path / "data.csv"
    path.write_text(document("denied; successful", 'window="PT1M"'))
    data.write_text("time_s,status\n1,denied\nsoon,denied\n3,denid\n4,denied,7\n")
    ended = dens("match", path, "--csv", data, "--vocabulary", VOCABULARY)
    assert ended.code == 3
    for place, code in (("3:1", "D352"), ("4:3", "D352"), ("5:1", "D351")):
        assert f"{data}:{place}: error {code}" in ended.err
    assert "Traceback" not in ended.err


def test_a_pattern_needs_a_table_and_a_language_that_has_patterns(dens, tmp_path: Path) -> None:
    path = tmp_path / "pattern.xml"
    path.write_text(document("denied; successful", 'window="PT1M"'))
    assert dens("match", path, "--vocabulary", VOCABULARY).code == 2
    assert dens("match").code == 2
    refused = dens("match", ROOT / "docs" / "examples" / "patient.xml", "--csv", VOCABULARY)
    assert refused.code == 3
    assert "--csv supports composite subscriptions only; this one is fuzzy" in refused.err


def test_a_board_gets_the_parts(dens, tmp_path: Path) -> None:
    path = tmp_path / "fever.xml"
    hot = '<crisp-predicate attribute="patient_temperature" operator="ge">{}</crisp-predicate>'
    primitives = "".join(
        f'<primitive name="{name}" event="patient">{hot.format(degrees)}</primitive>'
        for name, degrees in (("warm", 38), ("hot", 39))
    )
    inside = f"{primitives}<pattern>warm; hot</pattern>"
    path.write_text(f'<composite xmlns="urn:dens:composite:1" window="PT30M">{inside}</composite>')
    built = dens(
        "board", "build", "--board", "pico", "--subscriptions", path, "-o", tmp_path / "board", "--json"
    )
    assert built.code == 0, built.err
    packed = (tmp_path / "board" / "subscriptions.bin").read_bytes()
    lengths = []
    while packed:
        size = int.from_bytes(packed[:2], "big")
        lengths.append(size)
        packed = packed[2 + size :]
    assert lengths == [11, 11]


def test_a_model_is_learnt_and_used(dens, spark, tmp_path: Path) -> None:
    path, data, model = tmp_path / "pattern.xml", tmp_path / "data.csv", tmp_path / "own.model"
    path.write_text(
        document(
            "denied; successful",
            'window="PT1M"',
            '<predict probability="0.6" within="3" model="own.model"/>',
        )
    )
    letters = ("denied", "passwd", "successful", "passwd")
    rows = [f"{source},{second},{letters[second % 4]},1" for source in (1, 2) for second in range(60)]
    data.write_text("\n".join(["source,time_s,status,address", *rows, ""]))
    learnt = dens("learn", "composite", path, data, "-o", model, "--vocabulary", VOCABULARY, "--json")
    assert learnt.code == 0, learnt.err
    assert learnt.document()["completions"] == learnt.document()["visits"] > 50
    ended = dens("match", path, "--csv", data, "--vocabulary", VOCABULARY, "--json")
    outcomes = [one["outcome"] for one in ended.document()["predictions"]]
    assert outcomes.count("confirmed") == 30
    assert dens("explain", path, "--vocabulary", VOCABULARY, "--json").document()["highest_probability"] > 0.9


ASCENDING = """<composite xmlns="urn:dens:composite:1" window="PT10M">
  <primitive name="fast" event="patient">
    <crisp-predicate attribute="heart_rate" operator="ge">100</crisp-predicate></primitive>
  <pattern>fast; fast @(t2 - t1 &lt; 60s)</pattern>
</composite>"""


@pytest.mark.parametrize(
    ("header", "code", "message"),
    [
        ("time_s,heart_rate", 0, ""),
        ("timestamp,heart_rate", 3, "no time column"),
        ("time_s,hart_rate,oxygen_saturation", 1, 'did you mean "heart_rate"?'),
        ("time_s,heart_rate,remark", 1, 'warning D354: column "remark"'),
    ],
)
def test_unknown_columns_are_reported_and_times_never_invented(
    dens, tmp_path: Path, header: str, code: int, message: str
) -> None:
    document, data = tmp_path / "rising.xml", tmp_path / "day.csv"
    document.write_text(ASCENDING)
    rest = "" if header.count(",") == 1 else ",97"
    data.write_text(f"{header}\n0,120{rest}\n9000,130{rest}\n")
    ended = dens("match", document, "--csv", data, "--json")
    assert ended.code == code
    assert message in ended.err
    if code != 3:
        assert ended.document()["ends"] == []
        problems = ended.document()["problems"]
        assert [problem["code"] for problem in problems] == (["D354"] if code else [])


def test_a_row_without_its_time_is_an_error(dens, tmp_path: Path) -> None:
    document, data = tmp_path / "rising.xml", tmp_path / "day.csv"
    document.write_text(ASCENDING)
    data.write_text("time_s,heart_rate\n0,120\n,130\n")
    ended = dens("match", document, "--csv", data)
    assert (ended.code, "day.csv:3:1: error D352" in ended.err) == (3, True)
