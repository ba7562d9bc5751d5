"""The thesis' machines: the same ends as the stacks, drawn as it draws them, and merged as in figure 6.9."""

from hypothesis import given

from plugins.composite.pattern import Joined, Leaf
from plugins.composite.search.machines import Link, Machines, Trie, chain_steps, drawn
from plugins.composite.search.watched import watched
from plugins.composite.search.whole import WholeStream
from plugins.composite.vectors import decode_body
from plugins.fuzzy.language import FUZZY
from tests.plugins.composite import oracle
from tests.plugins.composite.oracle import Asked
from tests.plugins.composite.test_oracle import LAWS, Stream, name
from tests.plugins.composite.worlds import TABLE, asked, body_of, streams


@LAWS
@given(asked(), streams())
def test_machines_end_where_the_definition_does(wanted: Asked, readings: Stream) -> None:
    body, _ = body_of(wanted)
    stream = WholeStream(TABLE, FUZZY.matcher)
    one = watched((9, 1), 0, body, decode_body(body, 1, TABLE), 1)
    stream.watch(one)
    machines = Machines(one)
    found = set()
    in_order = sorted(readings, key=lambda reading: (reading[0].second, reading[0].cls))
    for seen, vector in in_order:
        event = stream.take(seen.source, vector, 1000 * seen.second)
        for end in machines.ends(event).values():
            found.add((end.stream.source, end.event, end.number, end.stamp_s))
    events = [seen for seen, _ in readings]
    assert found == {name(end) for end in oracle.ends(wanted, events)}


def chain(operators: str, *letters: str) -> Joined | Leaf:
    """Return a; b, c as a tree: operators between letters."""
    terms: list[list[Leaf]] = [[Leaf(0)]]
    for operator in operators:
        if operator == ",":
            terms[-1].append(Leaf(0))
        else:
            terms.append([Leaf(0)])
    parts = tuple(term[0] if len(term) == 1 else Joined("next", tuple(term)) for term in terms)
    return parts[0] if len(parts) == 1 else Joined("then", parts)


def test_figure_6_9_merges_what_begins_alike() -> None:
    trie = Trie()
    apart = 0
    for number, (operators, letters) in enumerate(((";,", "abc"), (";,", "abd"), ("", "a"))):
        steps = chain_steps(chain(operators, *letters), list(letters))
        assert steps is not None
        trie.insert(steps, number)
        apart += len(steps) + 1
    assert (trie.states, apart) == (6, 10)
    assert sorted(link.label for link in trie.links()) == ["*", "a", "a", "b", "c", "d"]


def test_figure_6_8_has_three_state_machines_and_two_boolean_ones() -> None:
    inner = Joined("and", (Joined("next", (Leaf(1), Leaf(2))), Joined("next", (Leaf(3), Leaf(4)))))
    whole = Joined("then", (Leaf(0), inner, Leaf(5), Joined("or", (Leaf(6), Leaf(7)))))
    found = drawn(whole, [f"s{number}" for number in range(1, 9)])
    assert [(one.kind, one.stands_for) for one in found] == [
        ("state", "s2, s3"),
        ("state", "s4, s5"),
        ("Boolean", "y1 and y2"),
        ("Boolean", "s7 or s8"),
        ("state", "s1; y3; s6; y4"),
    ]
    master = found[-1]
    assert master.is_master
    assert Link("N1", "N1", "*") in master.links
    assert Link("N0", "N0", "*") not in master.links
