"""One statement of what a board takes, for builds, checks and emulated boards."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dens.boards.board_host import BoardHost
from dens.boards.build import link_assumed
from dens.boards.registry import BOARDS
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from knowledge_manager.mission_table import MissionTable, load_mission_table
from plugins.fuzzy.authoring.compiler import compile_subscription
from tests.emulation.conftest import FEVER, SMALL
from tests.paths import ROOT
from watchdog.codes import BAD_VECTOR, FULL, INSTALLED, UNKNOWN_LANGUAGE
from watchdog.header import body_of
from watchdog.pool import Pool
from watchdog.scan import Scan
from watchdog.sharing import enter
from watchdog.small_host import SmallHost

WEIGHTED = FEVER.replace(
    "</subscription>", "  <aggregating-function>{name}</aggregating-function>\n</subscription>"
)
WIDE = """name = "wide"
version = 1
feature_bytes = 2

[[event]]
name = "snow"
index = 9

[[event.attribute]]
name = "depth"
index = 8
domain = [0, 500]
unit = "cm"
terms.deep = { shoulder = { side = "right", from = 100, to = 200 } }
"""
DEEP = """<subscription xmlns="urn:dens:subscription:1" event="snow">
  <approximate-predicate attribute="depth"><is>deep</is></approximate-predicate>
</subscription>
"""
KNOWN = ("min", "max", "product", "arithmetic_mean", "geometric_mean", "harmonic_mean")


@pytest.fixture
def table() -> MissionTable:
    return load_mission_table(["medical"])


@pytest.mark.parametrize("board", ["microbit", "pico", "esp32"])
def test_board_requested_with_unsupported_combination(dens, tmp_path: Path, board: str) -> None:
    for name in (*KNOWN, "weighted_mean"):
        (tmp_path / f"{name}.xml").write_text(WEIGHTED.format(name=name))
    assert dens("check", tmp_path).code == 0
    ended = dens("check", tmp_path, "--board", board)
    told = [line for line in ended.out.splitlines() if "D403" in line]
    if board == "microbit":
        assert told == [
            f"{tmp_path / 'weighted_mean.xml'}:4:25: error D403: a micro:bit cannot combine by weighted_mean "
            f"(aggregator 6); it supports {', '.join(KNOWN)}"
        ]
    else:
        assert told == []
    assert ended.code == (1 if told else 0)
    unknown = dens("check", tmp_path, "--board", "micobit")
    assert (unknown.code, 'did you mean "microbit"?' in unknown.err) == (3, True)


def test_patterns_and_functions_are_reported_at_their_own_place(dens, tmp_path: Path) -> None:
    path = tmp_path / "pattern.xml"
    path.write_text(
        FEVER.replace(
            "</subscription>", "  <function>patient_temperature * heart_rate</function>\n</subscription>"
        )
    )
    assert (
        f"{path}:4:3: error D403: a micro:bit cannot combine by takagi"
        in dens("check", path, "--board", "microbit").out
    )


BOXES = """<subscription xmlns="urn:dens:boxes:1" event="weather">
  <or>
    <crisp-predicate attribute="temperature" operator="gt">25</crisp-predicate>
    <crisp-predicate attribute="rain" operator="gt">10</crisp-predicate>
  </or>
</subscription>
"""
SEQUENCE = """<composite xmlns="urn:dens:composite:1" window="PT1M">
  <primitive name="hot" event="weather">
    <crisp-predicate attribute="temperature" operator="gt">30</crisp-predicate>
    <crisp-predicate attribute="rain" operator="lt">1</crisp-predicate>
    <aggregating-function>{name}</aggregating-function></primitive>
  <primitive name="cold" event="weather">
    <crisp-predicate attribute="temperature" operator="lt">20</crisp-predicate></primitive>
  <pattern>hot; cold</pattern>
</composite>
"""


def test_of_what_boards_serve_in_parts_the_parts_are_checked(dens, tmp_path: Path) -> None:
    (tmp_path / "boxes.xml").write_text(BOXES)
    (tmp_path / "sequence.xml").write_text(SEQUENCE.format(name="min"))
    (tmp_path / "boxes.sv").write_bytes(bytes.fromhex(dens("compile", tmp_path / "boxes.xml").out.strip()))
    assert dens("check", tmp_path / "boxes.xml", tmp_path / "sequence.xml", "--board", "microbit").code == 0
    vector = dens("check", tmp_path / "boxes.sv", "--language", "boxes", "--board", "microbit")
    assert vector.code == 0, vector.out
    lines = tmp_path / "boxes.hex"
    lines.write_text("00ff\n" + (tmp_path / "boxes.sv").read_bytes().hex() + "\n")
    assert "D403" not in dens("check", lines, "--language", "boxes", "--board", "microbit").out
    path = tmp_path / "weighted.xml"
    path.write_text(SEQUENCE.format(name="weighted_mean"))
    ended = dens("check", path, "--board", "microbit")
    assert ended.code == 1
    assert f"{path}:1:1: error D403: part 1 of 2: a micro:bit cannot combine by weighted_mean" in ended.out
    for number in range(22):
        (tmp_path / f"more{number}.xml").write_text(BOXES)
    full = dens("check", tmp_path, "--board", "microbit").out
    assert full.count("a micro:bit has room for only 44 of these subscriptions") == 1


def test_language_unsupported_by_boards_is_reported(dens) -> None:
    ended = dens("check", ROOT / "docs" / "examples" / "apartment.xml", "--board", "pico")
    assert (ended.code, "D403: a pico does not know the atopss language" in ended.out) == (1, True), ended.out


def test_wide_features_are_reported_where_they_are_chosen(dens, tmp_path: Path) -> None:
    (tmp_path / "wide.toml").write_text(WIDE)
    (tmp_path / "deep.xml").write_text(DEEP)
    ended = dens("check", tmp_path, "--board", "esp32")
    assert f"{tmp_path / 'wide.toml'}:3:1: error D403: an esp32 supports features of 1 byte" in ended.out
    assert f"{tmp_path / 'deep.xml'}:1:" in ended.out


def test_bad_vectors_are_reported_at_their_byte_and_excess_at_the_first_without_room(
    dens, tmp_path: Path, table: MissionTable
) -> None:
    def vector(name: str) -> str:
        return compile_subscription(WEIGHTED.format(name=name).encode(), "x", table).vector.hex()

    lines = tmp_path / "lines.hex"
    lines.write_text(f"{vector('min')}\n  {vector('weighted_mean')}\n" + f"{vector('max')}\n" * 50)
    told = [line for line in dens("check", lines, "--board", "microbit").out.splitlines() if "D403" in line]
    assert [line.split(" error")[0] for line in told] == [f"{lines}:2:13:", f"{lines}:46:11:"]
    assert told[1].endswith("a micro:bit has room for only 44 of these subscriptions")


@pytest.mark.parametrize("name", [*KNOWN, "weighted_mean"])
def test_an_emulated_micro_bit_answers_as_the_program_on_the_real_one(table: MissionTable, name: str) -> None:
    vector = compile_subscription(WEIGHTED.format(name=name).encode(), "x", table).vector
    pool = Pool(1, link_assumed("fnifs")["POOL_BYTES"], 99)
    real = SmallHost(pool, Scan(pool, False, 95, None))
    emulated = BoardHost(BOARDS["microbit"], table, {})
    for language in (0, 1, 7):
        answer = real.install(1, 0, 0, language, vector, 60_000, 0)
        assert emulated.install(1, 0, 0, language, body_of(vector), 60_000, 0) == answer
    assert emulated.watchdog.interested() == pool.count == (name in KNOWN)


def test_an_emulated_board_is_full_when_the_real_one_is(table: MissionTable) -> None:
    vector = compile_subscription(FEVER.encode(), "x", table).vector
    for board, limits in BOARDS.items():
        host, pool, taken = BoardHost(limits, table, {}), limits.pool(), 0
        while (code := host.install(taken, 0, 0, 1, body_of(vector), 60_000, 0)) == INSTALLED:
            taken += 1
        assert code == FULL
        if board == "microbit":
            assert taken == 44, "docs/how-to/boards.md: networked"
        else:
            assert taken == sum(
                enter(pool, number, 0, 0, 1, vector, 5, len(vector)) for number in range(2000)
            )
            assert taken > 1000, "equal subscriptions share a record"
        assert host.watchdog.counters["refused"] == 1


def test_no_board_takes_wide_features(tmp_path: Path) -> None:
    (tmp_path / "wide.toml").write_text(WIDE)
    wide = load_mission_table([tmp_path / "wide.toml"])
    vector = compile_subscription(DEEP.encode(), "x", wide).vector
    host = BoardHost(BOARDS["pico"], wide, {})
    assert host.install(1, 0, 0, 1, body_of(vector), 60_000, 0) == BAD_VECTOR != UNKNOWN_LANGUAGE


def test_covering_knows_the_width_of_a_vocabulary(dens, tmp_path: Path) -> None:
    (tmp_path / "wide.toml").write_text(WIDE)
    wide = load_mission_table([tmp_path / "wide.toml"])
    lines = tmp_path / "lines.hex"
    lines.write_text(f"{compile_subscription(DEEP.encode(), 'x', wide).vector.hex()}\n" * 2)
    assert dens("cover", "--subscriptions", lines).code == 1
    ended = dens("cover", "--subscriptions", lines, "--vocabulary", tmp_path / "wide.toml")
    assert (ended.code, ended.out.splitlines()[:2]) == (0, ["0", "  1"])


@pytest.mark.parametrize(("name", "refused"), [("weighted_mean", True), ("min", False)])
def test_a_run_warns_refuses_and_counts(
    dens: Callable[..., object], tmp_path: Path, name: str, refused: bool
) -> None:
    (tmp_path / "fever.xml").write_text(WEIGHTED.format(name=name))
    path = tmp_path / "small.toml"
    board = '\n[board.bit]\nprofile = "microbit"\n'
    path.write_text(SMALL.replace('role = "publisher"', 'role = "publisher"\nboard = "bit"') + board)
    ended = dens("check", path)
    assert ("warning D357: subscription[0].file: a micro:bit cannot combine" in ended.out) == refused  # type: ignore[attr-defined]
    run_scenario(load_scenario(path), 5, tmp_path / "run")
    rows = pq.read_table(tmp_path / "run" / "trace" / "messages").to_pylist()
    refusals = [row for row in rows if row["kind"] == "refused" and row["type"] == "install"]
    assert bool(refusals) == refused
    installed = pq.read_table(tmp_path / "run" / "trace" / "filter_decisions").column("installed").to_pylist()
    assert (max(installed) == 0) == refused
