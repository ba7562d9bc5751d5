"""Random readings, patterns and subscriptions, for laws of composites."""

from hypothesis import strategies as st

from knowledge_manager.mission_table import MissionTable, load_mission_table
from plugins.board_vectors import NotificationVector, encode_notification
from plugins.composite.alternatives import Condition
from plugins.composite.pattern import Joined, Leaf, Pattern, canonical, leaves_of
from plugins.composite.vectors import CompositeBody, encode_body
from plugins.fuzzy.language import FUZZY
from tests.paths import ROOT
from tests.plugins.composite.oracle import Asked, Seen, leaves, meeting

TABLE: MissionTable = load_mission_table([str(ROOT / "tests/plugins/composite/letters.toml")])
PRIMITIVES = (
    bytes((0, 10, 40, 30, 0, 255, 127, 1, 3)),
    bytes((0, 60, 90, 30, 0, 255, 127, 1, 3)),
    bytes((0, 0, 30, 40, 0, 255, 127, 2, 3)),
    bytes((0, 150, 255, 30, 0, 255, 127, 1, 3)),
)
"""Low and high values of the first class, low ones of the second, very high ones of the first; all with the
key's attribute."""
CLASSES = (0, 0, 1, 0)
ONE_CLASS = (0, 1, 3)
"""Primitives of the first class."""


def patterns(most: int = 4, primitives: tuple[int, ...] = (0, 1, 2, 3)) -> st.SearchStrategy[tuple]:
    """Trees of all operators over these primitives with at most this many leaves."""
    leaf = st.sampled_from(primitives).map(lambda primitive: ("leaf", primitive))
    trees = st.recursive(
        leaf,
        lambda inner: st.tuples(st.sampled_from(("next", "then", "and", "or")), inner, inner),
        max_leaves=most,
    )
    return trees.filter(lambda tree: len(leaves(tree)) <= most)


def forks(most: int = 4, primitives: tuple[int, ...] = ONE_CLASS) -> st.SearchStrategy[tuple]:
    """Return patterns in which an `and` meets a `;` or a `,` on either side."""

    def shape(chosen: list[tuple], form: int, joint: str) -> tuple:
        a, b, c, *rest = chosen
        d = rest[0] if rest else None
        both = ("and", b, c) if d is None else (("and", b, c, d), ("and", b, ("then", c, d)))[form % 2]
        return (joint, a, both) if form < 4 else (joint, both, a)

    leaf = st.sampled_from(primitives).map(lambda primitive: ("leaf", primitive))
    return st.builds(
        shape,
        st.lists(leaf, min_size=3, max_size=max(3, min(most, 4))),
        st.integers(0, 5),
        st.sampled_from(("then", "then", "then", "next")),
    )


@st.composite
def asked(draw: st.DrawFn, most: int = 4, is_any: bool = False) -> Asked:
    """Return a subscription. Half of them are over one class and without a condition: what is searched fast
    is searched by code of its own.
    """
    is_plain = draw(st.booleans())
    primitives = ONE_CLASS if is_plain else (0, 1, 2, 3)
    tree = draw(st.one_of(patterns(most, primitives), forks(most, primitives)))
    count = len(leaves(tree))
    window = draw(st.integers(1, 30))
    conditions = []
    for one in range(count if not is_plain else 0):
        for other in range(one + 1, count):
            place = meeting(tree, one, other)
            if place != "or" and draw(st.integers(0, 3)) == 0:
                low = 0 if place == "and" else draw(st.integers(0, min(4, window)))
                high = draw(st.integers(low, window))
                if (low, high) != (0, window):
                    conditions.append((one, other, low, high))
    least = 17 * draw(st.sampled_from((0, 0, 6, 13)))
    return Asked(tree, tuple(conditions), window, is_any, max(1, least))


def tree_of(pattern: tuple, marks: list[int] | None = None) -> Pattern:
    """Return a nested tuple as the language's own tree, leaves marked as they are written."""
    marks = list(range(100)) if marks is None else marks
    if pattern[0] == "leaf":
        return Leaf(pattern[1], marks.pop(0))
    return Joined(pattern[0], tuple(tree_of(part, marks) for part in pattern[1:]))


def body_of(
    wanted: Asked, *, has_key: bool = False, select: str = "ends", **fields
) -> tuple[bytes, list[int]]:
    """Return a subscription as bytes, and for each of its leaves how the oracle numbers it."""
    used = sorted(set(leaves(wanted.pattern)))
    tree = canonical(_renumbered(tree_of(wanted.pattern), used))
    order = [leaf.mark for leaf in leaves_of(tree)]
    place = {mark: number for number, mark in enumerate(order)}
    conditions = []
    for one, other, low, high in wanted.conditions:
        first, second = sorted((place[one], place[other]))
        conditions.append(Condition(first, second, low, high))
    body = CompositeBody(
        0,
        wanted.least // 17,
        select,
        wanted.is_any,
        wanted.window,
        95,
        fields.pop("quiet_q", 0),
        tree,
        tuple(sorted(conditions, key=lambda c: (c.first, c.second))),
        tuple(PRIMITIVES[number] for number in used),
        ((1,) if has_key else (),) * len(used),
        **fields,
    )
    return encode_body(body, 1), order


def _renumbered(pattern: Pattern, used: list[int]) -> Pattern:
    if isinstance(pattern, Leaf):
        return Leaf(used.index(pattern.primitive), pattern.mark)
    return Joined(pattern.operator, tuple(_renumbered(part, used) for part in pattern.parts))


def notification(seen: Seen, value: int, key: int) -> bytes:
    """Return a reading as boards encode it."""
    vector = NotificationVector(
        seen.number, 95, seen.second % 65536, 0, bytes((value, key)), seen.cls, (0, 1), 1
    )
    return encode_notification(vector)


@st.composite
def streams(
    draw: st.DrawFn, most: int = 8, sources: int = 1, has_key: bool = False
) -> list[tuple[Seen, bytes]]:
    """Return readings with what they satisfy, judged by the fuzzy language alone, and as notifications."""
    matcher = FUZZY.matcher(TABLE)
    for number, primitive in enumerate(PRIMITIVES):
        matcher.add((0, number), bytes(2) + primitive)
    begin = draw(st.sampled_from((0, 5, 65_530)))
    classes = draw(st.sampled_from((0, 1)))
    numbers = draw(st.sampled_from((0, 65_533)))
    seconds = [begin] * sources
    counters: dict[tuple[int, int], int] = {}
    found = []
    for _ in range(draw(st.integers(1, most))):
        source = draw(st.integers(0, sources - 1))
        seconds[source] += draw(st.sampled_from((0, 0, 1, 1, 2, 5, 9)))
        cls = draw(st.integers(0, classes))
        number = counters.get((source, cls), numbers)
        counters[source, cls] = (number + 1 + draw(st.sampled_from((0, 0, 0, 1)))) % 65536
        value = draw(st.sampled_from((5, 20, 35, 45, 50, 55, 75, 95, 200)))
        key = draw(st.integers(0, 1)) if has_key else 7
        seen = Seen(source + 1, cls, number % 65536, seconds[source], (key,) if has_key else ())
        vector = notification(seen, value, key)
        judged = tuple((match.key[1], match.degree_u8) for match in matcher.match(vector, 0, 0))
        seen = Seen(seen.source, cls, seen.number, seen.second, seen.key, judged)
        found.append((seen, vector))
    return found
