"""The sensors of this board, one for each gauge in settings.py, in the same order. Make this file your own.

A sensor is anything whose read() gives decimal text or a float in the attribute's unit, an integer scaled
like its gauge (2150 is 21.50 with two decimals), or None. One that raises did not answer. Sensors are read
only while a subscription needs them; one that has to be switched on and off has start() and stop().
bus_sensors.py has some for 1-wire, I2C and ADC.
Here: the temperature of the RP2040 itself.
"""

from machine import ADC


class ChipTemperature:
    """The chip's own thermometer: 0.706 V at 27 °C, 1.721 mV less for every degree."""

    def __init__(self) -> None:
        self.adc = ADC(4)

    def read(self) -> str:
        """Return degrees Celsius."""
        microvolts = self.adc.read_u16() * 3300000 // 65535
        hundredths = 2700 - (microvolts - 706000) * 100 // 1721
        sign = "-" if hundredths < 0 else ""
        return "%s%d.%02d" % (sign, abs(hundredths) // 100, abs(hundredths) % 100)


class Unconnected:
    """Stands where your own sensor is to be."""

    def read(self) -> None:
        """Return nothing: the attribute is left out of the reading."""


SENSORS = [ChipTemperature()]
