"""BFCPA2: functions of degrees broken down into Takagi–Sugeno rules of zero order (paper 004, §4.3).

Supports takagi_sugeno_0. Like BFCPA1, with constant consequents: smaller tables, less work, a larger error.
"""

from typing import ClassVar

from plugins.fuzzy.matching.bfcpa1 import FirstOrderMatcher
from watchdog.aggregators import TAKAGI_SUGENO_0


class ZeroOrderMatcher(FirstOrderMatcher):
    """Evaluates rules with constant consequents."""

    algorithm: ClassVar = "BFCPA2"
    served: ClassVar = TAKAGI_SUGENO_0
    order: ClassVar = 0
