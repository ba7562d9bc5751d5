"""Batteries on the clock: a device stops when its own is empty, not earlier, and not while it is down."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dens.trace.writer import TraceWriter
from emulation.clock import Clock, Rank
from emulation.ground_truth_recorder import GroundTruthRecorder
from emulation.scenario.settings.faults import EnergySettings
from emulation.world.energy_supply import EnergySupply
from emulation.world.reachability import Reachability

IDLE = EnergySettings(battery_j=10.0, idle_w=1.0, send_j_per_byte=0.5, receive_j_per_byte=0.25)


class Bench:
    """A supply on a clock of its own; device 1 has a battery, device 2 a wall socket."""

    def __init__(self, trace: TraceWriter) -> None:
        self.clock, self.reachability = Clock(), Reachability()
        devices = {1: IDLE, 2: EnergySettings(idle_w=2.0, compute_w=3.0)}
        self.supply = EnergySupply(self.clock, GroundTruthRecorder(trace), self.reachability, devices)
        self.stopped: list[tuple[int, int, str]] = []
        self.supply.begin(self.stop, 60_000)

    def stop(self, device: int, reason: str) -> None:
        self.stopped.append((self.clock.now_ms, device, reason))
        self.supply.stops(device)
        self.reachability.down.add(device)


def test_a_battery_that_only_idles_is_empty_when_it_must_be(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "trace") as trace:
        bench = Bench(trace)
        bench.clock.run_until(60_000)
    assert bench.stopped == [(10_000, 1, "battery")]
    assert not bench.supply.can_start(1)
    assert bench.supply.can_start(2)
    assert bench.supply.can_start(3), "it has no settings"
    rows = pq.read_table(tmp_path / "trace" / "energy").to_pylist()
    assert [(row["node"], row["idle_j"], row["battery_j"]) for row in rows if row["at_ms"] == 59_999] == [
        (1, 10.0, 0.0),
        (2, pytest.approx(2 * 59.999), None),
    ]


def test_what_is_sent_and_received_brings_the_end_nearer(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "trace") as trace:
        bench = Bench(trace)
        bench.clock.call_at(1000, Rank.APPLICATION, bench.supply.send, 1, 8)
        bench.clock.call_at(2000, Rank.APPLICATION, bench.supply.receive, 1, 8)
        bench.clock.run_until(60_000)
    assert bench.stopped == [(4000, 1, "battery")]


def test_a_device_that_is_down_uses_nothing(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "trace") as trace:
        bench = Bench(trace)
        bench.clock.run_until(4000)
        bench.stop(1, "crash")
        bench.clock.run_until(24_000)
        assert bench.supply.can_start(1)
        bench.reachability.down.discard(1)
        bench.supply.starts(1)
        bench.clock.run_until(60_000)
    assert bench.stopped == [(4000, 1, "crash"), (30_000, 1, "battery")]


def test_computing_takes_the_power_that_is_stated_else_the_board_s(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "trace") as trace:
        bench = Bench(trace)
        bench.supply.compute(1, 1e6, 4.0)
        bench.supply.compute(2, 1e6, 4.0)
        bench.clock.run_until(60_000)
    rows = pq.read_table(tmp_path / "trace" / "energy").to_pylist()
    assert {row["node"]: row["compute_j"] for row in rows} == {1: 4.0, 2: 3.0}
