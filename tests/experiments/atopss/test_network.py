"""Flood, brokers and carrying in one small world: connected, they deliver the same."""

from pathlib import Path

import pytest

from dens_experiments.atopss import network


@pytest.mark.slow
def test_in_a_connected_network_all_ways_deliver_what_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "LAST_READING_S", 500)
    text = network._SCENARIO.replace(f"duration_s = {network.DURATION_S}", "duration_s = 700")
    monkeypatch.setattr(network, "_SCENARIO", text.replace("count = 14", "count = 5"))
    scenario = network._written(tmp_path)
    found = {way: network.arrived(scenario, way, 2000, 4) for way in network.WAYS}
    assert found["broker"].wanted > 20
    for way in network.WAYS:
        assert found[way].delivered == found[way].wanted == found["broker"].wanted
    assert found["broker"].frames < found["flood"].frames
