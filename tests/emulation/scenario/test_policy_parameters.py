"""Parameters of replication policies: from a scenario, a change to it or a sweep to every node."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dens.config.problems import DocumentError
from dens.node.installed_policies import policies
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.item import Item
from emulation.run import run_scenario
from emulation.scenario import load_scenario, scenario_schema
from emulation.scenario.loading import check_scenario_file
from spark_analysis.sweep.plan import read_plan
from tests.emulation.policy_scenarios import write_plain

WriteScenario = Callable[..., Path]

FRESH = Item(MessageType.NOTIFICATION, 1, 7, 1, 0, 90, 1, b"x", 0)
OVERLAY = '[overlay]\npolicy = "spray_and_wait"\n\n'
AREA = "[area]"


def told(path: Path, *changes: str) -> list[str]:
    with pytest.raises(DocumentError) as refused:
        load_scenario(path, changes)
    return [str(problem) for problem in refused.value.problems]


@pytest.mark.parametrize("copies", [1, 4, 64])
def test_a_policy_gets_what_the_file_says(write_scenario: WriteScenario, copies: int) -> None:
    parameters = f"[overlay.policies.spray_and_wait]\ncopies = {copies}\n\n"
    overlay = load_scenario(write_scenario((AREA, OVERLAY + parameters + AREA))).settings.overlay
    share = overlay.replication(3).share(FRESH, (), 5, 0)
    assert share == (copies.bit_length() - 1 or None)


def test_without_a_word_it_has_its_own_default(write_scenario: WriteScenario) -> None:
    overlay = load_scenario(write_scenario((AREA, OVERLAY + AREA))).settings.overlay
    assert overlay.replication(3).share(FRESH, (), 5, 0) == 3


def test_all_errors_are_reported_at_their_place(write_scenario: WriteScenario) -> None:
    parameters = (
        "[overlay.policies.spray_and_wait]\ncopies = 6\ncopy = 8\n"
        "[overlay.policies.prophet]\nunit_s = 0\nageing_percnt = 5\n"
        "[overlay.policies.sprey_and_wait]\ncopies = 8\n\n"
    )
    path = write_scenario((AREA, OVERLAY + parameters + AREA))
    lines = path.read_text().splitlines()
    places = {lines.index(line) + 1 for line in ("copies = 6", "copy = 8", "unit_s = 0", "ageing_percnt = 5")}
    named = lines.index("[overlay.policies.sprey_and_wait]") + 1
    found = told(path)
    assert {int(line.removeprefix(f"{path}:").split(":")[0]) for line in found} == {*places, named}
    text = "\n".join(found)
    assert "overlay.policies.spray_and_wait.copies: one of 1, 2, 4, 8, 16, 32, 64 is required, not 6" in text
    assert 'no such parameter (copies); did you mean "copies"?' in text
    assert "overlay.policies.prophet.unit_s: from 1 to 86400, not 0" in text
    assert 'did you mean "ageing_percent"?' in text
    assert 'D305: overlay.policies.sprey_and_wait: unknown replication policy "sprey_and_wait"' in text
    assert 'did you mean "spray_and_wait"?' in text


@pytest.mark.parametrize("value", ['"8"', "true", "8.5", "[8]"])
def test_non_integer_is_refused(write_scenario: WriteScenario, value: str) -> None:
    (line,) = told(write_scenario(), f"overlay.policies.spray_and_wait.copies={value}")
    assert "overlay.policies.spray_and_wait.copies" in line
    assert "D302" in line


def test_a_change_from_outside_is_named(write_scenario: WriteScenario) -> None:
    (line,) = told(
        write_scenario(), "overlay.policy=spray_and_wait", "overlay.policies.spray_and_wait.copies=5"
    )
    assert line.startswith("--set overlay.policies.spray_and_wait.copies=5")


def test_parameters_of_another_policy_are_reported_as_unused(write_scenario: WriteScenario) -> None:
    path = write_scenario((AREA, OVERLAY + "[overlay.policies.dens]\ncopies = 2\n\n" + AREA))
    (warning,) = check_scenario_file(path)
    assert (warning.severity, warning.code) == ("warning", "D323")
    assert "overlay.policies.dens" in warning.message


def test_a_sweep_varies_a_parameter_and_the_runs_differ(tmp_path: Path) -> None:
    scenario = write_plain(tmp_path, "spray_and_wait", "separate")
    plan = tmp_path / "sweep.toml"
    plan.write_text(
        f'scenario = "{scenario.name}"\nseeds = [1]\n[vary]\n'
        '"overlay.policies.spray_and_wait.copies" = [1, 16]\n'
    )
    delivered = []
    for number, variant in enumerate(read_plan(plan).variants):
        changed = load_scenario(scenario, [setting.word() for setting in variant])
        delivered.append(run_scenario(changed, 1, tmp_path / str(number)).delivered)
    assert delivered[0] < delivered[1]
    manifests = [json.loads((tmp_path / str(n) / "manifest.json").read_text()) for n in range(2)]
    assert [one["scenario"]["overlay"]["policies"] for one in manifests] == [
        {"spray_and_wait": {"copies": 1}},
        {"spray_and_wait": {"copies": 16}},
    ]


def test_the_schema_knows_every_parameter_with_its_bounds() -> None:
    overlay = scenario_schema()["$defs"]["OverlaySettings"]["properties"]
    assert overlay["policy"]["enum"] == list(policies())
    for kind in policies().values():
        offered = overlay["policies"]["properties"][kind.name]["properties"]
        assert {name: one["default"] for name, one in offered.items()} == {
            parameter.name: parameter.default for parameter in kind.parameters
        }
