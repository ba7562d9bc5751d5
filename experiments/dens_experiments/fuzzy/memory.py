"""Figure 7g: the memory of what is held, and of filtering one event.

What is weighed is the structure alone.
"""

from typing import Final

from dens_experiments.family import Request
from dens_experiments.fuzzy import paper
from dens_experiments.fuzzy.node_figures import loaded
from dens_experiments.fuzzy.publisher import PublisherFilter
from dens_experiments.fuzzy.publisher_figures import FLAT
from dens_experiments.fuzzy.settings import settings_of
from dens_experiments.fuzzy.workload import Workload
from dens_experiments.held_memory import held_bytes
from dens_experiments.panel import Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, sampled
from dens_experiments.tables import number
from plugins.fuzzy.matching.algorithms import ALGORITHMS

MATCHERS: Final = ("fnif", "fnifs", "fnifc", "fip", "fast")


def matcher_kb(name: str, workload: Workload, count: int, seed: int) -> float:
    """Return the kilobytes of a matcher of a DENS node with so many subscriptions."""
    vectors = workload.subscriptions(count, seed)
    return held_bytes(lambda: loaded(ALGORITHMS[name], workload.condition, vectors)) / 1024


def pool_kb(name: str, workload: Workload, count: int, seed: int) -> float:
    """Return the kilobytes of a publisher's pool, its blocks as they lie in memory."""
    source = PublisherFilter(name, workload.condition)
    source.load(workload.subscriptions(count, seed))
    return sum(map(len, source.pool.blocks)) / 1024


def fig7g(request: Request, tell: Tell) -> Panel:
    """Weigh what is held."""
    settings = settings_of(request)
    weighed = {f"publisher, {name}": (pool_kb, name) for name in FLAT}
    weighed |= {f"DENS node, {name}": (matcher_kb, name) for name in MATCHERS}
    lines = {}
    for called, (weigh, name) in weighed.items():

        def take(count: int, seed: int, weigh=weigh, name=name) -> Sample:  # type: ignore[no-untyped-def]
            kilobytes = weigh(name, settings.workload, count, seed)
            return Sample(kilobytes, {"bytes a subscription": kilobytes * 1024 / count})

        lines[called] = sampled(called, settings.counts, settings.seeds, take, tell)
    ends = {name: line.means[-1] for name, line in lines.items()}
    room = paper.PHONE_MEMORY.high
    publisher = max(ends[f"publisher, {name}"] for name in FLAT)
    at_source = ends["publisher, fnifc"] / ends["publisher, fnif"]
    covering = ends["DENS node, fnifc"] / ends["DENS node, fnif"]
    shapes = (
        Shape(
            f"filtering and covering fit the {room:g} KB of a phone",
            f"publisher's pools at {settings.counts[-1]:,}: at most {number(publisher)} KB",
            verdict(publisher < room),
        ),
        Shape(
            "covering takes memory of its own",
            f"times FNIF's: {number(at_source)} at a publisher, {number(covering)} at a DENS node",
            verdict(at_source > 1, covering > 1),
            "a publisher keeps no forest: covered records lie behind the active ones of their block, and a "
            "block says its features once",
        ),
    )
    return Panel(
        "g) memory of what is held",
        "subscriptions",
        "KB",
        settings.counts,
        lines,
        "memory allocated for filtering and covering, on a phone of 500 KB",
        (paper.PHONE_MEMORY, *paper.FOOTPRINTS),
        shapes,
        ("Of a DENS node the Python objects are weighed, of a publisher the bytes of its pool.",),
        settings.words(),
        groups={
            "publisher": tuple(name for name in lines if name.startswith("publisher")),
            "DENS node": tuple(name for name in lines if name.startswith("DENS node")),
        },
        same_scale=True,
    )
