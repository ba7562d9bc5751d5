"""Figures 7d and 7f: what more expressive subscriptions cost a publisher, up to 10,000 of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from dens_experiments.family import Request
from dens_experiments.fuzzy import paper
from dens_experiments.fuzzy.publisher_figures import FLAT, filtered, growth
from dens_experiments.fuzzy.settings import Settings, settings_of
from dens_experiments.fuzzy.workload import FIRST_ORDER, GENERATED, MIN, PATTERN, ZERO_ORDER, Form
from dens_experiments.panel import Panel, Shape, verdict
from dens_experiments.sampling import Tell
from dens_experiments.tables import listed, number

MANY: Final = (100, 1000, 3000, 10_000)
SMALL_MANY: Final = (100, 500, 2000)

BREAK_DOWN: Final[Mapping[str, Form]] = {
    "patterns (BFCPAB)": PATTERN,
    "rules of order 1 over pairs (BFCPA1)": FIRST_ORDER,
    "rules of order 0 over pairs (BFCPA2)": ZERO_ORDER,
}
"""The paper's three, found by FNIF as it finds flat ones."""

NARROW: Final = (
    "Predicates are narrow, so that hardly anything is satisfied and every subscription whose feature the "
    "event contains is judged: a filter ends at the first hit, and what is satisfied more easily would seem "
    "cheaper."
)


def fig7d(request: Request, tell: Tell) -> Panel:
    """Filter one event by break-down, beside the flat algorithm."""
    settings = _for_forms(settings_of(request))
    forms = {"flat, min (FNIF)": MIN, **BREAK_DOWN, "geometric mean by a generator": GENERATED}
    lines = filtered({name: ("fnif", form, False) for name, form in forms.items()}, settings, tell)
    flat = lines["flat, min (FNIF)"].means[-1]
    ratios = [lines[name].means[-1] / flat for name in BREAK_DOWN]
    patterns, *rules = ratios
    shapes = (
        Shape(
            "break-down takes about 6 times as long as flat (in NEMAN; of the phone no number is stated)",
            "rules of order 1 {}, of order 0 {} times".format(*map(number, rules)),
            verdict(min(rules) >= 4 and max(rules) <= 9, min(rules) > 2),
        ),
        Shape(
            "so do patterns",
            f"{number(patterns)} times",
            verdict(4 <= patterns <= 9, patterns > 1.5),
            "three predicates are one pair here and four are two, where rules relate three and six",
        ),
    )
    return Panel(
        "d) break-down beside flat on a publisher",
        "subscriptions",
        "ms an event",
        settings.counts,
        lines,
        "decomposition costs more; in NEMAN it took about 6 times as long",
        tuple(one for one in paper.NEMAN_FIGURES if one.at in settings.counts),
        shapes,
        (NARROW,),
        settings.words(),
    )


def fig7f(request: Request, tell: Tell) -> Panel:
    """Go on to 10,000 subscriptions, the more expressive ones too."""
    settings = _for_forms(settings_of(request, MANY, SMALL_MANY))
    kinds = {
        "crisp": ("fnif", MIN, True),
        **{name: (name, MIN, False) for name in FLAT},
        **{name: ("fnif", form, False) for name, form in BREAK_DOWN.items()},
    }
    lines = filtered(kinds, settings, tell)
    growths = [growth(line) for line in lines.values()]
    times, many = settings.counts[-1] / settings.counts[0], f"{settings.counts[-1]:,}"
    ends = {name: line.means[-1] for name, line in lines.items()}
    broken = min(ends[name] for name in BREAK_DOWN)
    shapes = (
        Shape(
            f"up to {many} subscriptions are processed",
            f"× {number(times)} in number, × {number(min(growths))} to × {number(max(growths))} in time",
            verdict(max(growths) <= 1.5 * times),
        ),
        Shape(
            "expressiveness influences how far it scales",
            f"at {many}: " + listed(ends, "ms"),
            verdict(broken > ends["fnif"], max(ends.values()) > 1.5 * ends["fnif"]),
        ),
    )
    return Panel(
        "f) scalability on a publisher",
        "subscriptions",
        "ms an event",
        settings.counts,
        lines,
        "expressiveness influences how the implementation scales to 10,000 subscriptions on a device",
        (paper.SCALES_TO,),
        shapes,
        (NARROW,),
        settings.words(),
    )


def _for_forms(settings: Settings) -> Settings:
    return replace(settings, workload=settings.workload.for_forms(PATTERN))
