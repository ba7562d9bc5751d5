"""`dens live`: a run that a scenario wrote, followed as a person would."""

from pathlib import Path

import pytest
from rich.console import Console

from dens.cli.runs.live import figures_line, figures_table
from spark_analysis.catalogue.evidence import FOLLOWED
from spark_analysis.catalogue.registry import metrics_from
from spark_analysis.live.state import LiveDelivery, LiveFigures

METRICS = {metric.name: 0.5 for metric in metrics_from(FOLLOWED)}


def figures(at_ms: int, written_ms: int) -> LiveFigures:
    return LiveFigures(
        at_ms=at_ms,
        written_ms=written_ms,
        window_ms=1_800_000,
        batches=1,
        subscriptions=1,
        notifications=900,
        whole=LiveDelivery(1_685, 1_500, 100, 85, 1_400, estimate=0.935, metrics=METRICS),
        recent=LiveDelivery(10, 5, 0, 5, 0, metrics=METRICS),
        given_up={"dropped: room": 3, "expired": 28_680, "lost: radio": 700},
        given_up_recently={"expired": 40, "lost: radio": 7},
    )


def shown(of: LiveFigures, state: str, capsys: pytest.CaptureFixture[str]) -> str:
    Console(width=80).print(figures_table(of, state))
    return capsys.readouterr().out


def test_copies_and_frames_are_called_so_and_not_taken_for_notifications(
    capsys: pytest.CaptureFixture[str],
) -> None:
    some = figures(3_000_000, 3_000_000)
    lines = shown(some, "running", capsys).splitlines()
    for words in ("copies: expired", "copies: dropped, room", "frames: lost, radio"):
        assert any(words in line for line in lines), lines
    assert "Counted per copy" in " ".join(lines)
    assert "copies dropped recently: 40" in figures_line(some, "running"), "lost frames are sent again"


def test_a_follower_that_is_behind_says_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    behind, even = figures(3_000_000, 33_048_000), figures(3_000_000, 3_020_000)
    assert figures_line(behind, "running").startswith("processed 3,000 of 33,048 s, running: 1,500 of")
    assert "processed 3,000 of 33,048 s, running" in shown(behind, "running", capsys)
    assert figures_line(even, "running").startswith("3,000 s, running: 1,500 of 1,685 expected deliveries")
    assert "3,000 s, writer gone" in shown(even, "writer gone", capsys)


def test_a_run_that_is_not_there_may_be_waited_for(dens, tmp_path: Path) -> None:
    ended = dens("live", tmp_path / "none")
    assert ended.code == 3
    assert "the folder does not exist" in ended.err
    assert "--wait" in ended.err


def test_what_cannot_be_used_is_not_offered(dens) -> None:
    offered = dens("live", "--help").out
    assert "--master" in offered
    assert "--remote" not in offered
    assert "sc://" not in offered
    assert "dens node run --trace" in " ".join(dens("report", "--help").out.split())


def test_run_is_followed_to_its_end_and_summarized(dens, spark, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    assert dens("init", folder).code == 0
    ran = dens("run", folder / "scenario.toml", "--out", folder / "run", "--json").document()
    ended = dens("live", folder / "run", "--json")
    assert ended.code == 0, ended.err
    figures = ended.document()
    assert (figures["status"], figures["subscriptions"], figures["notifications"]) == (
        "complete",
        ran["subscriptions"],
        ran["notifications"],
    )
    assert figures["whole"]["delivered"] == ran["delivered"] > 0
    expected = figures["whole"]["owed"]
    assert f"{ran['delivered']:,} of {expected:,} expected deliveries" in ended.err
    assert ran["delivery"] == {name: figures["whole"][name] for name in ran["delivery"]}, "one definition"


def test_invalid_run_folder_is_reported_before_spark_starts(dens, tmp_path: Path) -> None:
    ended = dens("live", tmp_path)
    assert ended.code == 3
    assert "is not a run" in ended.err
    assert "Spark" not in ended.err
