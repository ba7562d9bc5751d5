"""BFCPA2: functions of degrees broken down into Takagi–Sugeno rules of zero order (paper 004, §4.3).

Serves takagi_sugeno_0. As BFCPA1, with a single number as the consequent of each rule: smaller tables, less
work, a larger error.
"""

from typing import ClassVar

from plugins.fuzzy.matching.bfcpa1 import FirstOrderMatcher
from watchdog.aggregators import TAKAGI_SUGENO_0


class ZeroOrderMatcher(FirstOrderMatcher):
    """Evaluates rules whose consequents are constant."""

    algorithm: ClassVar = "BFCPA2"
    served: ClassVar = TAKAGI_SUGENO_0
    order: ClassVar = 0
