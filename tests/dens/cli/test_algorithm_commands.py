"""Covering, the paper's figures and torture from the command line."""

from dataclasses import replace
from pathlib import Path

import pytest

from emulation.fault_injection import campaign
from emulation.fault_injection.campaign import Verdict, judge
from emulation.fault_injection.plan_file import KeptPlan

VECTORS = ["0000670000006080480101", "0000670000007078480101", "00006700000000107f0101"]
"""Wide, narrow inside it, and one far away, all on one attribute."""


def test_the_forest_of_three_lines(dens, tmp_path: Path) -> None:
    file = tmp_path / "s.hex"
    file.write_text("\n".join([VECTORS[0], "zz", VECTORS[1], VECTORS[2]]) + "\n")
    ended = dens("cover", "--subscriptions", file, "--json")
    assert ended.code == 1
    assert "subscription line 1" in ended.err
    document = ended.document()
    assert document["forest"] == [
        {"subscription": 0, "covered_by": None},
        {"subscription": 2, "covered_by": 0},
        {"subscription": 3, "covered_by": None},
    ]
    assert document["roots"] == 2
    assert dens("cover", "--subscriptions", file).out.splitlines()[:3] == ["0", "  2", "3"]


def test_a_figure_of_the_paper(dens, tmp_path: Path) -> None:
    asked = ("--counts", "20,60", "--seeds", "1..2", "--repetitions", "1", "--similarity", "0.5")
    ended = dens("experiment", "fuzzy", "fig7b", *asked, "-o", tmp_path / "new", "--json")
    assert ended.code == 0
    document = ended.document()
    assert document["interrupted"] is False
    assert document["fig7b"]["points"] == [20, 60]
    lines = document["fig7b"]["lines"]
    assert all(value > 0 for line in lines.values() for value in line["mean"])
    kinds = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert kinds == ["fig7b.csv", "fig7b.json", "fig7b.md", "fig7b.svg"]
    assert (tmp_path / "new" / "fig7b.md").read_text().startswith("**b)")
    assert dens("experiment", "fuzzy", "fig7b", "--on", "micropython").code == 2
    failed = dens("experiment", "fuzzy", "fig7a", "--on", "no-such-command")
    assert failed.code == 2
    assert "no-such-command" in failed.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["crisp", "all"], "known: fuzzy, atopss"),
        (["fuzzy", "fig9"], "fig7a, fig7b"),
        (["fuzzy", "fig7b", "--full"], "--full means nothing to fig7b"),
        (["batch", "fig5a", "--run", "x"], "--run means nothing to fig5a"),
        (["batch", "fig5a", "--repetitions", "2"], "--repetitions means nothing to fig5a"),
        (["batch", "fig5a", "--small", "--full"], "cannot both be meant"),
        (["batch", "fig6"], "fig5a, fig5b, fig5c, fig7a"),
        (["fuzzy"], "name a figure; there are: fig7a"),
        (["fuzzy", "fig7e", "--workload", "wide"], "--workload means nothing to fig7e"),
        (["fuzzy", "fig7b", "--workload", "large"], "paper, wide, every_attribute"),
        (["fuzzy", "fig7b", "--condition", "xor"], "subset, exact"),
        (["fuzzy", "fig7b", "--attributes", "4"], "write 3-4/4"),
        (["fuzzy", "fig7b", "--attributes", "4-3/4"], "cannot be drawn"),
        (["fuzzy", "fig7b", "--counts", "100,40"], "does not ascend"),
        (["fuzzy", "fig7b", "--counts", "many"], "write 40,100,1000"),
        (["fuzzy", "fig7b", "--seeds", "5..1"], "goes backwards"),
        (["fuzzy", "fig7b", "--similarity", "1.5"], "is not a share"),
        (["fuzzy", "fig7b", "--on", "microbit", "--on", "node"], "fig7b is not measured on"),
    ],
)
def test_an_experiment_that_is_none_is_refused_before_anything_is_measured(
    dens, tmp_path: Path, words: list[str], says: str
) -> None:
    ended = dens("experiment", *words, "-o", tmp_path / "new")
    assert ended.code == 2
    assert says in " ".join(ended.err.split())
    assert not (tmp_path / "new").exists()


TINY = ("--counts", "20,40", "--seeds", "1", "--repetitions", "1")


@pytest.mark.parametrize("as_json", [True, False])
def test_an_interrupted_experiment_keeps_what_is_finished(
    dens, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_json: bool
) -> None:
    """Ctrl-C is pressed in the second of three figures."""
    from dens_experiments.fuzzy import publisher_figures

    def pressed(load: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(publisher_figures, "counted_covering", pressed)
    words = ("experiment", "fuzzy", "fig7b", "fig7c", "fig7h", *TINY, "-o", tmp_path)
    ended = dens(*words, *(["--json"] if as_json else []))
    assert ended.code == 130
    assert "interrupted; finished: fig7b" in ended.err
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"fig7b.{ending}" for ending in ("csv", "json", "md", "svg")
    ]
    if as_json:
        document = ended.document()
        assert document["interrupted"] is True
        assert list(document) == ["fig7b", "interrupted"]
    else:
        assert ended.out.startswith("**b)")


def test_a_folder_that_is_a_file_is_refused_before_anything_is_measured(dens, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    ended = dens("experiment", "fuzzy", "fig7b", *TINY, "-o", tmp_path / "file")
    assert ended.code == 3
    assert "file" in ended.err
    assert ended.out == ""
    assert (tmp_path / "file").read_text() == "mine"


def test_experiments_are_listed(dens) -> None:
    assert "fig7i" in dens("experiment", "--list").out
    listed = dens("experiment", "fuzzy", "--list", "--json").document()
    assert listed["fuzzy"]["figures"]["fig7h"] == "matching on a DENS node"


def test_torture_holds_and_names_its_faults(dens) -> None:
    ended = dens("torture", "--seeds", "1..2", "--json")
    assert ended.code == 0
    document = ended.document()
    assert document["seeds"] == 2
    assert document["broken"] == []
    assert document["interrupted"] is False
    assert document["steps"] > 0
    assert "1 seed, " in dens("torture", "--seeds", "2").out
    assert dens("torture", "--seeds", "1,2", "--json").document() == document
    assert dens("torture", "--seeds", "3..1").code == 2
    assert dens("torture", "--seeds", f"1..{10**21}").code == 2
    unknown = dens("torture", "--faults", "gremlins")
    assert unknown.code == 2
    assert "crash" in unknown.err
    assert dens("torture", "--seeds", "2", "--covering").code == 0
    for world in (["--world", "driver"], ["--plan", "plan.json"]):
        refused = dens("torture", "--covering", *world)
        assert (refused.code, "--covering is for seeds" in refused.err) == (2, True)


@pytest.mark.parametrize("as_json", [True, False])
def test_interrupted_torture_reports_completed_work(
    dens, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_json: bool
) -> None:
    """Ctrl-C is pressed in the third world; in the second one a promise broke."""

    def judge_two(said: KeptPlan, file: str | None = None) -> Verdict:
        if said.seed == 3:
            raise KeyboardInterrupt
        return replace(judge(said), ok=said.seed != 2, invariant=None if said.seed != 2 else 4)

    monkeypatch.setattr(campaign, "judge", judge_two)
    ended = dens("torture", "--seeds", "1..9", "--keep", tmp_path / "kept", *["--json"] * as_json)
    assert ended.code == 130
    [path] = (tmp_path / "kept").iterdir()
    assert "1 seed, " in dens("torture", "--plan", path).out
    if as_json:
        document = ended.document()
        assert (document["seeds"], document["interrupted"]) == (2, True)
        assert [(one["seed"], one["invariant"]) for one in document["broken"]] == [(2, 4)]
        assert document["steps"] > 0
    else:
        assert ended.out.startswith("interrupted after 2 of 9: 2 seeds, ")
        assert ended.out.endswith("1 broke a promise\n")


def test_a_plan_that_is_none_is_refused_and_the_driver_has_none(dens, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text('{"version": 1, "plan": {"mediators": 0}}')
    ended = dens("torture", "--plan", path)
    assert ended.code == 3
    assert f"{path}:1:25: error D404: mediators: this has to be a whole number from 1 to 64" in ended.err
    assert dens("torture", "--plan", tmp_path / "missing.json").code == 3
    assert dens("torture", "--plan", path, "--world", "driver").code == 2


VECTOR = "00006700009592ff547bff3f01017f0107"


def test_an_algorithm_that_does_not_serve_a_subscription_says_so(dens, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text(VECTOR + "\n")
    (tmp_path / "n.txt").write_text("0000670000909b78cc010b\n")
    asking = ("match", "--subscriptions", tmp_path / "s.txt", "--notifications", tmp_path / "n.txt")
    for algorithm in ("bfcpab", "bfcpa1", "bfcpa2"):
        ended = dens(*asking, "--algorithm", algorithm)
        assert ended.code == 1
        assert "line 0" in ended.err
        assert "fast" in ended.err


def test_a_line_that_is_too_long_is_one_bad_line(dens, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("0" * 131_073 + VECTOR + "\n" + VECTOR + "\n")
    ended = dens("cover", "--subscriptions", tmp_path / "s.txt")
    assert ended.code == 1
    assert ended.err.count("not hexadecimal: expected pairs") == 1
    assert ended.out.splitlines()[0] == "1", "the good line keeps its number"


def test_torture_continues_where_it_stopped(dens, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ctrl-C is pressed in the third world of six; the next sitting runs the other four and sums up all."""
    path, run = tmp_path / "progress.json", []

    def judge_some(said: KeptPlan, file: str | None = None) -> Verdict:
        if said.seed == 3 and len(run) == 2:
            raise KeyboardInterrupt
        run.append(said.seed)
        return replace(judge(said), ok=said.seed != 2, invariant=None if said.seed != 2 else 4)

    whole = dens("torture", "--seeds", "1..6", "--json").document()
    monkeypatch.setattr(campaign, "judge", judge_some)
    assert dens("torture", "--seeds", "1..6", "--progress", path).code == 130
    run.append(0)
    ended = dens("torture", "--seeds", "1..6", "--progress", path, "--json")
    assert (ended.code, run) == (4, [1, 2, 0, 3, 4, 5, 6])
    document = ended.document()
    assert [one["seed"] for one in document.pop("broken")] == [2]
    assert document.items() < whole.items()
    assert dens("torture", "--seeds", "2..4", "--progress", path, "--json").document()["seeds"] == 6
    assert run[-1] == 6, "nothing was left to run"


def test_progress_of_other_seeds_is_refused(dens, tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    assert dens("torture", "--world", "brokers", "--seeds", "1", "--progress", path).code == 0
    refused = dens("torture", "--seeds", "1", "--progress", path)
    assert refused.code == 3
    assert "D404: the file is of campaign 'brokers all', not 'engines all'" in refused.err
    assert dens("torture", "--plan", path, "--progress", path).code == 2
    for content in (
        "[]",
        '{"version": 1}',
        "{",
        '{"version": 1, "campaign": "engines all", "finished": [[1]]}',
    ):
        path.write_text(content)
        refused = dens("torture", "--seeds", "1", "--progress", path)
        assert (refused.code, "D404" in refused.err) == (3, True), content
