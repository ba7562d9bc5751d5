"""States of a pattern along letters: walked, counted, and as a chain."""

from collections import Counter
from fractions import Fraction

from plugins.board_vectors import NotificationVector, encode_notification
from plugins.composite.prediction.model import Counted
from plugins.composite.prediction.prediction import Horizon
from plugins.composite.search.finder import Finder
from plugins.composite.search.progress import Progress
from plugins.composite.search.whole import WholeStream
from plugins.composite.vectors import READINGS, Prediction
from plugins.fuzzy.language import FUZZY
from tests.plugins.composite.letter_streams import TABLE, VALUES, compiled, looked_for

COMPLETED = -1


def walk(pattern: str, letters: str, attributes: str = 'window="PT10M"') -> list[tuple[int, bool, object]]:
    """Return after each letter the state, whether something was completed, and the step itself."""
    one = looked_for(compiled(pattern, attributes))
    stream = WholeStream(TABLE, FUZZY.matcher)
    stream.watch(one)
    progress = Progress(one, Finder())
    found = []
    for number, letter in enumerate(letters):
        values = bytes((VALUES[letter], 0)) if letter in VALUES else bytes((9,))
        attributes_told = (0, 1) if letter in VALUES else (1,)
        vector = encode_notification(NotificationVector(number, 95, number, 0, values, 3, attributes_told))
        event = stream.take(1, vector, 1000 * number)
        steps = [step for step in progress.advance(event) if step.key == b""]
        mask = steps[0].mask if steps else 0
        found.append((mask, bool(steps and steps[0].completed), steps[0] if steps else None))
    return found


def state_walk(pattern: str, shares: dict[str, Fraction]) -> tuple[list[int], dict[int, dict[int, Fraction]]]:
    """Return the states that are reached with letters drawn independently, and the chain of them."""
    words = {0: ""}
    chain: dict[int, dict[int, Fraction]] = {}
    waiting = [0]
    while waiting:
        state = waiting.pop(0)
        row: dict[int, Fraction] = {}
        for letter, share in shares.items():
            mask, completed, _ = walk(pattern, words[state] + letter)[-1]
            to = COMPLETED if completed else mask
            row[to] = row.get(to, Fraction(0)) + share
            if to != COMPLETED and to not in words:
                words[to] = words[state] + letter
                waiting.append(to)
        chain[state] = row
    chain[COMPLETED] = {COMPLETED: Fraction(1)}
    return list(words), chain


def departures(pattern: str, letters: str) -> dict[int, tuple[int, ...]]:
    """Return how often each state was left to which (nothing, first, both, completed)."""
    counts: Counter[tuple[int, int]] = Counter()
    state = 0
    for mask, completed, _ in walk(pattern, letters):
        counts[state, COMPLETED if completed else mask] += 1
        state = mask
    return {state: tuple(counts[state, to] for to in (0, 1, 3, COMPLETED)) for state in (0, 1, 3)}


def counted_states(pattern: str, letters: str, horizon: int) -> Counted:
    """Return the counts of a model without a prior."""
    counting = Horizon(Prediction(128, READINGS, horizon))
    for number, (_, _, step) in enumerate(walk(pattern, letters), start=1):
        counting.note(() if step is None else (step,), number, number)
    return counting.finish()
