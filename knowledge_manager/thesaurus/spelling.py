"""Finds known words that are similar to an unknown one.

The distance counts letters inserted, deleted, replaced, or swapped with the neighbour (optimal string
alignment). The words are scanned linearly: this runs once per misspelling, and no index has to be kept.
"""

from collections.abc import Iterable


def nearest_words(word: str, known: Iterable[str], most: int) -> list[str]:
    """Return at most `most` known words within one edit per four letters (at least one), nearest first.

    If there is none, return words that start with the given one, shortest first.
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
            slips = edit_distance(word, other, limit)
            if slips <= limit:
                near.append((slips, abs(difference), other))
    if near:
        return [other for _, _, other in sorted(near)[:most]]
    return [other for _, other in sorted(longer)[:most]]


def edit_distance(a: str, b: str, limit: int) -> int:
    """Return the edit distance of two words; a result above `limit` may be too small."""
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
