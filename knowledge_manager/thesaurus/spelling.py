"""Which known words are a slip of the finger away from one that is not known.

A slip is a letter too many, missing, wrong, or swapped with its neighbour (optimal string alignment). The
words are gone through one by one: a misspelling is a person's, so milliseconds are soon enough, and nothing
has to be kept in memory for it.
"""

from collections.abc import Iterable


def nearest_words(word: str, known: Iterable[str], most: int) -> list[str]:
    """Return at most `most` known words within a slip for every four letters (at least one), nearest first.

    Where nothing is that near, words that begin with what was written are taken, shortest first.
    """
    limit = max(1, len(word) // 4)
    letters = set(word)
    near: list[tuple[int, int, str]] = []
    longer: list[tuple[int, str]] = []
    for other in known:
        difference = len(other) - len(word)
        if len(word) >= 3 and difference > 0 and other.startswith(word):
            longer.append((difference, other))
        if -limit <= difference <= limit and len(letters.symmetric_difference(other)) <= 2 * limit:
            slips = slips_between(word, other, limit)
            if slips <= limit:
                near.append((slips, abs(difference), other))
    if near:
        return [other for _, _, other in sorted(near)[:most]]
    return [other for _, other in sorted(longer)[:most]]


def slips_between(a: str, b: str, limit: int) -> int:
    """Return how many slips lead from one word to the other; anything above the limit may be cut short."""
    before_last: list[int] = []
    last = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, before_last[j - 2] + 1)
            row.append(cost)
        if min(row) > limit and (not before_last or min(last) > limit):
            return limit + 1
        before_last, last = last, row
    return last[-1]
