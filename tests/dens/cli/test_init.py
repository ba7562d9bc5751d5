"""`dens init` makes a folder in which everything checks and runs."""

from pathlib import Path

from tests.paths import ROOT


def test_what_it_makes_is_correct_and_runs(dens, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    made = dens("init", folder, "--json")
    assert made.code == 0
    assert {Path(name).name for name in made.document()["files"]} >= {
        "scenario.toml",
        "shelter.toml",
        "readings.csv",
    }

    for options in ((), ("--vocabulary", folder / "shelter.toml")):
        checked = dens("check", folder, *options, "--json")
        assert checked.document()["problems"] == []
        assert checked.code == 0

    run = dens("run", folder / "scenario.toml", "--out", folder / "run", "--json")
    assert run.code == 0
    assert run.document()["delivered"] > 0
    served = run.document()["delivery"]
    assert served["owed"] == served["delivered"] + served["missed"] + served["open"]
    assert (folder / "run" / "manifest.json").is_file()

    with_run = dens("check", folder, "--json")
    assert with_run.document()["problems"] == []
    assert with_run.document()["files"] == checked.document()["files"]
    assert with_run.code == 0


def test_it_touches_no_folder_in_use(dens, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    ended = dens("init", tmp_path)
    assert ended.code == 3
    assert "not an empty folder" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_shipped_examples_are_correct(dens) -> None:
    checked = dens("check", ROOT / "docs" / "examples", "--json")
    problems = checked.document()["problems"]
    assert [problem for problem in problems if problem["severity"] == "error"] == []
    assert checked.code == 0
    assert len(checked.document()["files"]) >= 6
