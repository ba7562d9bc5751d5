"""Campus runs on a recording that is brought along, and says loudly how to when there is none."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from dens.config.problems import DocumentError
from dens.trace.comparison import compare_runs
from emulation.rerun import rerun
from emulation.run import run_scenario
from emulation.scenario import load_scenario, scenario_schema

TOPICS = {"A": 4, "B": 7}


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording in SocialBlueConn's form, made up: six participants, and two devices of others."""
    folder = tmp_path / "recording"
    folder.mkdir()
    chance = np.random.default_rng(1)
    lines = []
    for minute in range(0, 24 * 60, 5):
        for _ in range(4):
            one, other = chance.choice(8, 2, replace=False) + 1
            lines.append(
                f"{one}\t{other}\t{1_390_917_436_617 + 60_000 * minute + int(chance.integers(9999))}\n"
            )
    (folder / "Bluetooth_contacts.txt").write_text("".join(lines))
    for category, amount in TOPICS.items():
        rows = [
            f"\t{category}\t\t\n",
            "ID\t" + "\t".join(f"{category}{n + 1}" for n in range(amount)) + "\t\n",
        ]
        for person in range(1, 7):
            likes = "\t".join(str(int((person + n) % 3 == 0)) for n in range(amount))
            rows.append(f"{person}\t{likes}\t\n")
        (folder / f"Interest_Macrocategory{category}.txt").write_text("".join(rows))
    return folder


def with_recording(folder: Path) -> list[str]:
    return [
        f"contacts.file={folder}/Bluetooth_contacts.txt",
        f"interests.folder={folder}",
        "contacts.ids=[1,6]",
        "group[0].count=6",
        "duration_s=43200",
        "sensor[0].every_s=1800",
    ]


def test_without_a_recording_it_says_what_to_do() -> None:
    with pytest.raises(DocumentError) as refused:
        load_scenario("campus")
    said = [str(problem) for problem in refused.value.problems]
    assert len(said) == 2
    assert "D320" in said[0]
    assert "--set contacts.file=" in said[0]
    assert "--set interests.folder=" in said[1]


def test_everybody_hears_of_what_they_like(recording: Path, tmp_path: Path) -> None:
    scenario = load_scenario("campus", with_recording(recording))
    run_scenario(scenario, 1, tmp_path / "run")
    tables = {
        table.name: pq.read_table(table).to_pylist() for table in (tmp_path / "run" / "trace").iterdir()
    }
    topics = scenario.table.event("post").attribute("topic").values
    person = {
        row["node"]: int(row["name"].removeprefix("students-").removesuffix(".subscriber"))
        for row in tables["nodes"]
        if row["role"] == "subscriber"
    }
    asked = {(person[row["subscriber"]], topics[row["vector"][6]]) for row in tables["subscriptions"]}
    likes = {
        (who, f"{category}{n + 1}")
        for who in range(1, 7)
        for category, amount in TOPICS.items()
        for n in range(amount)
        if (who + n) % 3 == 0
    }
    assert asked == likes
    delivered = [row for row in tables["messages"] if row["kind"] == "delivered"]
    assert delivered
    assert {row["a"] for row in tables["contacts"]} | {row["b"] for row in tables["contacts"]} <= set(
        range(6)
    )
    assert min(row["begin_ms"] for row in tables["contacts"]) == 0.0
    assert all(row["end_ms"] - row["begin_ms"] >= 60_000 or row["censored"] for row in tables["contacts"])


def test_it_is_done_again_when_the_recording_is_gone(recording: Path, tmp_path: Path) -> None:
    run_scenario(load_scenario("campus", with_recording(recording)), 1, tmp_path / "run")
    for file in recording.iterdir():
        file.unlink()
    rerun(tmp_path / "run", tmp_path / "again")
    assert compare_runs(tmp_path / "run", tmp_path / "again").same_trace


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda folder: folder / "Bluetooth_contacts.txt", r"Bluetooth_contacts\.txt:1:1: error D313"),
        (
            lambda folder: folder / "Interest_MacrocategoryB.txt",
            r'Interest_MacrocategoryB\.txt:1:1: error D319: the line "ID …" with the names',
        ),
    ],
)
def test_broken_recording_is_reported_with_its_line(
    recording: Path, spoil: Callable[[Path], Path], expected: str
) -> None:
    spoil(recording).write_text("1\t2\n")
    with pytest.raises(DocumentError, match=expected):
        load_scenario("campus", with_recording(recording))


def test_more_devices_than_were_planned_are_refused(recording: Path) -> None:
    changes = [*with_recording(recording), "contacts.ids=[1,8]"]
    with pytest.raises(DocumentError, match=r"8 devices were recorded .* the groups have 6"):
        load_scenario("campus", changes)


def test_the_schema_knows_recordings() -> None:
    assert {"contacts", "interests", "population", "fault"} <= set(scenario_schema()["properties"])
