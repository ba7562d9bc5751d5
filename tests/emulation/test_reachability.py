"""Who can talk, against the plain definition: in range, both up, and on one side of every partition."""

from hypothesis import given
from hypothesis import strategies as st

from emulation.world.reachability import Reachability

DEVICES = st.integers(0, 4)
PAIRS = st.tuples(DEVICES, DEVICES).filter(lambda pair: pair[0] < pair[1])
ISLANDS = st.frozensets(DEVICES, min_size=1)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("range"), PAIRS),
        st.tuples(st.just("power"), DEVICES),
        st.tuples(st.just("cut"), ISLANDS),
        st.tuples(st.just("heal"), st.integers(0, 9)),
    )
)


@given(STEPS)
def test_who_can_talk_is_in_range_up_and_on_the_same_side(steps: list[tuple[str, object]]) -> None:
    found = Reachability()
    near: set[tuple[int, int]] = set()
    down: set[int] = set()
    islands: list[frozenset[int]] = []
    for what, which in steps:
        if what == "range" and isinstance(which, tuple):
            (found.far if which in near else found.near)(*which)
            near ^= {which}
        elif what == "power" and isinstance(which, int):
            (found.down.discard if which in down else found.down.add)(which)
            down ^= {which}
        elif what == "cut" and isinstance(which, frozenset):
            found.cut_off(which)
            islands.append(which)
        elif islands and isinstance(which, int):
            found.join(islands.pop(which % len(islands)))
        wanted = {
            (a, b)
            for a, b in near
            if not {a, b} & down and all(len({a, b} & island) != 1 for island in islands)
        }
        assert set(found.pairs()) == near
        assert set(found.talking()) == wanted
        for device in range(5):
            assert set(found.neighbours(device)) == {
                other for pair in near if device in pair for other in pair if other != device
            }
