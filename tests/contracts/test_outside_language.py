"""A second complete language, installed as an outside package, goes the whole way without any change to the
tree: XML → vector → overlay → source filter, or parts on boards → match → crash → delivery → trace → report.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.mission_table import load_mission_table
from plugins.fuzzy.language import FUZZY
from plugins.ground_truth import ReadingColumns
from plugins.language import SubscriptionLanguage
from plugins.readings import ExactReading, point
from tests.contracts.outside import ROOT, dens, installed

pytestmark = pytest.mark.xdist_group("outside_language")

PACKAGE = ROOT / "tests" / "outside_language"
WARD = PACKAGE / "ward"
LIMITS_ID = 40
TABLE = load_mission_table(["medical"])
PATIENT = TABLE.event("patient")
NUMBERS = {attribute.index: attribute for attribute in PATIENT.attributes if attribute.type != "nominal"}


@pytest.fixture(scope="module")
def limits() -> Iterator[SubscriptionLanguage]:
    sys.path.insert(0, str(PACKAGE))
    from dens_limits.language import LIMITS  # type: ignore[import-not-found]

    yield LIMITS
    sys.path.remove(str(PACKAGE))
    for name in [name for name in sys.modules if name.startswith("dens_limits")]:
        del sys.modules[name]


cells = st.tuples(st.integers(0, 65535), st.integers(0, 65535)).map(lambda two: (min(two), max(two)))
wanted = st.dictionaries(st.sampled_from(sorted(NUMBERS)), cells, min_size=1, max_size=4)
modes = st.sampled_from(["all", "any"])


@st.composite
def values(draw: st.DrawFn) -> dict[int, int]:
    """Return scaled values of some attributes."""
    indexes = draw(st.sets(st.sampled_from(sorted(NUMBERS)), min_size=1))
    return {index: draw(st.integers(NUMBERS[index].lo_scaled, NUMBERS[index].hi_scaled)) for index in indexes}


def body_of(mode: str, limits_: dict[int, tuple[int, int]]) -> bytes:
    """Write a body from its description, a second time."""
    head = bytes((mode == "any", PATIENT.index, len(limits_)))
    return head + b"".join(
        bytes((index,)) + first.to_bytes(2, "big") + last.to_bytes(2, "big")
        for index, (first, last) in sorted(limits_.items())
    )


def reading_of(measured: dict[int, int]) -> ExactReading:
    reading = ExactReading(TABLE.feature_bytes)
    reading.clear(PATIENT.index, 1, 0)
    for index, value in measured.items():
        reading.measure(NUMBERS[index], point(value))
    return reading


def is_wanted(mode: str, limits_: dict[int, tuple[int, int]], measured: dict[int, int]) -> bool:
    """Judge by the definition."""
    verdicts = []
    for index, (first, last) in limits_.items():
        attribute = NUMBERS[index]
        lo, hi = attribute.lo_scaled, attribute.hi_scaled
        verdicts.append(index in measured and first <= 65535 * (measured[index] - lo) // (hi - lo) <= last)
    return any(verdicts) if mode == "any" else all(verdicts)


@given(mode=modes, limits_=wanted, measured=values())
def test_filter_matcher_and_truth_say_what_the_definition_says(
    limits: SubscriptionLanguage, mode: str, limits_: dict[int, tuple[int, int]], measured: dict[int, int]
) -> None:
    body, reading = body_of(mode, limits_), reading_of(measured)
    expected = is_wanted(mode, limits_, measured)
    source, matcher = limits.source_filter(TABLE), limits.matcher(TABLE)
    source.add((1, 2), body)
    matcher.add((1, 2), body)
    released = source.feed(reading)
    assert bool(released) is expected
    assert all(len(matcher.match(one.vector, 0, 0)[0].detail) == 4 for one in released)
    assert limits.ground_truth is not None
    truth = limits.ground_truth(TABLE)
    truth.add(7, body)
    row = np.frombuffer(bytes(reading.row), np.uint8).reshape(1, -1)
    columns = ReadingColumns(
        np.zeros(1, np.int64),
        np.array([PATIENT.index], np.uint8),
        np.array([int.from_bytes(reading.mask, "big")], np.int64),
        row,
        [reading.exact()],
    )
    _, keys, _ = truth.judge(columns)
    assert list(keys) == ([7] if expected else [])


@given(mode=modes, limits_=wanted, measured=values())
def test_what_is_wanted_passes_the_parts_and_is_matched_again(
    limits: SubscriptionLanguage, mode: str, limits_: dict[int, tuple[int, int]], measured: dict[int, int]
) -> None:
    body, reading = body_of(mode, limits_), reading_of(measured)
    board = FUZZY.source_filter(TABLE)
    for number, part in enumerate(limits.parts(TABLE)(body)):
        assert part.language_id == FUZZY.language_id
        board.add((1, number), part.body)
    if is_wanted(mode, limits_, measured):
        whole = limits.matchers[FUZZY.language_id](TABLE)
        whole.add((1, 2), body)
        told = [match for one in board.feed(reading) for match in whole.match(one.vector, 0, 0)]
        assert told
        assert {match.key for match in told} == {(1, 2)}


# ---------------------------------------------------------------------- as people use it


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(PACKAGE, tmp_path_factory.mktemp("limits"))


@pytest.fixture(scope="module")
def ward(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run of the scenario and its report."""
    folder = tmp_path_factory.mktemp("ward")
    for file in WARD.iterdir():
        shutil.copy(file, folder)
    ended = dens(site, folder, "run", "ward.toml", "--out", "out")
    assert ended.returncode == 0, ended.stderr
    ended = dens(site, folder, "report", "out", "-o", "report.html", "--json")
    assert ended.returncode == 0, ended.stderr
    (folder / "report.json").write_text(ended.stdout)
    return folder


def rows(ward: Path, table: str) -> list[dict[str, Any]]:
    files = sorted((ward / "out" / "trace" / table).glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


@pytest.mark.slow
def test_commands_take_its_documents_and_its_bytes(site: Path, tmp_path: Path) -> None:
    for file in WARD.iterdir():
        shutil.copy(file, tmp_path)
    compiled = dens(site, tmp_path, "compile", "any.xml")
    assert (compiled.returncode, compiled.stdout.strip()) == (0, "000067010002007fffffff030000deb7")
    assert dens(site, tmp_path, "check", "any.xml", "all.xml", "ward.toml").returncode == 0
    vector = compiled.stdout.strip()
    decoded = dens(site, tmp_path, "decode", vector, "--language", "limits", "--vocabulary", "medical")
    assert "patient_temperature from 37.50" in decoded.stdout
    (tmp_path / "again.xml").write_text(
        dens(site, tmp_path, "decompile", vector, "--language", "limits", "--vocabulary", "medical").stdout
    )
    assert dens(site, tmp_path, "compile", "again.xml").stdout.strip() == vector
    explained = dens(site, tmp_path, "explain", "any.xml", "--value", "patient_temperature=39")
    assert "it matches, degree 255/255" in explained.stdout
    wrong = (tmp_path / "any.xml").read_text().replace("37.5", "warm").replace("oxygen", "oxigen")
    (tmp_path / "wrong.xml").write_text(wrong)
    refused = dens(site, tmp_path, "check", "wrong.xml")
    assert refused.returncode == 1
    assert "wrong.xml:2:" in refused.stdout + refused.stderr
    assert "wrong.xml:3:" in refused.stdout + refused.stderr


def test_without_the_package_its_documents_are_refused_with_what_there_is(tmp_path: Path) -> None:
    shutil.copy(WARD / "any.xml", tmp_path)
    refused = dens(tmp_path, tmp_path, "compile", "any.xml")
    assert refused.returncode == 3
    assert "urn:example:limits:1" in refused.stderr
    assert "urn:dens:subscription:1" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.slow
def test_subscriptions_leave_the_numbers_of_their_parts_free(ward: Path) -> None:
    asked = {(row["document"], row["id"], row["language"]) for row in rows(ward, "subscriptions")}
    assert asked == {("any.xml", 0, LIMITS_ID), ("all.xml", 3, LIMITS_ID), ("fever.xml", 5, 1)}


@pytest.mark.slow
def test_boards_use_their_language_and_other_sources_sixteen_bits(ward: Path) -> None:
    groups = {row["node"]: row["group"] for row in rows(ward, "nodes")}
    told = {(groups[row["origin"]], row["language"]) for row in rows(ward, "notifications")}
    assert ("monitors", LIMITS_ID) in told
    assert ("volunteers", LIMITS_ID) in told
    assert {language for group, language in told if group == "tags"} == {1}
    fever = {(row["subscriber"], row["id"]) for row in rows(ward, "subscriptions") if row["language"] == 1}
    from_tags = [row for row in rows(ward, "matches") if groups[row["origin"]] == "tags"]
    assert any((row["subscriber"], row["id"]) not in fever for row in from_tags)


@pytest.mark.slow
def test_every_expected_delivery_arrives_despite_mediator_crashes(ward: Path) -> None:
    assert sum(row["state"] == "down" for row in rows(ward, "node_state")) > 5
    report = json.loads((ward / "report.json").read_text())
    served = {one["language"]: one["served"] for one in report["delivery"]["by_language"]}
    assert served[LIMITS_ID]["delivered"] > 50
    assert served[LIMITS_ID]["missed"] == 0
    assert served[LIMITS_ID]["whole_ratio"] == 1.0
    assert report["delivery"]["not_owed"] == 0
    assert report["delivery"]["repeated"] == 0


@pytest.mark.slow
def test_spark_judges_readings_and_documents_by_the_language_itself(ward: Path) -> None:
    truth = json.loads((ward / "report.json").read_text())["truth"]
    assert truth["held_back"] == 0
    assert truth["not_asked_for_this"] == 0
    assert truth["unwanted"] == 0
    assert truth["precision"] == 1.0
    assert truth["delivered"] > 100
    assert all(row["exact"] for row in rows(ward, "filter_decisions"))
    assert [row["released"] for row in rows(ward, "documents")] == [1, 1]


@pytest.mark.slow
def test_a_matchs_detail_is_in_the_trace_and_in_words_in_the_report(ward: Path) -> None:
    found = [row for row in rows(ward, "matches") if row["id"] != 5]
    assert found
    assert all(len(row["detail"]) == 4 for row in found)
    report = json.loads((ward / "report.json").read_text())
    words = " ".join(one["words"] for one in report["details"])
    assert "certainly; attribute" in words
    assert "is nearest to its limit" in (ward / "report.html").read_text("utf-8")
