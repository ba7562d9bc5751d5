"""A run is judged under the feature condition that it had."""

import numpy as np
import pytest

from dens.trace.manifest import Manifest
from knowledge_manager.mission_table import load_mission_table
from plugins.ground_truth import ReadingColumns
from plugins.registry import DEFAULT, language_named
from spark_analysis.errors import TraceError
from spark_analysis.languages import languages_of
from spark_analysis.metrics.run_languages import RunLanguages

TABLE = load_mission_table(["medical"])
NUMBER = language_named(DEFAULT).language_id
TWO = bytes.fromhex("00000064c87f64c87f0103")


def readings(*features: int) -> ReadingColumns:
    rows = np.array([[150, 150, 1, 0, 0, 0, 0, 0]] * len(features), np.uint8)
    return ReadingColumns(
        np.zeros(len(features), np.int64),
        np.zeros(len(features), np.uint8),
        np.array(features, np.int64),
        rows,
        [None] * len(features),
    )


@pytest.mark.parametrize(("condition", "found"), [(None, 2), ("subset", 2), ("exact", 1)])
def test_expected_deliveries_use_the_condition_of_the_run_and_ground_truth_none(
    condition: str | None, found: int
) -> None:
    languages = RunLanguages(TABLE, condition)
    truth = languages.ground_truth(NUMBER)
    assert truth is not None
    truth.add(1, TWO)
    assert len(truth.judge(readings(0b011, 0b111))[1]) == 2
    matcher = languages.matchers(NUMBER)[NUMBER]
    matcher.add((1, 1), TWO)
    told = [bytes(6) + b"\x96\x96\x01\x03", bytes(6) + b"\x96\x96\x01\x01\x07"]
    assert sum(len(matcher.match(vector, 0, 0)) for vector in told) == found


def manifest(overlay: object) -> Manifest:
    return Manifest(4, "complete", 1, 1, {"vocabularies": ["medical"], "overlay": overlay})


def test_the_manifest_says_which() -> None:
    assert languages_of(manifest({"condition": "exact"})).condition == "exact"
    assert languages_of(manifest({"condition": None})).condition is None
    assert languages_of(manifest({})).condition is languages_of(manifest(5)).condition is None
    with pytest.raises(TraceError, match=r"superset.*subset, exact.*install"):
        languages_of(manifest({"condition": "superset"}))
