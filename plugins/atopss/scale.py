"""The integers in which shapes and degrees are counted."""

from typing import Final

TOP: Final = 255
"""A degree is a byte, ⌊255·x⌋: 255 is fully."""

FULL: Final = 65535
"""A side is this many parts long, whatever it spans on its axis."""

FIFTEENTH: Final = 17
"""A threshold is t/15, which is 17t/255: comparing bytes decides as comparing the numbers would."""

INFINITE: Final = 1 << 30
"""Stands for an end that there is not. Corners are far below, so that sums keep their order."""

CORNER_LIMIT: Final = 1 << 23
"""Corners that can be written lie within ± this, itself excluded."""
