"""What a connector remembers: new, changed, pushed out, taken back, and all of it after a restart."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.app.graphs.feed_state import MOST_PUSHED_OUT, Change, ConnectorState, load_state
from dens.config.problems import DocumentError


def entries(*names: str) -> list[tuple[str, str, str]]:
    """The newest first; a letter's place in the alphabet is its day."""
    return [(name, f"says {name}", f"2026-05-{ord(name[0]) - 96:02}") for name in names]


def subjects(state: ConnectorState) -> str:
    return "".join(item.subject for item in state.items())


def test_an_item_is_new_once_and_changed_when_it_says_something_else() -> None:
    state = ConnectorState()
    assert state.look("f", entries("b", "a")) == Change(2, 0, 0)
    assert state.look("f", entries("b", "a")) == Change(0, 0, 0)
    assert state.look("f", [("b", "says more", "2026-05-02"), *entries("a")]) == Change(0, 1, 0)
    assert [item.statements for item in state.items()] == ["says more", "says a"]


@pytest.mark.parametrize(
    ("before", "after", "left", "taken_back"),
    [
        ("cba", "dcb", "dcba", 0),  # the feed is full: a was pushed out
        ("cba", "ca", "ca", 1),  # shorter than before: b was taken back
        ("cba", "dca", "dca", 1),  # as long, but something older than b is left
        ("cba", "fed", "fedcba", 0),  # not polled for a while
        ("cba", "", "", 3),
        ("cba", "cb", "cb", 1),  # nothing pushed a out
    ],
)
def test_what_vanished_was_pushed_out_or_taken_back(
    before: str, after: str, left: str, taken_back: int
) -> None:
    state = ConnectorState()
    state.look("f", entries(*before))
    assert state.look("f", entries(*after)).taken_back == taken_back
    assert subjects(state) == left


def test_feeds_do_not_touch_each_other() -> None:
    state = ConnectorState()
    state.look("f", entries("b", "a"))
    state.look("g", entries("d"))
    assert state.look("g", []) == Change(0, 0, 1)
    assert subjects(state) == "ba"


def test_what_was_pushed_out_is_forgotten_in_the_end() -> None:
    state = ConnectorState()
    for n in range(MOST_PUSHED_OUT + 20):
        state.look("f", [(f"i{n}", "", f"{n:05}")])
    assert len(state.items()) == MOST_PUSHED_OUT + 1


def test_numbers_are_never_given_twice() -> None:
    state = ConnectorState()
    assert [state.number_of(one) for one in ("a", "b", "a")] == [1, 2, 1]
    state.numbers.pop("b")
    assert state.number_of("b") == 3


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True, max_size=4), max_size=6), st.integers(0, 5))
def test_a_restart_changes_nothing(looks: list[list[str]], at: int) -> None:
    import tempfile

    through, restarted = ConnectorState(), ConnectorState()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for place, look in enumerate(looks):
            items = entries(*sorted(look, reverse=True))
            if place == at:
                restarted.save(folder)
                restarted = load_state(folder)
            assert through.look("f", items) == restarted.look("f", items)
    assert through == restarted


@pytest.mark.parametrize("text", ["{}", "[]", "{", '{"format": 2}', '{"format": 1, "feeds": 3}'])
def test_a_state_that_is_damaged_is_refused_with_what_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(DocumentError, match="D524"):
        load_state(tmp_path)
