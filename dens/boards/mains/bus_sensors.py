"""Sensors on the buses that a board's firmware knows, for SENSORS in sensors.py.

They are switched on by the first subscription that wants them and rest after the last: a device that is not
there raises then, and the mediator hears that its source failed. None of them waits for a conversion: a
reading is what was measured since the last one.
"""

import onewire
from ds18x20 import DS18X20
from machine import ADC, I2C, Pin


class OneWireTemperature:
    """A DS18B20 on a pin: degrees Celsius. It needs 750 ms to convert, so the first reading is missing."""

    def __init__(self, pin: int) -> None:
        self.bus = DS18X20(onewire.OneWire(Pin(pin)))
        self.device = bytearray()
        self.has_converted = False

    def start(self) -> None:
        """Look for the device, and begin to convert."""
        found = self.bus.scan()  # type: ignore[no-untyped-call]
        if not found:
            raise OSError("no DS18B20 answers")
        self.device = found[0]
        self.has_converted = False
        self.bus.convert_temp()

    def read(self) -> "float | None":
        """Return what was converted since the last time, and convert again."""
        value = None
        if self.has_converted:
            value = self.bus.read_temp(self.device)  # type: ignore[no-untyped-call]
        self.has_converted = True
        self.bus.convert_temp()
        return value


class I2cRegister:
    """A register of two bytes, high byte first, of a device on I2C: its whole number times `step`
    thousandths of the attribute's unit. An LM75 is (address 72, register 0, step 125, shift 5).
    """

    def __init__(self, bus: I2C, address: int, register: int, step: int, shift: int = 0) -> None:
        self.bus = bus
        self.address = address
        self.register = register
        self.step = step
        self.shift = shift

    def start(self) -> None:
        """See whether the device answers."""
        self.bus.readfrom_mem(self.address, self.register, 2)

    def read(self) -> str:
        """Return what the register says."""
        data = self.bus.readfrom_mem(self.address, self.register, 2)
        word = data[0] << 8 | data[1]
        if word > 32767:
            word -= 65536
        thousandths = (word >> self.shift) * self.step
        sign = "-" if thousandths < 0 else ""
        return "%s%d.%03d" % (sign, abs(thousandths) // 1000, abs(thousandths) % 1000)


class AnalogueLine:
    """A voltage on an ADC pin that rises evenly with what it measures: `low` thousandths of the attribute's
    unit at nothing, `high` at the full scale.
    """

    def __init__(self, pin: int, low: int, high: int) -> None:
        self.adc = ADC(Pin(pin))
        self.low = low
        self.high = high

    def read(self) -> str:
        """Return what the voltage means."""
        thousandths = self.low + (self.high - self.low) * self.adc.read_u16() // 65535
        sign = "-" if thousandths < 0 else ""
        return "%s%d.%03d" % (sign, abs(thousandths) // 1000, abs(thousandths) % 1000)
