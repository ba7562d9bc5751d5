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
    ended = dens("experiment", "fuzzy", "fig7b", "-o", tmp_path, "--json")
    assert ended.code == 0
    lines = ended.document()["fig7b"]["lines"]
    assert all(value > 0 for values in lines.values() for value in values)
    assert (tmp_path / "fig7b.svg").is_file()
    assert (tmp_path / "fig7b.md").read_text().startswith("**b)")
    assert dens("experiment", "fuzzy", "fig7b", "--on", "micropython").code == 2
    failed = dens("experiment", "fuzzy", "fig7a", "--on", "no-such-command")
    assert failed.code == 3
    assert "no-such-command" in failed.err
    assert dens("experiment", "fuzzy", "fig9").code == 2
    assert dens("experiment", "crisp", "all").code == 2


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


@pytest.mark.parametrize("as_json", [True, False])
def test_interrupted_torture_tells_what_was_done(
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
    assert ended.err.count("this is not hexadecimal") == 1
    assert ended.out.splitlines()[0] == "1", "the good line keeps its number"
