"""Parts of box subscriptions on every runtime: what a box contains passes one of them, nothing else does."""

from watchdog.filter import FuzzyFilter
from watchdog.header import NO_HEADER
from watchdog.reading import Reading

EVENT = 1
WHOLE = "010074000003060026ff7f0220090000657f40ff7f02090900c0ff7f40ff7f0209"
"""Below freezing or above 35, and wind; or heavy rain."""
PARTS = ("00000026ff7f0220", "00000000657f40ff7f0209", "000000c0ff7f40ff7f0209")
BOXES = (((5, 0x26, 0xFF),), ((0, 0, 0x65), (3, 0x40, 0xFF)), ((0, 0xC0, 0xFF), (3, 0x40, 0xFF)))
TEMPERATURES = (0, 0x65, 0x66, 0xBF, 0xC0, 0xFF, None)
WINDS = (0, 0x3F, 0x40, 0xFF, None)
RAINS = (0, 0x25, 0x26, 0xFF, None)


def contained(values: dict[int, int]) -> bool:
    """Return whether some box contains these values."""
    for box in BOXES:
        inside = True
        for attribute, low, high in box:
            inside = inside and attribute in values and low <= values[attribute] <= high
        if inside:
            return True
    return False


def test_what_a_box_contains_passes_one_of_its_parts_and_nothing_else_does() -> None:
    guard = FuzzyFilter()
    for number, part in enumerate(PARTS):
        guard.add((7, number), NO_HEADER + bytes.fromhex(part))
    passed = 0
    for temperature in TEMPERATURES:
        for wind in WINDS:
            for rain in RAINS:
                values = {}
                for attribute, byte in ((0, temperature), (3, wind), (5, rain)):
                    if byte is not None:
                        values[attribute] = byte
                reading = Reading()
                reading.clear(EVENT, 0, 0)
                for attribute in values:
                    reading.set(attribute, values[attribute])
                assert bool(guard.feed(reading)) == contained(values)
                passed += contained(values)
    assert passed == 94
