"""Batteries of devices: what is used, when one will be empty, and what is written down of it.

A device whose battery is empty stops. That is foreseen: a look at the battery is arranged for when it will be
empty if nothing but time passes, and arranged again when that moment comes nearer by more than a second.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from emulation.clock import Clock, Rank
from emulation.devices.battery import Battery
from emulation.ground_truth_recorder import SurroundingsJournal
from emulation.scenario.settings.faults import EnergySettings
from emulation.world.reachability import Reachability

_REPORT_MS: Final = 600_000
"""How often the energy of every device is written down."""


class EnergySupply:
    """The energy of the devices that have any settings for it; all others use nothing."""

    def __init__(
        self,
        clock: Clock,
        journal: SurroundingsJournal,
        reachability: Reachability,
        energy: Mapping[int, EnergySettings],
    ) -> None:
        """Take what every device uses and has."""
        self._clock = clock
        self._journal = journal
        self._reachability = reachability
        self._energy = energy
        self._batteries = {
            device: Battery(settings.battery_j, settings.idle_w) for device, settings in energy.items()
        }
        self._checked_ms: dict[int, int] = {}

    def begin(self, stop: Callable[[int, str], None], duration_ms: int) -> None:
        """Look ahead from now on, and write down what every device used, now and then and at the end of the
        run. `stop` stops a device, for the reason that it is told."""
        self._stop = stop
        for device in self._batteries:
            self._foresee(device)
        self._clock.call_at(0, Rank.CONTACT_LOST, self._report)
        self._clock.call_at(duration_ms - 1, Rank.CONTACT_LOST, self._report_all)

    # ------------------------------------------------------------------ what is used

    def send(self, device: int, octets: int) -> None:
        """Bytes leave a device."""
        if (energy := self._energy.get(device)) is not None:
            self._batteries[device].used.radio_j += energy.send_j_per_byte * octets
            self._foresee(device)

    def receive(self, device: int, octets: int) -> None:
        """Bytes come to a device."""
        if (energy := self._energy.get(device)) is not None:
            self._batteries[device].used.radio_j += energy.receive_j_per_byte * octets
            self._foresee(device)

    def read(self, device: int) -> None:
        """A sensor of a device reads."""
        if (energy := self._energy.get(device)) is not None:
            self._batteries[device].used.compute_j += energy.reading_j
            self._foresee(device)

    def compute(self, device: int, cost_us: float, board_w: float) -> None:
        """A device computes for so long, with the power that the scenario states, else with its board's."""
        if (energy := self._energy.get(device)) is not None:
            watts = board_w if energy.compute_w is None else energy.compute_w
            self._batteries[device].used.compute_j += watts * cost_us / 1e6
            self._foresee(device)

    # ------------------------------------------------------------------ up and down

    def stops(self, device: int) -> None:
        """A device goes down now: write down what it used until then."""
        if (battery := self._batteries.get(device)) is not None:
            now_ms = self._clock.now_ms
            battery.pass_time(now_ms)
            self._journal.energy(now_ms, device, battery.used, battery.left_j)

    def can_start(self, device: int) -> bool:
        """Return whether a device that was down until now has something left to run on."""
        battery = self._batteries.get(device)
        if battery is None:
            return True
        battery.pass_time(self._clock.now_ms, is_up=False)
        return not battery.is_empty

    def starts(self, device: int) -> None:
        """A device is up again."""
        if device in self._batteries:
            self._foresee(device)

    # ------------------------------------------------------------------ looking ahead

    def _foresee(self, device: int) -> None:
        """Arrange to look at a battery when it will be empty, if nobody looks within a second of that."""
        battery, now_ms = self._batteries[device], self._clock.now_ms
        if device in self._reachability.down:
            return
        battery.pass_time(now_ms)
        at_ms = now_ms if battery.is_empty else battery.empty_ms()
        if at_ms is not None and at_ms < self._checked_ms.get(device, 1 << 62) - 1000:
            self._checked_ms[device] = at_ms
            self._clock.call_at(at_ms, Rank.TIMER, partial(self._look, device, at_ms))

    def _look(self, device: int, at_ms: int) -> None:
        """Stop a device whose battery is empty."""
        if self._checked_ms.get(device) != at_ms:
            return  # An earlier look took its place.
        battery = self._batteries[device]
        del self._checked_ms[device]
        if device in self._reachability.down:
            return
        battery.pass_time(self._clock.now_ms)
        if battery.is_empty:
            self._stop(device, "battery")
        else:
            self._foresee(device)

    # ------------------------------------------------------------------ reports

    def _report(self) -> None:
        self._report_all()
        self._clock.call_at(self._clock.now_ms + _REPORT_MS, Rank.CONTACT_LOST, self._report)

    def _report_all(self) -> None:
        now_ms = self._clock.now_ms
        for device, battery in self._batteries.items():
            battery.pass_time(now_ms, device not in self._reachability.down)
            self._journal.energy(now_ms, device, battery.used, battery.left_j)
