"""Two runs side by side: the same ones are the same, and what differs is named."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dens.config.problems import DocumentError
from dens.trace.comparison import compare_runs
from dens.trace.run_documents import NotARun
from emulation.run import run_scenario
from emulation.scenario import load_scenario

WriteScenario = Callable[..., Path]


def test_the_same_run_twice_is_the_same(write_scenario: WriteScenario, tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(("duration_s = 3600", "duration_s = 900")))
    for out in ("one", "two"):
        run_scenario(scenario, 5, tmp_path / out)
    found = compare_runs(tmp_path / "one", tmp_path / "two")
    assert found.same_trace
    assert found.lines() == ["same trace, byte for byte"]


def test_a_different_loss_is_named_and_changes_neither_motion_nor_contacts(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    path = write_scenario(("duration_s = 3600", "duration_s = 900"))
    run_scenario(load_scenario(path), 5, tmp_path / "one")
    run_scenario(load_scenario(path, ["radio.handheld.loss=0.5"]), 5, tmp_path / "two")
    found = compare_runs(tmp_path / "one", tmp_path / "two")
    assert [difference.line() for difference in found.settings] == [
        "scenario.radio.handheld.loss: 0.05 | 0.5"
    ]
    assert "messages" in found.tables
    assert not {"nodes", "motion", "contacts"} & set(found.tables)
    assert any(difference.path == "frames_lost" for difference in found.figures)
    assert found.lines()[0].startswith("traces differ in ")


def test_different_scenarios_are_reported_first_and_nothing_twice(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    path = write_scenario(("duration_s = 3600", "duration_s = 300"))
    run_scenario(load_scenario(path), 5, tmp_path / "one")
    run_scenario(load_scenario(path, ["name=other", "duration_s=200"]), 6, tmp_path / "two")
    lines = compare_runs(tmp_path / "one", tmp_path / "two").lines()
    assert lines[0] == 'different scenarios: "small" | "other"'
    assert lines[1].startswith("traces differ in ")
    assert lines.count("seed: 5 | 6") == 1
    assert not [line for line in lines[1:] if "small" in line or line.startswith("simulated_s")]


@pytest.fixture
def two(write_scenario: WriteScenario, tmp_path: Path) -> tuple[Path, Path]:
    """The same run, twice."""
    scenario = load_scenario(write_scenario(("duration_s = 3600", "duration_s = 300")))
    for out in ("one", "two"):
        run_scenario(scenario, 5, tmp_path / out)
    return tmp_path / "one", tmp_path / "two"


def change(run: Path, table: str, order: Callable[[int], list[int]]) -> None:
    """Write the rows of a table's first part in another order, or not all of them, or some twice."""
    part = run / "trace" / table / "part-00000.parquet"
    rows = pq.read_table(part)
    pq.write_table(rows.take(order(rows.num_rows)), part)


def test_same_rows_in_another_order_differ(two: tuple[Path, Path]) -> None:
    one, other = two
    change(other, "messages", lambda amount: [1, 0, *range(2, amount)])
    change(other, "buffers", lambda amount: list(reversed(range(amount))))
    found = compare_runs(one, other)
    assert (found.tables, set(found.rearranged)) == ((), {"messages", "buffers"})
    assert (found.same_rows, found.same_trace) == (True, False)
    assert found.lines()[0] == "the same rows in every table"
    assert found.as_document()["same_rows"]
    assert sorted(found.as_document()["rearranged"]) == ["buffers", "messages"]


@pytest.mark.parametrize(
    "order",
    [
        pytest.param(lambda amount: list(range(amount - 1)), id="one is missing"),
        pytest.param(lambda amount: [0, *range(amount - 1)], id="one is there twice in the place of another"),
        pytest.param(lambda amount: [*range(amount), 0], id="one is there twice"),
    ],
)
def test_other_rows_are_a_difference(two: tuple[Path, Path], order: Callable[[int], list[int]]) -> None:
    one, other = two
    change(other, "motion", order)
    found = compare_runs(one, other)
    assert (found.tables, found.rearranged) == (("motion",), ())
    assert not found.same_rows
    assert found.lines()[0] == "traces differ in motion"


@pytest.mark.parametrize("content", [b"", b"PAR1 and nothing more", None])
def test_a_damaged_part_is_named(two: tuple[Path, Path], content: bytes | None) -> None:
    one, other = two
    part = other / "trace" / "messages" / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:-20] if content is None else content)
    with pytest.raises(DocumentError, match=r"two/trace/messages/part-00000\.parquet: error D384: this part"):
        compare_runs(one, other)


def test_a_lost_part_is_named_and_no_difference(two: tuple[Path, Path]) -> None:
    """A run that lost something differs from one in which less happened only by its own counters."""
    one, other = two
    *_, last = sorted((other / "trace" / "messages").glob("part-*.parquet"))
    last.unlink()
    for runs in ((one, other), (other, one), (other, other)):
        with pytest.raises(NotARun, match=r"two.*messages.*of its \d+ parts"):
            compare_runs(*runs)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("manifest.json", b'{"seed":\n 5,\n', r"one/manifest\.json:3:1: error D383: invalid JSON"),
        ("manifest.json", b"\xff\xfe", r"one/manifest\.json:1:1: error D004: byte 0xff"),
        ("manifest.json", b"[1, 2]", r"one/manifest\.json: error D383: .* not a JSON object"),
        ("summary.json", b"", r"one/summary\.json:1:1: error D383: invalid JSON"),
    ],
)
def test_a_damaged_document_is_named(two: tuple[Path, Path], name: str, content: bytes, message: str) -> None:
    one, other = two
    (one / name).write_bytes(content)
    with pytest.raises(DocumentError, match=message) as refused:
        compare_runs(one, other)
    assert "Errno" not in str(refused.value)


def test_folder_without_a_run_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NotARun, match=r"is not a run: it has no manifest\.json; name a folder that"):
        compare_runs(tmp_path, tmp_path)
    with pytest.raises(NotARun, match="is not a run: the folder does not exist"):
        compare_runs(tmp_path / "nowhere", tmp_path)
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(
        DocumentError, match=r"manifest\.json: error D002: cannot be read: it is not a regular"
    ):
        compare_runs(tmp_path, tmp_path)
