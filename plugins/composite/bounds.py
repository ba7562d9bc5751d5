"""Every number that somebody chose, in one place, and why it is that one."""

from typing import Final

MOST_PRIMITIVES: Final = 15
MOST_LEAVES: Final = 15
MOST_CONDITIONS: Final = 15
MOST_POSTFIX: Final = 63
"""A pattern is a nibble's worth of everything, so that a vector fits into a frame of a slow radio."""
MOST_ALTERNATIVES: Final = 64
"""A search tries them one after the other."""
MOST_MIXED_GROUPS: Final = 2
"""Runs of `,` in an alternative over all sources: a search tries each choice of a source for each of them."""
MOST_KEYS: Final = 4
"""Attributes of a key: an address of four bytes fits."""
LONGEST_WINDOW_S: Final = 32_767
"""Stamps are serial numbers modulo 65,536, and half of them can be compared."""
DEFAULT_WINDOW_S: Final = 3_600
MOST_AN_END: Final = 64
"""Matches that `all` tells of one end."""
MOST_COUNTED: Final = 4_096
"""Matches of one end that are looked for at all: beyond, they are not counted either, or a pattern of many
leaves would stop a node."""
MOST_AN_EVENT: Final = 1_024
"""Matches that `all` tells when an event comes late and completes them at many ends."""

CLOCK_TOLERANCE_MS: Final = 60_000
"""Event times of one clock agree so well: ages were late by up to 33 s on the slowest radio measured."""

PRIOR_WEIGHT: Final = 4
"""Visits that the overall rate counts for in the model of a state."""
LIVE_WEIGHT: Final = 20
"""Visits that the mean counts for where a source counts by itself; below so many it opens nothing."""
WITHDRAWN_BELOW: Final = 2
"""A prediction is withdrawn when its probability falls below the asked one divided by this."""
WAIT_CLASSES: Final = 8
"""How long a state has lasted, in powers of two of readings; the last class is open."""
LEAST_HORIZON_S: Final = 60
"""A prediction lives at least so long: less than a minute is less than one contact."""
