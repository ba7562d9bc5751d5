"""The sensors of this board, one for each gauge in settings.py, in the same order. Make this file your own.

A sensor is anything whose read() gives decimal text or a float in the attribute's unit, an integer scaled
like its gauge (2150 is 21.50 with two decimals), or None. One that raises did not answer. Sensors are read
only while a subscription needs them; one that has to be switched on and off has start() and stop().
bus_sensors.py has some for 1-wire, I2C and ADC.
Here: the temperature of the ESP32 itself.
"""

import esp32


class ChipTemperature:
    """The chip's own thermometer, which gives degrees Fahrenheit."""

    def read(self) -> str:
        """Return degrees Celsius."""
        tenths = (esp32.raw_temperature() - 32) * 50 // 9
        sign = "-" if tenths < 0 else ""
        return "%s%d.%d" % (sign, abs(tenths) // 10, abs(tenths) % 10)


class Unconnected:
    """Stands where your own sensor is to be."""

    def read(self) -> None:
        """Return nothing: the attribute is left out of the reading."""


SENSORS = [ChipTemperature()]
