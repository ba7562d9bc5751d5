"""How long notifications live: the sensor says it, else the scenario, the vocabulary, or it is an hour."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dens.config.problems import DocumentError
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from knowledge_manager.vocabulary.vocabulary import vocabulary_text

WriteScenario = Callable[..., Path]

HOUR_MS = 3_756_000


def lifetimes(scenario: Path, out: Path, *changes: str) -> set[int]:
    run_scenario(load_scenario(str(scenario), changes), 5, out)
    return set(pq.read_table(out / "trace" / "notifications")["lifetime_ms"].to_pylist())


def own_vocabulary(folder: Path, lifetime: str) -> tuple[str, str]:
    """Write the medical vocabulary with this lifetime of its first event class; return what to change."""
    text = vocabulary_text("medical").replace(
        "[[event]]", f'[[event]]\nnotification_lifetime = "{lifetime}"', 1
    )
    (folder / "mine.toml").write_text(text)
    return '["medical"]', '["mine.toml"]'


def test_default_lifetime_is_an_hour(write_scenario: WriteScenario, tmp_path: Path) -> None:
    assert lifetimes(write_scenario(), tmp_path / "run") == {HOUR_MS}


@pytest.mark.parametrize(
    ("vocabulary", "changes", "lifetime_ms"),
    [
        ("PT10M", [], 608_000),
        ("PT10M", ["overlay.notification_lifetime_s=60"], 64_000),
        (
            "PT10M",
            ["overlay.notification_lifetime_s=60", "sensor[0].notification_lifetime_s=1800"],
            1_878_000,
        ),
        (None, ["sensor[0].notification_lifetime_s=1.5"], 2_000),
        (None, ["overlay.notification_lifetime_s=3600"], HOUR_MS),
    ],
)
def test_the_most_particular_wins(
    write_scenario: WriteScenario,
    tmp_path: Path,
    vocabulary: str | None,
    changes: list[str],
    lifetime_ms: int,
) -> None:
    replaced = [] if vocabulary is None else [own_vocabulary(tmp_path, vocabulary)]
    assert lifetimes(write_scenario(*replaced), tmp_path / "run", *changes) == {lifetime_ms}


@pytest.mark.parametrize("value", ["0", "0.5", "5000000", "inf", '"PT1H"', "true"])
def test_invalid_lifetime_is_refused(write_scenario: WriteScenario, value: str) -> None:
    for path in ("overlay", "sensor[0]"):
        with pytest.raises(DocumentError, match="notification_lifetime_s"):
            load_scenario(str(write_scenario()), [f"{path}.notification_lifetime_s={value}"])


def test_nodes_whose_vocabularies_differ_in_it_alone_understand_each_other(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    plain = load_scenario(write_scenario()).table
    assert load_scenario(write_scenario(own_vocabulary(tmp_path, "PT10M"))).table.check == plain.check
