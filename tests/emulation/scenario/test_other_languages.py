"""A scenario asks in whichever language its documents are written, and its workloads in the one they name."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from dens.config.problems import DocumentError
from emulation.random.rng import RandomStreams
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from emulation.workload.subscription_requests import Numbering, subscription_requests
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.authoring import Authoring
from plugins.authoring.generator import RandomSubscription, SubscriptionGenerator
from plugins.language import SubscriptionLanguage
from tests.plugins.toy_language import LIFETIME_Q, NAMESPACE, TOY, AlarmAuthoring, alarm, register
from watchdog.header import body_of

WriteScenario = Callable[..., Path]

CROWD = '[[population]]\ngroup = "medics"\nlanguage = "{}"\nevent = "patient"\nnumber = 6\n'
INTERESTS = (
    'interests = {{ group = "medics", language = "{}", event = "patient", attribute = "ward", number = 2 }}'
)


class AlarmGenerator:
    """Alarms at a bound that chance chooses."""

    def draw(self, rng: np.random.Generator, wanted: RandomSubscription, table: MissionTable) -> bytes:
        return bytes((wanted.event.index, wanted.among[0].index, int(rng.integers(256))))

    def for_value(self, event: EventClass, attribute: Attribute, position: int, table: MissionTable) -> bytes:
        return bytes((event.index, attribute.index, position))


class DrawingAuthoring(AlarmAuthoring):
    @property
    def generator(self) -> SubscriptionGenerator:
        return AlarmGenerator()


def drawing() -> Authoring:
    return DrawingAuthoring()


DRAWING = SubscriptionLanguage(
    language_id=201,
    name="drawing",
    lookup=TOY.lookup,
    source_filter=TOY.source_filter,
    matcher=TOY.matcher,
    authoring=drawing,
    namespaces=("urn:test:drawing:1",),
)


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, DRAWING)


def test_subscription_of_another_language_is_served(write_scenario: WriteScenario, tmp_path: Path) -> None:
    path = write_scenario(
        (
            'file = "fever.xml"\n',
            'file = "fever.xml"\n\n[[subscription]]\ngroup = "medics"\nfile = "fast.xml"\n',
        )
    )
    (tmp_path / "fast.xml").write_text(alarm(least="40"))
    scenario = load_scenario(path)
    usual, other = scenario.subscriptions
    assert usual.language == 1
    assert (other.language, other.lifetime_q, other.document) == (
        TOY.language_id,
        LIFETIME_Q,
        alarm(least="40"),
    )
    run_scenario(scenario, 5, tmp_path / "run")
    asked = pq.read_table(tmp_path / "run" / "trace" / "subscriptions").to_pylist()
    assert {row["language"] for row in asked} == {1, TOY.language_id}
    told = pq.read_table(tmp_path / "run" / "trace" / "matches").to_pylist()
    assert 1 in {row["id"] for row in told}, "its alarms found their way"


def test_a_subscription_of_no_language_is_refused_with_all_namespaces(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    path = write_scenario()
    (tmp_path / "fever.xml").write_text('<subscription xmlns="urn:unknown:1"/>')
    with pytest.raises(DocumentError, match=rf"fever.xml:1:1: error D010: .*{NAMESPACE} \(alarm\)"):
        load_scenario(path)


def test_a_population_of_another_language(write_scenario: WriteScenario) -> None:
    path = write_scenario()
    path.write_text(path.read_text() + CROWD.format("drawing"))
    scenario = load_scenario(path)
    [crowd] = scenario.populations
    assert crowd.language == DRAWING.language_id
    dealt = [
        one
        for one in subscription_requests(scenario, RandomStreams(1), Numbering(scenario.table))
        if one.language == crowd.language
    ]
    assert [one.node for one in dealt] == [0, 1] * 3
    assert [one.id for one in dealt] == [1, 1, 2, 2, 3, 3]
    assert all(len(body_of(one.vector)) == 3 for one in dealt)
    again = crowd.bodies(np.random.default_rng(1))
    assert again == crowd.bodies(np.random.default_rng(1)), "the same chance makes the same"


def test_interests_in_another_language(write_scenario: WriteScenario) -> None:
    path = write_scenario(("seed = 5", f"seed = 5\n{INTERESTS.format('drawing')}"))
    scenario = load_scenario(path)
    assert scenario.interests is not None
    assert scenario.interests.language == DRAWING.language_id
    liked = [
        one
        for one in subscription_requests(scenario, RandomStreams(1), Numbering(scenario.table))
        if one.node == 0
    ]
    assert [(one.id, one.language) for one in liked] == [(0, 1), (1, 201), (2, 201)]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("alarm", "the alarm language does not support random subscriptions"),
        ("direct", "the direct language has no authoring: its subscriptions cannot be written as documents"),
        (
            "alram",
            r'language "alram" is unknown \(alarm, atopss, boxes, composite, direct, drawing, fuzzy, graph\)',
        ),
    ],
)
def test_language_without_random_subscriptions_is_refused_at_its_key(
    write_scenario: WriteScenario, name: str, reason: str
) -> None:
    path = write_scenario(("seed = 5", f"seed = 5\n{INTERESTS.format(name)}"))
    path.write_text(path.read_text() + CROWD.format(name))
    with pytest.raises(DocumentError, match=rf"error D380: interests.language: {reason}") as refused:
        load_scenario(path)
    crowd = [problem for problem in refused.value.problems if "population[0]" in problem.message]
    [line] = [n for n, text in enumerate(path.read_text().splitlines(), 1) if text.startswith("language")]
    assert [(problem.code, problem.line) for problem in crowd] == [("D380", line)]


@pytest.mark.parametrize("name", ["atopss", "boxes"])
def test_populations_of_the_other_languages_are_served(
    write_scenario: WriteScenario, name: str, tmp_path: Path
) -> None:
    path = write_scenario()
    wide = CROWD.format(name).replace("number = 6", "number = 6\nselectivity = 0.9")
    path.write_text(path.read_text() + wide)
    scenario = load_scenario(path)
    [crowd] = scenario.populations
    run_scenario(scenario, 5, tmp_path / "run")
    asked = pq.read_table(tmp_path / "run" / "trace" / "subscriptions").to_pylist()
    theirs = {(row["subscriber"], row["id"]) for row in asked if row["language"] == crowd.language}
    assert len(theirs) == 6
    told = pq.read_table(tmp_path / "run" / "trace" / "matches").to_pylist()
    assert {(row["subscriber"], row["id"]) for row in told} & theirs, "some of them had deliveries"


def test_numbers_of_parts_count_where_nodes_ask_for_too_much(write_scenario: WriteScenario) -> None:
    """Two nodes have 510 numbers; 300 boxes need 600, because each is a part for boards too."""
    path = write_scenario()
    path.write_text(path.read_text() + CROWD.format("boxes").replace("number = 6", "number = 300"))
    with pytest.raises(
        DocumentError, match=r"error D312: group\[0\]: each of its nodes would need 30[01] ids"
    ):
        load_scenario(path)
    path.write_text(path.read_text().replace("number = 300", "number = 200"))
    assert load_scenario(path).populations
