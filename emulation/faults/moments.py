"""When faults come: at a time that is named, or again and again at moments that chance draws."""

from collections.abc import Iterator

import numpy as np

from emulation.scenario.settings.faults import ClockSettings, CrashSettings


def moments_ms(
    fault: CrashSettings | ClockSettings, duration_ms: int, chance: np.random.Generator
) -> Iterator[int]:
    """Yield the moments of one device: one, or many with exponential pauses of `every_s` in the mean."""
    if fault.every_s is None:
        yield int(1000.0 * (fault.at_s or 0.0))
        return
    at_ms = 1000.0 * (fault.at_s or 0.0)
    while True:
        at_ms += 1000.0 * float(chance.exponential(fault.every_s))
        if at_ms >= duration_ms:
            return
        yield int(at_ms)
