"""Figures 7h and 7i: what matching a notification and loading subscriptions cost a DENS node."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from dens_experiments.family import Request
from dens_experiments.fuzzy import paper
from dens_experiments.fuzzy.publisher_figures import linear
from dens_experiments.fuzzy.settings import Settings, settings_of
from dens_experiments.panel import Line, Panel, Shape, verdict_of_order
from dens_experiments.sampling import Tell, Timed, timed_in_turns
from dens_experiments.tables import number
from plugins.fuzzy.matching.algorithms import ALGORITHMS, MatcherFactory
from plugins.language import Matcher
from plugins.matching_work import work_of
from watchdog.header import body_of

MATCHERS: Final = ("crisp", "fnif", "fnifs", "fnifc", "fip", "fast")
LOADED: Final = ("fnif", "fnifs", "fnifc", "fip", "fast")


def loaded(factory: MatcherFactory, condition: str, vectors: list[bytes]) -> Matcher:
    """Return a matcher that holds these subscriptions."""
    matcher = factory(None, condition, 1)
    for place, vector in enumerate(vectors):
        matcher.add((place >> 8, place & 255), body_of(vector))
    return matcher


def matching_work(matcher: Matcher, notifications: list[bytes]) -> dict[str, float]:
    """Return what one notification takes of a matcher, the mean over these."""
    work = work_of(matcher)
    if work is None:
        return {}
    before = work.taken()
    for vector in notifications:
        matcher.match(vector, 0, 0)
    spent = work.since(before)
    counts = {
        "feature tests": spent.feature_tests,
        "memberships": spent.memberships,
        "aggregations": spent.aggregations,
        "pairs": spent.pairs,
        "rows": spent.rows,
    }
    always = ("feature tests", "memberships", "aggregations")
    return {name: n / len(notifications) for name, n in counts.items() if n or name in always}


def fig7h(request: Request, tell: Tell) -> Panel:
    """Match one notification on a DENS node."""
    settings = settings_of(request)
    lines = _matched(settings, tell)
    return Panel(
        "h) matching on a DENS node",
        "subscriptions",
        "ms a notification",
        settings.counts,
        lines,
        "sorted features and covering are best (6.5 to 7 ms), FIP low too (6 to 6.5 ms)",
        (paper.SORTED_AND_COVERED, paper.INDEXED),
        _shapes(lines, settings),
        setting=settings.words(),
    )


def _matched(settings: Settings, tell: Tell) -> dict[str, Line]:
    """Measure one notification at every number of subscriptions, by every algorithm."""
    workload = settings.workload

    def prepared(count: int, seed: int) -> dict[str, Timed]:
        vectors, told = workload.subscriptions(count, seed), workload.notifications(settings.events, seed)
        ready = {}
        for name in MATCHERS:
            matcher = loaded(ALGORITHMS[name], workload.condition, vectors)
            work = matching_work(matcher, told)  # and compiles what is compiled
            ready[name] = Timed(partial(_match_all, matcher, told), len(told), work)
        return ready

    return timed_in_turns(settings.counts, settings.seeds, settings.repetitions, prepared, tell)


def _match_all(matcher: Matcher, told: list[bytes]) -> None:
    for vector in told:
        matcher.match(vector, 0, 0)


def fig7i(request: Request, tell: Tell) -> Panel:
    """Load the subscriptions of a DENS node."""
    settings = settings_of(request)

    workload = settings.workload
    for name in LOADED:  # what is compiled is compiled before it is timed
        loaded(ALGORITHMS[name], workload.condition, workload.subscriptions(settings.counts[-1], 1))

    def prepared(count: int, seed: int) -> dict[str, Timed]:
        vectors = workload.subscriptions(count, seed)
        loads = {name: partial(loaded, ALGORITHMS[name], workload.condition, vectors) for name in LOADED}
        return {name: Timed(load, 1, _structure(load())) for name, load in loads.items()}

    repetitions = 1 if request.small else settings.repetitions
    lines = timed_in_turns(settings.counts, settings.seeds, repetitions, prepared, tell)
    ends = {name: line.means[-1] for name, line in lines.items()}
    shapes = (
        Shape(
            "FIP takes long to load",
            f"FIP {number(ends['fip'])} ms, {number(ends['fip'] / ends['fnif'])} times FNIF, "
            f"{number(ends['fip'] / ends['fnifs'])} times FNIFS",
            verdict_of_order(lines[max("fnif", "fnifs", key=lambda name: ends[name])], lines["fip"]),
        ),
        Shape(
            "FIP takes longer than covering",
            f"FNIFC {number(ends['fnifc'])} ms, FIP {number(ends['fip'])} ms",
            verdict_of_order(lines["fnifc"], lines["fip"]),
            ""
            if ends["fip"] > ends["fnifc"]
            else "our forest relates every subscription with all that might cover it "
            "or be covered, across features too, and is kept in arrays that pay where they are compiled",
        ),
    )
    return Panel(
        "i) loading on a DENS node",
        "subscriptions",
        "ms in all",
        settings.counts,
        lines,
        "the loading time of FIP is large",
        shapes=shapes,
        setting=settings.words(),
    )


def _structure(matcher: Matcher) -> dict[str, float]:
    """Return what was built: roots of a covering forest, distinct predicates of an index."""
    from plugins.fuzzy.matching.fip import PredicateIndexMatcher
    from plugins.fuzzy.matching.fnifc import CoveringMatcher

    if isinstance(matcher, CoveringMatcher):
        return {"roots of the covering forest": float(len(matcher.forest.roots()))}
    if isinstance(matcher, PredicateIndexMatcher):
        predicates = {
            (attribute, *triple)
            for held in matcher
            for attribute, triple in zip(held.attributes, held.constraints, strict=True)
        }
        return {"distinct predicates": float(len(predicates))}
    return {}


def _shapes(lines: Mapping[str, Line], settings: Settings) -> tuple[Shape, ...]:
    ends = {name: line.means[-1] for name, line in lines.items()}
    steps = {
        name: sum(
            line.work.get(kind, (0.0,))[-1] for kind in ("feature tests", "memberships", "aggregations")
        )
        for name, line in lines.items()
    }

    def told(*names: str) -> str:
        return ", ".join(
            f"{name.upper()} {number(ends[name])} ms of {number(steps[name])} steps" for name in names
        )

    best = min(("fnif", "fnifs", "fnifc", "fip"), key=lambda name: ends[name])
    return (
        linear("FNIF", lines["fnif"], settings.counts),
        Shape(
            "sorted features are faster than plain ones",
            told("fnifs", "fnif"),
            verdict_of_order(lines["fnifs"], lines["fnif"], in_part=steps["fnifs"] < steps["fnif"]),
            "feature tests are spared, the cheapest of the steps; with more features (wide) most of all",
        ),
        Shape(
            "covering is faster than plain features",
            told("fnifc", "fnif"),
            verdict_of_order(lines["fnifc"], lines["fnif"], in_part=steps["fnifc"] < steps["fnif"]),
        ),
        Shape(
            "FIP is as fast as the best (6 to 6.5 beside 6.5 to 7 ms)",
            told("fip", best),
            verdict_of_order(lines["fip"], lines[best], 1.1, steps["fip"] < steps["fnif"]),
            ""
            if ends["fip"] <= 1.1 * ends[best]
            else "FIP evaluates each predicate once, whoever has it, and then tests the "
            "features of everybody it touches; XOR has spared most of those to the others",
        ),
        Shape(
            "crisp is negligible beside FNIF (NEMAN)",
            told("crisp", "fnif"),
            verdict_of_order(lines["crisp"], lines["fnif"], 0.1, ends["crisp"] < ends["fnif"]),
            "crisp values spare the slope of a membership, not feature tests and aggregation",
        ),
    )
