"""The examples in the docstrings run and print what they say."""

import doctest
import importlib

import pytest

MODULES = [
    "emulation.contacts.formats.one_events",
    "emulation.mobility.gauss_markov",
    "emulation.mobility.random_direction",
    "emulation.mobility.random_waypoint",
    "emulation.mobility.reference_point",
    "emulation.sensors.vital_signs",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
