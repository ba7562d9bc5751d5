"""Sources of readings: memory, sensors, or a file that another program writes.

Every source has three methods. `read_into(reading, stamp_s)` fills the reading with the next event and
returns whether there was one; `start` and `stop` enclose the time in which it is needed
(watchdog/execution.py), and `start` raises if it fails. A source numbers its events. Counters are the
watchdog's (`clipped`, `missing`) and the source's own.
"""

from watchdog.gauge import Gauge, NominalGauge
from watchdog.reading import Reading


class MemorySource:
    """Events given beforehand: a list of rows, each a dict from attribute to raw value. For tests and
    replay.
    """

    def __init__(
        self,
        event: int,
        gauges: list[Gauge | NominalGauge],
        rows: list[dict[int, str | int | None]],
        counters: dict[str, int],
    ) -> None:
        self.event = event
        self.number = 0
        self._gauges = gauges
        self._rows = rows
        self._counters = counters

    def start(self) -> None:
        """Do nothing: the rows are there."""

    def stop(self) -> None:
        """Do nothing: what was read stays read."""

    def read_into(self, reading: Reading, stamp_s: int) -> bool:
        """Fill the reading with the next row, if one is left."""
        if self.number >= len(self._rows):
            return False
        row = self._rows[self.number]
        reading.clear(self.event, self.number, stamp_s)
        for gauge in self._gauges:
            gauge.note(reading, row.get(gauge.attribute), self._counters)
        self.number += 1
        return True


class SensorSource:
    """Sensors read on demand: objects whose `read()` returns decimal text, a scaled integer, any other number
    in the attribute's unit, or None.

    A sensor that raises or is absent is missing in this reading and counted in `failed`; a value that is not
    a number is missing too. A sensor never ends the program. One that needs preparation (a supply to switch
    on, a bus to open) has `start()` and `stop()`.
    """

    def __init__(self, event: int, gauges: list[Gauge], sensors: list, counters: dict[str, int]) -> None:  # type: ignore[type-arg]
        self.event = event
        self.number = 0
        self.failed = 0
        self._gauges = gauges
        self._sensors = sensors
        self._counters = counters

    def start(self) -> None:
        """Start the sensors that have to be; where none of them could be started, raise what one of them
        raised.
        """
        reason = None
        started = 0
        for sensor in self._sensors:
            try:
                if hasattr(sensor, "start"):
                    sensor.start()
                started += 1
            except Exception as error:
                reason = error
                self.failed += 1
        if reason is not None and not started:
            raise reason

    def stop(self) -> None:
        """Stop the sensors that have to be, all of them, whatever one of them raises."""
        for sensor in self._sensors:
            try:
                if hasattr(sensor, "stop"):
                    sensor.stop()
            except Exception:
                self.failed += 1

    def read_into(self, reading: Reading, stamp_s: int) -> bool:
        """Fill the reading with what every sensor says; there always is an event."""
        reading.clear(self.event, self.number, stamp_s)
        for i in range(len(self._gauges)):
            try:
                raw = self._sensors[i].read()
                if raw is not None and not isinstance(raw, (int, str)):
                    raw = str(raw)
            except Exception:
                raw = None
                self.failed += 1
            self._gauges[i].note(reading, raw, self._counters)
        self.number += 1
        return True
