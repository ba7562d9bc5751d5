"""Limits and tuning constants of composite events, with their reasons."""

from typing import Final

MOST_PRIMITIVES: Final = 15
MOST_LEAVES: Final = 15
MOST_CONDITIONS: Final = 15
MOST_POSTFIX: Final = 63
"""Keeps a vector within a frame of a slow radio."""
MOST_ALTERNATIVES: Final = 64
"""A search tries them one by one."""
MOST_MIXED_GROUPS: Final = 2
"""Runs of `,` in an alternative over all sources: a search tries each choice of a source per run."""
MOST_KEYS: Final = 4
"""Attributes of a key: enough for an address of four bytes."""
LONGEST_WINDOW_S: Final = 32_767
"""Timestamps are serial numbers modulo 65,536; only half of the range can be compared."""
DEFAULT_WINDOW_S: Final = 3_600
MOST_AN_END: Final = 64
"""Matches reported per end by `all`."""
MOST_COUNTED: Final = 4_096
"""Matches searched per end: more are not even counted, so that a pattern with many leaves cannot stall a
node."""
MOST_AN_EVENT: Final = 1_024
"""Matches reported by `all` if a late event completes matches at many ends."""

CLOCK_TOLERANCE_MS: Final = 60_000
"""Allowed spread of event times of one clock: ages were up to 33 s late on the slowest measured radio."""

PRIOR_WEIGHT: Final = 4
"""Weight of the overall rate, in visits, in the model of a state."""
LIVE_WEIGHT: Final = 20
"""Weight of the mean, in visits, if a source learns by itself; with fewer visits it opens no prediction."""
WITHDRAWN_BELOW: Final = 2
"""A prediction is withdrawn when its probability falls below the requested one divided by this."""
WAIT_CLASSES: Final = 8
"""Classes of the time in a state, in powers of two of readings; the last class is open."""
LEAST_HORIZON_S: Final = 60
"""Minimum lifetime of a prediction: less than a minute is shorter than one contact."""
