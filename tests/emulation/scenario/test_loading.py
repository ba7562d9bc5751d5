"""What a scenario file means when it is right."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dens.config.problems import DocumentError
from emulation.mobility.recorded import Recorded
from emulation.random.rng import RandomStreams
from emulation.scenario import load_scenario, scenario_schema, shipped_scenarios
from emulation.scenario.settings.settings import ScenarioSettings
from emulation.workload.subscription_requests import Numbering, subscription_requests

WriteScenario = Callable[..., Path]


def test_the_shipped_scenarios_load() -> None:
    assert "rescue" in shipped_scenarios()
    for name in set(shipped_scenarios()) - {"campus"}:  # which wants a recording that does not ship
        scenario = load_scenario(name)
        assert scenario.name == name
        assert scenario.settings.title


WORDS = """\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dens: <urn:dens:thesaurus:1#> .
<urn:x#t> a skos:Concept ; skos:prefLabel "warmth"@en ;
  skos:notation "patient.patient_temperature"^^dens:attribute .
"""


def test_subscriptions_may_use_the_words_that_the_scenario_brings(write_scenario: WriteScenario) -> None:
    plain = load_scenario(write_scenario()).subscriptions[0].body
    path = write_scenario(('name = "small"', 'name = "small"\nthesaurus = "words.ttl"'))
    fever = path.parent / "fever.xml"
    fever.write_text(fever.read_text().replace("patient_temperature", "warmth"))
    with pytest.raises(DocumentError, match=r"words\.ttl"):
        load_scenario(path)
    (path.parent / "words.ttl").write_text(WORDS)
    assert load_scenario(path).subscriptions[0].body == plain


def test_what_the_small_scenario_says(write_scenario: WriteScenario) -> None:
    scenario = load_scenario(write_scenario(('file = "fever.xml"', 'file = "fever.xml"\nat_s = 90.5')))
    assert (scenario.name, scenario.seed, scenario.duration_ms) == ("small", 5, 3_600_000)
    assert [(group.name, list(numbers)) for group, numbers in scenario.members()] == [
        ("medics", [0, 1]),
        ("helpers", [2, 3, 4]),
        ("patients", [5, 6, 7]),
    ]
    [wanted] = scenario.subscriptions
    assert (wanted.group, wanted.at_ms, wanted.language) == ("medics", 90_500, 1)
    assert int.from_bytes(wanted.body[:2], "big") == 90
    [sensor] = scenario.sensors
    assert sensor.event.name == "patient"
    assert set(sensor.attributes) == {
        "patient_temperature",
        "heart_rate",
        "oxygen_saturation",
        "respiration_rate",
        "systolic_pressure",
    }


def test_subscriptions_of_a_group_are_numbered(write_scenario: WriteScenario) -> None:
    second = '[[subscription]]\ngroup = "medics"\nfile = "fever.xml"\n'
    path = write_scenario(("[[sensor]]", f"{second}\n[[sensor]]"))
    scenario = load_scenario(path)
    asked = subscription_requests(scenario, RandomStreams(1), Numbering(scenario.table))
    assert [(one.node, one.id) for one in asked] == [(0, 0), (1, 0), (0, 1), (1, 1)]


def test_the_schema_is_json_and_lists_the_keys() -> None:
    schema = json.loads(json.dumps(scenario_schema()))
    assert set(schema["properties"]) == set(ScenarioSettings.model_fields)
    assert schema["additionalProperties"] is False
    overlay = schema["$defs"]["OverlaySettings"]["properties"]["limits"]
    assert "notification_bytes" in overlay["propertyNames"]["enum"]


def test_a_group_goes_where_a_recording_says(write_scenario: WriteScenario) -> None:
    path = write_scenario(
        ('mobility = { model = "static" }', 'mobility = { model = "recorded", file = "w.txt" }')
    )
    (path.parent / "w.txt").write_text("0 1 2\n0 3 4 60 9 4\n0 5 6\n")
    model = load_scenario(path).mobilities[2]
    assert isinstance(model, Recorded)
    assert model.tracks[1] == ((0.0, 3.0, 4.0), (60_000.0, 9.0, 4.0))
