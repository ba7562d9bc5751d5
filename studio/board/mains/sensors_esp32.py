"""The sensors of this board, one for each gauge in settings.py, in the same order. Make this file your own.

A sensor is anything whose read() gives decimal text, a number scaled like its gauge, or None; OSError means
that it did not answer. Here: the temperature of the ESP32 itself, for every gauge.
"""

import esp32


class ChipTemperature:
    """The chip's own thermometer, which gives degrees Fahrenheit."""

    def read(self) -> str:
        """Return degrees Celsius."""
        tenths = (esp32.raw_temperature() - 32) * 50 // 9
        sign = "-" if tenths < 0 else ""
        return "%s%d.%d" % (sign, abs(tenths) // 10, abs(tenths) % 10)


SENSORS = [ChipTemperature()]
