"""The sensors of this board, one for each gauge in settings.py, in the same order. Make this file your own.

A sensor is anything whose read() gives decimal text, a number scaled like its gauge, or None; OSError means
that it did not answer. Here: the temperature of the RP2040 itself, for every gauge.
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


SENSORS = [ChipTemperature()]
