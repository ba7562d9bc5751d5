"""Sensors of a run: they read at intervals, a watchdog filters the readings, and what it releases is
published.

Sensors belong to the world and keep their schedule while their device is down, without reading. The same
holds for a sensor that no subscription needs, in scenarios that read on demand.
"""

from emulation.clock import Rank
from emulation.ground_truth_recorder import GroundTruthRecorder
from emulation.workload.applications import Workload
from emulation.world.node import Node, Sensor
from emulation.world.world import World


class Sensing:
    """The sensors of a world; with `keeps_values` the trace has exact values of readings besides their
    bytes.
    """

    def __init__(
        self, world: World, workload: Workload, ground_truth: GroundTruthRecorder, keeps_values: bool
    ) -> None:
        self._keeps_values = keeps_values
        self._world = world
        self._workload = workload
        self._ground_truth = ground_truth
        self._clock = world.clock

    def begin(self) -> None:
        """Schedule the first reading of every sensor."""
        for node in self._world.nodes:
            for sensor in node.sensors:
                self._read_later(node, sensor)

    def _read_later(self, node: Node, sensor: Sensor) -> None:
        self._clock.call_at(sensor.next_ms, Rank.APPLICATION, self._read, node, sensor)

    def _is_needed(self, node: Node, sensor: Sensor) -> bool:
        """Return whether the sensor runs; in most scenarios all do."""
        assert node.watchdog is not None
        assert node.environment is not None
        node.watchdog.expire(self._clock.now_ms + node.skew_ms)
        return node.environment.runs(sensor.number)

    def _read(self, node: Node, sensor: Sensor) -> None:
        world, device = self._world, node.slot.device
        if device in world.reachability.down or not self._is_needed(node, sensor):
            sensor.next_ms += sensor.plan.every_ms
            self._read_later(node, sensor)
            return
        if world.energy is not None:
            world.energy.read(device)
        assert node.watchdog is not None
        now_ms = self._clock.now_ms
        sample = sensor.source.sample(now_ms - sensor.plan.at_ms)
        if sample is None:
            return  # The recording is over.
        local_ms = now_ms + node.skew_ms
        event = sensor.plan.event.index
        reading = sensor.sampler.fill(sample, node.next_number(event), local_ms)
        released = node.watchdog.feed(reading, local_ms)
        installed = node.watchdog.interested()
        boards = world.boards
        world.journal.judged(
            now_ms,
            node.number,
            reading,
            installed,
            [release for _, release in released],
            node.watchdog.suppressed,
            0.0
            if boards is None
            else boards.judging_us(node, installed, node.watchdog.judged(), len(released)),
            reading.exact() if self._keeps_values else None,
        )
        if sensor.sampler.true_reading is not None:
            self._ground_truth.true_reading(now_ms, node.number, sensor.sampler.true_reading)
        for language, release in released:
            self._workload.publish(
                node, language, release.vector, release.lifetime, reading.number, reading.event
            )
        world.settle(node)
        sensor.next_ms = now_ms + sensor.plan.every_ms
        self._read_later(node, sensor)
