"""Batteries of devices: energy use, prediction of empty batteries, and records in the trace.

A device with an empty battery stops. A check is scheduled for when the battery will be empty from idle power
alone, and scheduled again when that time moves forward by more than a second.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from emulation.clock import Clock, Rank
from emulation.devices.battery import Battery
from emulation.ground_truth_recorder import GroundTruthRecorder
from emulation.scenario.settings.faults import EnergySettings
from emulation.world.reachability import Reachability

_REPORT_MS: Final = 600_000
"""The interval at which the energy of every device is recorded."""


class EnergySupply:
    """The energy of devices with energy settings; all others use none."""

    def __init__(
        self,
        clock: Clock,
        journal: GroundTruthRecorder,
        reachability: Reachability,
        energy: Mapping[int, EnergySettings],
    ) -> None:
        """Take the energy settings by device."""
        self._clock = clock
        self._journal = journal
        self._reachability = reachability
        self._energy = energy
        self._batteries = {
            device: Battery(settings.battery_j, settings.idle_w) for device, settings in energy.items()
        }
        self._checked_ms: dict[int, int] = {}

    def begin(self, stop: Callable[[int, str], None], duration_ms: int) -> None:
        """Start to check batteries, and record energy at intervals and at the end of the run. `stop` is
        called with a device and a reason.
        """
        self._stop = stop
        for device in self._batteries:
            self._schedule_check(device)
        self._clock.call_at(0, Rank.CONTACT_LOST, self._report)
        self._clock.call_at(duration_ms - 1, Rank.CONTACT_LOST, self._report_all)

    # ------------------------------------------------------------------ what is used

    def send(self, device: int, octets: int) -> None:
        """Charge a device for sent bytes."""
        if (energy := self._energy.get(device)) is not None:
            self._batteries[device].used.radio_j += energy.send_j_per_byte * octets
            self._schedule_check(device)

    def receive(self, device: int, octets: int) -> None:
        """Charge a device for received bytes."""
        if (energy := self._energy.get(device)) is not None:
            self._batteries[device].used.radio_j += energy.receive_j_per_byte * octets
            self._schedule_check(device)

    def read(self, device: int) -> None:
        """Charge a device for a reading."""
        if (energy := self._energy.get(device)) is not None:
            self._batteries[device].used.compute_j += energy.reading_j
            self._schedule_check(device)

    def compute(self, device: int, cost_us: float, board_w: float) -> None:
        """Charge a device for computing, with the power of the scenario or else of its board."""
        if (energy := self._energy.get(device)) is not None:
            watts = board_w if energy.compute_w is None else energy.compute_w
            self._batteries[device].used.compute_j += watts * cost_us / 1e6
            self._schedule_check(device)

    # ------------------------------------------------------------------ up and down

    def stops(self, device: int) -> None:
        """Record the energy of a device that goes down."""
        if (battery := self._batteries.get(device)) is not None:
            now_ms = self._clock.now_ms
            battery.pass_time(now_ms)
            self._journal.energy(now_ms, device, battery.used, battery.left_j)

    def can_start(self, device: int) -> bool:
        """Return whether the battery of a device that was down is not empty."""
        battery = self._batteries.get(device)
        if battery is None:
            return True
        battery.pass_time(self._clock.now_ms, is_up=False)
        return not battery.is_empty

    def starts(self, device: int) -> None:
        """Check the battery of a device again after its restart."""
        if device in self._batteries:
            self._schedule_check(device)

    # ------------------------------------------------------------------ looking ahead

    def _schedule_check(self, device: int) -> None:
        """Schedule a check for when the battery will be empty, unless there is one within a second of
        that.
        """
        battery, now_ms = self._batteries[device], self._clock.now_ms
        if device in self._reachability.down:
            return
        battery.pass_time(now_ms)
        at_ms = now_ms if battery.is_empty else battery.empty_ms()
        if at_ms is not None and at_ms < self._checked_ms.get(device, 1 << 62) - 1000:
            self._checked_ms[device] = at_ms
            self._clock.call_at(at_ms, Rank.TIMER, partial(self._check, device, at_ms))

    def _check(self, device: int, at_ms: int) -> None:
        """Stop a device whose battery is empty."""
        if self._checked_ms.get(device) != at_ms:
            return  # Replaced by an earlier check.
        battery = self._batteries[device]
        del self._checked_ms[device]
        if device in self._reachability.down:
            return
        battery.pass_time(self._clock.now_ms)
        if battery.is_empty:
            self._stop(device, "battery")
        else:
            self._schedule_check(device)

    # ------------------------------------------------------------------ reports

    def _report(self) -> None:
        self._report_all()
        self._clock.call_at(self._clock.now_ms + _REPORT_MS, Rank.CONTACT_LOST, self._report)

    def _report_all(self) -> None:
        now_ms = self._clock.now_ms
        for device, battery in self._batteries.items():
            battery.pass_time(now_ms, device not in self._reachability.down)
            self._journal.energy(now_ms, device, battery.used, battery.left_j)
