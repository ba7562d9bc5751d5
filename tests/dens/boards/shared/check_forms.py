"""Patterns and broken-down functions release the same on every runtime, with either algorithm."""

import drawn_functions
import drawn_patterns
from strata_forms import checksums

from watchdog.codes import ALGORITHMS
from watchdog.filter import FuzzyFilter
from watchdog.pool import Pool


def released(algorithm: str, forms: "tuple[tuple[int, bytes], ...]") -> "list[int]":
    """Return the checksums of these forms with an algorithm of this name."""
    source = FuzzyFilter(pool=Pool(1, 200, 99, ALGORITHMS[algorithm]), lifetime=95)
    return checksums(source.pool, source.scan, forms)


def test_that_patterns_release_the_same() -> None:
    for name in ("fnif", "fnifs"):
        assert released(name, drawn_patterns.FORMS) == PATTERNS_RELEASE


def test_that_functions_release_the_same() -> None:
    for name in ("fnif", "fnifs"):
        assert released(name, drawn_functions.FORMS) == FUNCTIONS_RELEASE


PATTERNS_RELEASE = [649403, 897883, 530659, 3414538, 1497995, 2717971, 2934807]
FUNCTIONS_RELEASE = [898082, 1526624, 1628005, 959652, 1549565]
"""What CPython releases for each; the other runtimes must agree."""
