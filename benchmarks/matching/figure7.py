"""The shape of the paper's figure 7 on its own workload, with features on: three or four of four attributes,
exact, 96 % equal at a thousand.

The paper: FNIF linear, FNIFC flat as equality grows, sorted features faster, FIP fast to match and slow to
load, covering the dearest to load, break-down about six times flat. Lines that end in `_counted` are of work,
the same on every machine. docs/explanation/matching.md sets the whole figure beside the paper's and says
where ours differs and why.
"""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.measurement import Measurement, at_least, at_most
from benchmarks.sizes import sized
from dens_experiments.family import Request
from dens_experiments.fuzzy.expressiveness import BREAK_DOWN, fig7d
from dens_experiments.fuzzy.memory import fig7g
from dens_experiments.fuzzy.node_figures import fig7h, fig7i
from dens_experiments.fuzzy.paper import PHONE_MEMORY
from dens_experiments.fuzzy.publisher_figures import FLAT, fig7b, fig7c
from dens_experiments.panel import Line

ASKED = sized(
    Request(counts=(100, 1000), seeds=(1, 2, 3), repetitions=7),
    Request(counts=(10, 20), seeds=(1,), repetitions=1),
)


def measure() -> Iterator[Measurement]:
    """Compare ends and lines of the panels."""
    yield from _publisher()
    yield from _node()


def _publisher() -> Iterator[Measurement]:
    filtering, loading = fig7b(ASKED, _silent).lines, fig7c(ASKED, _silent).lines
    forms = fig7d(ASKED, _silent).lines
    memory = fig7g(ASKED, _silent).lines
    fnif, fnifs, fnifc = (filtering[name] for name in FLAT)
    yield at_least("publisher_fnif_1000_against_100_linear_is_10", fnif.means[-1], fnif.means[0], 7)
    yield at_most("publisher_fnifc_growth_against_fnif_growth", _growth(fnifc), _growth(fnif), 0.4)
    yield at_most("publisher_fnifs_against_fnif_at_1000", fnifs.means[-1], fnif.means[-1], 0.25)
    yield at_most("publisher_fnifc_against_fnifs_at_1000", fnifc.means[-1], fnifs.means[-1], 1.0)
    tests = "feature tests"
    yield at_least("publisher_fnif_1000_against_100_counted", fnif.work[tests][-1], fnif.work[tests][0], 9)
    yield at_most("publisher_fnifs_feature_tests_counted", fnifs.work[tests][-1], fnif.work[tests][-1], 0.05)
    judged = "subscriptions judged"
    yield at_most("publisher_fnifc_judged_counted", fnifc.work[judged][-1], fnif.work[judged][-1], 0.25)
    loads = {name: loading[name].means[-1] for name in FLAT}
    yield at_least("publisher_fnifc_load_against_fnif_at_1000", loads["fnifc"], loads["fnif"], 1.2)
    flat = forms["flat, min (FNIF)"].means[-1]
    for name, (form, goal) in zip(BREAK_DOWN, (("bfcpab", 1.5), ("bfcpa1", 3), ("bfcpa2", 3)), strict=True):
        yield at_least(f"publisher_{form}_against_flat_at_1000_paper_6", forms[name].means[-1], flat, goal)
    largest = max(memory[f"publisher, {name}"].means[-1] for name in FLAT)
    yield at_most("publisher_pool_kb_of_the_phones_memory", largest, PHONE_MEMORY.high, 0.1)


def _node() -> Iterator[Measurement]:
    matching, loading = fig7h(ASKED, _silent).lines, fig7i(ASKED, _silent).lines
    wide = fig7h(replace(ASKED, counts=ASKED.counts[-1:], workload="wide"), _silent).lines
    ends = {name: line.means[-1] for name, line in matching.items()}
    yield at_most("node_fnifs_against_fnif_at_1000", ends["fnifs"], ends["fnif"], 1.1)
    yield at_most("node_fnifc_against_fnif_at_1000", ends["fnifc"], ends["fnif"], 0.5)
    yield at_most("node_fip_against_fnif_at_1000", ends["fip"], ends["fnif"], 1.0)
    yield at_most(
        "node_wide_fnifs_against_fnif_at_1000", wide["fnifs"].means[-1], wide["fnif"].means[-1], 0.5
    )
    tests = "feature tests"
    for name, lines, goal in (("paper", matching, 0.35), ("wide", wide, 0.05)):
        ours, peer = lines["fnifs"].work[tests][-1], lines["fnif"].work[tests][-1]
        yield at_most(f"node_{name}_fnifs_feature_tests_counted", ours, peer, goal)
    loads = {name: line.means[-1] for name, line in loading.items()}
    yield at_least("node_fip_load_against_fnif_at_1000", loads["fip"], loads["fnif"], 1.0)


def _growth(line: Line) -> float:
    return line.means[-1] / line.means[0]


def _silent(step: str) -> None:
    """Do nothing."""
