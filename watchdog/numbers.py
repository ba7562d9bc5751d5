"""Numbers that no restart gives out twice: they are reserved in a file, a step ahead of their use.

Two files take turns, so that a power cut while one is written leaves the other.
"""

STEP = 1024


def put_number(b: bytearray, at: int, number: int) -> None:
    """Write a number into the four bytes from `at` on."""
    for i in range(4):
        b[at + i] = number >> 24 - 8 * i & 255


class Numbers:
    """Two rising rows of numbers from 1 on: 0 for messages, 1 for sessions and link messages."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.end = 1
        for turn in range(2):
            try:
                with open(path + str(turn)) as file:
                    self.end = max(self.end, int(file.read()))
            except (OSError, ValueError):
                pass
        self.rows = [self.end, self.end]

    def write(self, row: int, b: bytearray, at: int) -> None:
        """Write a number of this row that was never used into the four bytes from `at` on."""
        number = self.rows[row]
        if number >= self.end:
            self.end = number + STEP
            with open(self.path + str(self.end // STEP & 1), "w") as file:
                file.write(str(self.end))
        self.rows[row] = number + 1
        put_number(b, at, number)
