"""A run is done again from its own folder, and gives the same bytes."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from emulation.comparison import NotARun
from emulation.rerun import rerun, version_differences
from emulation.run import run_scenario
from emulation.scenario import load_scenario

WriteScenario = Callable[..., Path]
GENERATED = 'source = { generator = "vital_signs", deteriorating = 1.0 }'
RECORDED = 'source = { csv = "../deep/d.csv", time_column = "t", columns = { patient_temperature = "tmp" } }'


@pytest.fixture
def first(write_scenario: WriteScenario, tmp_path: Path) -> Path:
    """A run with a recording, a track and changed keys, whose files are gone."""
    files = tmp_path / "deep"
    files.mkdir()
    (files / "d.csv").write_text("t,tmp\n" + "".join(f"{30 * i},{36 + i / 10}\n" for i in range(60)))
    (tmp_path / "w.txt").write_text("0 1 2\n" * 3)
    path = write_scenario(
        ("duration_s = 3600", "duration_s = 900"),
        (GENERATED, RECORDED.replace("../", "")),
        ('"static" }', '"recorded", file = "w.txt" }'),
    )
    scenario = load_scenario(path, ["group[1].count=5", "radio.handheld.loss=0.125"])
    run_scenario(scenario, 11, tmp_path / "first")
    shutil.rmtree(files)
    for name in ("w.txt", "fever.xml", "small.toml"):
        (tmp_path / name).unlink()
    return tmp_path / "first"


def test_the_same_bytes_come_out_when_the_files_are_gone(first: Path, tmp_path: Path) -> None:
    again = rerun(first, tmp_path / "again")
    assert again.versions == ()
    assert again.comparison is not None
    assert again.comparison.lines() == ["same trace, byte for byte"]
    assert again.summary.frames_sent > 0
    third = rerun(tmp_path / "again", tmp_path / "third")
    assert third.comparison is not None
    assert third.comparison.same_trace


def test_other_versions_and_other_bytes_are_told(first: Path, tmp_path: Path) -> None:
    manifest = json.loads((first / "manifest.json").read_text())
    manifest["versions"]["numpy"] = "1.0"
    (first / "manifest.json").write_text(json.dumps(manifest))
    assert [difference.path for difference in version_differences(first)] == ["versions.numpy"]
    part = first / "trace" / "buffers" / "part-00000.parquet"
    part.write_bytes(b"something else")
    again = rerun(first, tmp_path / "again")
    assert again.comparison is not None
    assert again.comparison.tables == ("buffers",)


def test_an_unfinished_run_is_finished_and_not_compared(first: Path, tmp_path: Path) -> None:
    manifest = json.loads((first / "manifest.json").read_text())
    (first / "manifest.json").write_text(json.dumps(manifest | {"status": "running"}))
    again = rerun(first, tmp_path / "again")
    assert (again.summary.status, again.comparison) == ("complete", None)


def test_what_cannot_be_done_again_is_told(first: Path, tmp_path: Path) -> None:
    with pytest.raises(NotARun, match=r"is no run: manifest\.json"):
        rerun(tmp_path, tmp_path / "again")
    with pytest.raises(FileExistsError, match="is the run itself"):
        rerun(first, first, force=True)
    assert (first / "manifest.json").is_file()
    manifest = json.loads((first / "manifest.json").read_text())
    del manifest["inputs"]
    (first / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(NotARun, match="keeps no copies of its files"):
        rerun(first, tmp_path / "again")
