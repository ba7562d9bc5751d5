"""`dens learn`: from the readings of a run to a vocabulary that checks, as a person would do it."""

from pathlib import Path

import pytest


@pytest.mark.spark
def test_terms_of_a_run_become_a_vocabulary_that_checks(dens, dens_process, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    assert dens("init", folder).code == 0
    assert dens("run", folder / "scenario.toml", "--out", folder / "run").code == 0
    shown = dens("vocabulary", "show", folder / "shelter.toml", "--json").document()["events"][0]
    attribute = next(one["name"] for one in shown["attributes"] if "domain" in one and one["terms"])
    vocabulary, plot = tmp_path / "learnt.toml", tmp_path / "learnt.svg"
    about = ("--event", shown["name"], "--attribute", attribute, "--master", "local[1]", "--json")
    learnt = dens_process(
        "learn", "terms", folder / "run", *about, "--terms", "little,much", "-o", vocabulary, "--plot", plot
    )
    assert learnt.code == 0, learnt.err
    assert [term["name"] for term in learnt.document()["terms"]] == ["little", "much"]
    assert sum(term["values"] for term in learnt.document()["terms"]) == learnt.document()["values"] > 0
    assert dens("vocabulary", "check", vocabulary).code == 0
    assert dens("vocabulary", "diff", folder / "shelter.toml", vocabulary).code == 0
    assert plot.read_text().count("<svg") == 1
    followed = dens_process("learn", "transitions", folder / "run", *about)
    assert followed.code == 0, followed.err
    matrix = followed.document()
    assert len(matrix["counts"]) == len(matrix["states"]) > 1
    assert 0 < sum(map(sum, matrix["counts"])) < learnt.document()["values"]


@pytest.mark.parametrize("names", ["", "a,a", "very high"])
def test_names_that_no_vocabulary_takes(dens, tmp_path: Path, names: str) -> None:
    ended = dens("learn", "terms", tmp_path, "--event", "e", "--attribute", "a", "--terms", names)
    assert ended.code == 3
    assert "--terms needs different names" in ended.err
