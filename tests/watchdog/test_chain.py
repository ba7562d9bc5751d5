"""The chain of one cell a state: exact beside the stacks, for ends, for consumption, and for states."""

from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.composite.finder import Finder
from plugins.composite.model import wait_class as usual_wait_class
from plugins.composite.progress import Progress
from plugins.composite.vectors import Prediction
from plugins.composite.whole import WholeStream
from plugins.fuzzy.language import FUZZY
from plugins.fuzzy.vectors import NotificationVector, encode_notification
from tests.plugins.composite.letter_streams import TABLE, VALUES, compiled, looked_for
from watchdog.chain import Chain, beta, wait_class

CHAINS = st.lists(st.sampled_from("dsl"), min_size=1, max_size=5)
JOINS = st.integers(0, 15)
STREAMS = st.lists(
    st.tuples(st.sampled_from("dddsslo"), st.sampled_from((0, 1, 1, 2, 7)), st.integers(0, 6)), max_size=14
)


def pattern_of(chain: list[str], joins: int) -> str:
    text = chain[0]
    for place, letter in enumerate(chain[1:]):
        text += (", " if joins >> place & 1 else "; ") + letter
    return text


def readings_of(stream: list[tuple[str, int, int]], begin: int) -> list[tuple[str, int, int]]:
    """Return letters with numbers and seconds; one in seven readings is lost."""
    found = []
    number, second = begin, begin
    for letter, later, lost in stream:
        number += 1 + (lost == 6)
        second += later
        found.append((letter, number, second))
    return found


def notification(letter: str, number: int, second: int) -> bytes:
    values, attributes = (bytes((VALUES[letter], 0)), (0, 1)) if letter in VALUES else (bytes(1), (1,))
    return encode_notification(
        NotificationVector(number % 65536, 95, second % 65536, 0, values, 3, attributes)
    )


def satisfied_by(chain: list[str], letter: str) -> int:
    return sum(1 << place for place, wanted in enumerate(chain) if wanted == letter)


@settings(max_examples=300, deadline=None)
@given(CHAINS, JOINS, STREAMS, st.integers(1, 12), st.sampled_from((0, 65_530)), st.booleans())
def test_a_chain_ends_where_the_stacks_do(chain, joins, stream, window, begin, is_first) -> None:
    joins &= (1 << len(chain) - 1) - 1
    select = "first" if is_first else "ends"
    one = looked_for(compiled(pattern_of(chain, joins), f'window="PT{window}S" select="{select}"'))
    whole = WholeStream(TABLE, FUZZY.matcher)
    whole.watch(one)
    machine = Chain(len(chain), joins, window, is_first)
    ended = []
    for letter, number, second in readings_of(stream, begin):
        whole.take(1, notification(letter, number, second), 1000 * second)
        if machine.feed(satisfied_by(chain, letter), number % 65536, second % 65536):
            ended.append(number % 65536)
    assert ended == [found.end.number for found, _ in whole.matches(one)]


@settings(max_examples=200, deadline=None)
@given(CHAINS, JOINS, STREAMS, st.integers(1, 12))
def test_its_states_are_those_of_a_source(chain, joins, stream, window) -> None:
    joins &= (1 << len(chain) - 1) - 1
    one = looked_for(compiled(pattern_of(chain, joins), f'window="PT{window}S"'))
    whole = WholeStream(TABLE, FUZZY.matcher)
    whole.watch(one)
    progress = Progress(one, Finder())
    machine = Chain(len(chain), joins, window, True)
    for letter, number, second in readings_of(stream, 0):
        event = whole.take(1, notification(letter, number, second), 1000 * second)
        steps = list(progress.advance(event))
        machine.feed(satisfied_by(chain, letter), number, second)
        assert machine.state(number) == (steps[0].mask if steps else 0)


def test_waits_are_counted_as_everywhere() -> None:
    assert [wait_class(n) for n in range(600)] == [usual_wait_class(n) for n in range(600)]


@given(
    st.dictionaries(st.integers(1, 32767), st.binary(min_size=8, max_size=8), max_size=20), st.integers(0, 7)
)
def test_a_model_is_looked_up(model: dict[int, bytes], wait: int) -> None:
    rows = tuple(sorted(model.items()))
    table = b"".join(state.to_bytes(2, "big") + betas for state, betas in rows)
    usual = Prediction(128, 0, 5, rows)
    for state in [*model, 0, 32767]:
        assert beta(table, state, wait) == (usual.beta(state, wait) or 0)
