"""`dens live`: a run that a scenario wrote, followed as a person would."""

from pathlib import Path

import pytest


@pytest.mark.spark
def test_a_run_is_followed_to_its_end_and_told_once_more(dens, dens_process, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    assert dens("init", folder).code == 0
    ran = dens("run", folder / "scenario.toml", "--out", folder / "run", "--json").document()
    ended = dens_process("live", folder / "run", "--json", "--master", "local[1]")
    assert ended.code == 0, ended.err
    told = ended.document()
    assert (told["status"], told["subscriptions"], told["notifications"]) == (
        "complete",
        ran["subscriptions"],
        ran["notifications"],
    )
    assert told["whole"]["delivered"] == ran["delivered"] > 0
    assert f"{ran['delivered']:,} of {told['whole']['owed']:,} arrived" in ended.err


def test_what_is_no_run_is_told_before_spark_starts(dens, tmp_path: Path) -> None:
    ended = dens("live", tmp_path)
    assert ended.code == 3
    assert "not a run" in ended.err
    assert "Spark" not in ended.err
