"""Subscriptions and values for the tests of the language, at random."""

from hypothesis import settings
from hypothesis import strategies as st

from plugins.atopss.canonical import canonical
from plugins.atopss.shapes.scale import HALF, LAST_THRESHOLD
from plugins.atopss.shapes.shapes import ANYTHING, Shape
from plugins.atopss.subscriptions import Function, Joined, Norm, Predicate, Subscription
from tests.plugins.atopss.shapes import shapes

SOAK = 1000
"""From this number of examples on, deadlines are off."""

SUBSCRIPTION = bytes.fromhex("00008400000003020042f09738000145c0500a140a024bf55028")
PUBLICATION = bytes.fromhex("000184000000030300029260822c01007802012819")
"""The specification's example, byte for byte."""


def few(examples: int) -> settings:
    """Return this many examples, because each takes long; `make soak` has as many of all laws."""
    usual = settings.default
    is_soak = usual is not None and usual.max_examples >= SOAK
    return settings(max_examples=usual.max_examples if is_soak else examples)


SCALE = sorted({*range(0, LAST_THRESHOLD + 1, 2), HALF})
"""Every threshold, in thirtieths."""


def raised(threshold: int, steps: int) -> int:
    """Return a threshold that is this many steps higher, or the highest."""
    return SCALE[min(SCALE.index(threshold) + steps, len(SCALE) - 1)]


thresholds = st.sampled_from([0, 0, 0, 2, 10, HALF, 16, 24, 30])
"""Thresholds, often none."""


@st.composite
def predicates(draw: st.DrawFn, *, most: int = 4, weighted: bool = False, curved: bool = True) -> Predicate:
    """Predicates on few attributes, so that they meet."""
    shape = draw(shapes(curved=curved))
    complement = shape != ANYTHING and draw(st.sampled_from([False, False, True]))
    weight = draw(st.integers(1, 9)) if weighted else 0
    return Predicate(
        draw(st.integers(0, most - 1)), shape, complement, draw(thresholds), draw(thresholds), weight
    )


def functions(leaves: st.SearchStrategy[Predicate]) -> st.SearchStrategy[Function]:
    """Any Boolean function."""
    grown: st.SearchStrategy[Function] = st.recursive(
        leaves,
        lambda inner: st.builds(
            Joined, st.booleans(), st.lists(inner, min_size=2, max_size=3).map(lambda parts: tuple(parts))
        ),
        max_leaves=6,
    )
    return grown


@st.composite
def subscriptions(
    draw: st.DrawFn, *, curved: bool = True, norms: tuple[Norm, ...] = tuple(Norm), events: int = 1
) -> Subscription:
    """Subscriptions of every form and norm."""
    norm = draw(st.sampled_from(norms))
    leaves = predicates(weighted=norm == Norm.WEIGHTED_AVERAGE, curved=curved)
    if norm.is_mean:
        function: Function = Joined(False, tuple(draw(st.lists(leaves, min_size=1, max_size=4))))
    else:
        function = draw(functions(leaves))
    return canonical(
        draw(st.integers(0, events - 1)),
        function,
        norm,
        possibility=draw(thresholds),
        necessity=draw(thresholds),
    )


def values(*, most: int = 4, curved: bool = True) -> st.SearchStrategy[dict[int, Shape]]:
    """The given values of some attributes."""
    return st.dictionaries(st.integers(0, most - 1), shapes(curved=curved), min_size=1)
