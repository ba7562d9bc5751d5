"""The forest of a file: what stands below what, which lines are none, and the sum."""

from plugins.authoring.output.vector_lines import LineForest
from plugins.fuzzy.relations.covering import CoveringForest


def test_a_narrower_question_stands_below_the_wider_one() -> None:
    lines = [
        "0000000000006e96280101",  # 110..150
        "",
        "00000000000064c8280101",  # 100..200 covers it
        "nonsense",
        "0000000000007882280101",  # 120..130
        "00000000000064c8280201",  # another event class
    ]
    made = LineForest(CoveringForest())
    made.insert(lines)
    assert list(made.text()) == [
        "2",
        "  0",
        "  4",
        "5",
        "4 subscriptions, 2 roots, 50% spared, deepest tree 2, largest 3",
    ]
    assert [bad.n for bad in made.bad] == [3]
