"""Scenario files: settings, checks and loading."""

from emulation.scenario.loading import (
    check_scenario_file,
    load_scenario,
    scenario_from_settings,
    shipped_scenarios,
)
from emulation.scenario.scenario import PlannedSensor, PlannedSubscription, Scenario
from emulation.scenario.settings.settings import scenario_schema

__all__ = [
    "PlannedSensor",
    "PlannedSubscription",
    "Scenario",
    "check_scenario_file",
    "load_scenario",
    "scenario_from_settings",
    "scenario_schema",
    "shipped_scenarios",
]
