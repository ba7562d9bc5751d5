"""The shape of the paper's figure 7 on its own workload, in CPython and in the papers' forms.

The paper: FNIF linear, FNIFC flat as equality grows, FIP fastest to match and slowest to load, break-down
about six times flat. docs/matching.md sets the whole figure beside the paper's and says where ours differs
and why.
"""

from collections.abc import Iterator

from benchmarks.measurement import Measurement, at_least, at_most
from studio.experiments import fig7


def measure() -> Iterator[Measurement]:
    """Compare ends and lines of the panels b, d, h and i."""
    filtering, breakdown = fig7.fig7b().lines, fig7.fig7d().lines
    matching, loading = fig7.fig7h().lines, fig7.fig7i().lines
    fnif, fnifc = filtering["fnif"], filtering["fnifc"]
    yield at_least("fnif_1000_against_100_subscriptions_linear_is_10", fnif[-1], fnif[1], 7)
    yield at_most("fnifc_growth_against_fnif_growth", fnifc[-1] / fnifc[1], fnif[-1] / fnif[1], 0.6)
    yield at_most("fip_match_against_fnif_at_1000", matching["fip"][-1], matching["fnif"][-1], 1.0)
    yield at_least("fip_load_against_fnif_at_1000", loading["fip"][-1], loading["fnif"][-1], 1.0)
    yield at_least("breakdown_against_flat_at_1000", breakdown["bfcpab"][-1], breakdown["fnif"][-1], 1.0)
