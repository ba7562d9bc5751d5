"""Parts of composite subscriptions on every runtime: what can be an event of a match passes one of them,
judged from the bytes of the vector alone.
"""

from watchdog.filter import FuzzyFilter
from watchdog.header import NO_HEADER
from watchdog.reading import Reading

EVENT = 3
WHOLE = "0100740000000258125f0006000000011223020000012b090000007f00ff7f0803090001017f00ff7f0803010101"
"""Table 6.1 of Liu's thesis: denied; denied; denied, successful, of one address."""
PARTS = ("00000000007f00ff7f0803", "00000001017f00ff7f0803")
STATUS, ADDRESS = 0, 1
STATUSES = (0, 1, 2, 3, None)
ADDRESSES = (0, 7, 255, None)


def primitives() -> list[bytes]:
    """Return what every use of a primitive asks for, read from the bytes of the whole."""
    whole = bytes.fromhex(WHOLE)
    found = []
    at = 12 + whole[11] + 5 * (whole[8] >> 4)
    for _ in range(whole[8] & 15):
        found.append(whole[at + 1 : at + 1 + whole[at]])
        at += 1 + whole[at]
    return found


def satisfies(primitive: bytes, values: dict[int, int]) -> bool:
    """Return whether values lie in the crisp ranges of a primitive over status and address."""
    for attribute in (STATUS, ADDRESS):
        low, high = primitive[1 + 3 * attribute], primitive[2 + 3 * attribute]
        if attribute not in values or not low <= values[attribute] <= high:
            return False
    return True


def test_what_can_be_an_event_of_a_match_passes_a_part_and_nothing_else_does() -> None:
    guard = FuzzyFilter()
    for number, part in enumerate(PARTS):
        guard.add((7, number), NO_HEADER + bytes.fromhex(part))
    asked = primitives()
    assert [bytes.fromhex(part)[2:] for part in PARTS] == asked
    passed = 0
    for status in STATUSES:
        for address in ADDRESSES:
            values = {}
            for attribute, byte in ((STATUS, status), (ADDRESS, address)):
                if byte is not None:
                    values[attribute] = byte
            reading = Reading()
            reading.clear(EVENT, 0, 0)
            for attribute in values:
                reading.set(attribute, values[attribute])
            wanted = [primitive for primitive in asked if satisfies(primitive, values)]
            assert bool(guard.feed(reading)) == bool(wanted)
            passed += len(wanted)
    assert passed == 6
