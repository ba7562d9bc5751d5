"""A run is done again from its own folder, and gives the same bytes."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dens.config.problems import DocumentError
from dens.trace.comparison import compare_until
from dens.trace.run_documents import NotARun
from emulation.rerun import rerun, version_differences
from emulation.run import Progress, run_scenario
from emulation.run_inputs import scenario_of
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


def test_other_versions_and_other_bytes_are_reported(first: Path, tmp_path: Path) -> None:
    manifest = json.loads((first / "manifest.json").read_text())
    manifest["versions"]["numpy"] = "1.0"
    (first / "manifest.json").write_text(json.dumps(manifest))
    assert [difference.path for difference in version_differences(first)] == ["versions.numpy"]
    part = first / "trace" / "buffers" / "part-00000.parquet"
    pq.write_table(pq.read_table(part).slice(1), part)
    again = rerun(first, tmp_path / "again")
    assert again.comparison is not None
    assert again.comparison.tables == ("buffers",)
    part.write_bytes(b"something else")
    with pytest.raises(DocumentError, match=r"first/trace/buffers/part-00000\.parquet: error D384"):
        rerun(first, tmp_path / "again", force=True)


def test_difference_to_an_older_version_is_explained_by_corrections(first: Path, tmp_path: Path) -> None:
    part = first / "trace" / "buffers" / "part-00000.parquet"
    pq.write_table(pq.read_table(part).slice(1), part)
    manifest = json.loads((first / "manifest.json").read_text())
    for version, explained in (("0.2.0", True), ("0.1.0", True), ("0.3.0.dev0", False), ("0.3.0", False)):
        manifest["versions"]["dens"] = version
        (first / "manifest.json").write_text(json.dumps(manifest))
        again = rerun(first, tmp_path / "again", force=True)
        assert bool(again.corrections) is explained
        assert again.reproduced is explained
        assert all(line.startswith("0.3.0: ") for line in again.corrections)


def test_an_interrupted_run_is_done_as_far_as_it_came_and_compared(first: Path, tmp_path: Path) -> None:
    def interrupt(told: Progress) -> None:
        if told.simulated_s > 400:
            raise KeyboardInterrupt

    scenario, seed = scenario_of(first)
    part = tmp_path / "part"
    assert run_scenario(scenario, seed, part, interrupt).status == "partial"
    again = rerun(part, tmp_path / "again")
    assert 400 < again.summary.simulated_s < 500
    assert again.comparison is not None
    assert again.comparison.lines() == [f"same trace, row for row before {again.summary.simulated_s:,.3f} s"]
    other = run_scenario(scenario, seed + 1, tmp_path / "other", interrupt)
    found = compare_until(part, tmp_path / "other", int(1000 * other.simulated_s))
    assert "messages" in found.tables


def test_a_run_that_was_killed_is_compared_up_to_what_its_manifest_says(first: Path, tmp_path: Path) -> None:
    manifest = json.loads((first / "manifest.json").read_text())
    killed = manifest | {"status": "running", "simulated_ms": 300_000}
    (first / "manifest.json").write_text(json.dumps(killed))
    again = rerun(first, tmp_path / "again")
    assert (again.summary.status, again.summary.simulated_s) == ("partial", 300.0)
    assert again.comparison is not None
    assert again.comparison.same_trace
    assert again.comparison.until_ms == 300_000


def test_unrepeatable_run_is_reported(first: Path, tmp_path: Path) -> None:
    with pytest.raises(NotARun, match=r"is not a run: it has no manifest\.json"):
        rerun(tmp_path, tmp_path / "again")
    with pytest.raises(FileExistsError, match="is the run itself"):
        rerun(first, first, force=True)
    assert (first / "manifest.json").is_file()
    [kept] = (first / "inputs").glob("*fever.xml")
    kept.unlink()
    with pytest.raises(
        DocumentError, match=r'the copy of "fever.xml" in the run folder is gone; run'
    ) as gone:
        rerun(first, tmp_path / "again")
    assert "did you mean" not in str(gone.value)
    manifest = json.loads((first / "manifest.json").read_text())
    for seed in (-4, 2**63, "5", True):
        (first / "manifest.json").write_text(json.dumps({**manifest, "seed": seed}))
        with pytest.raises(DocumentError, match=r"manifest\.json: error D383: seed: input should be"):
            rerun(first, tmp_path / "again")
    (first / "manifest.json").write_text(json.dumps({**manifest, "seed": None}))
    with pytest.raises(NotARun, match="its manifest has no seed"):
        rerun(first, tmp_path / "again")
    manifest["scenario"]["group"][0]["count"] = "many"
    (first / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DocumentError, match=r"D302: group\[0\]\.count: input should be a valid integer"):
        rerun(first, tmp_path / "again")
    del manifest["inputs"]
    (first / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(NotARun, match="keeps no copies of its files"):
        rerun(first, tmp_path / "again")
