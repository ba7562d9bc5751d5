"""Result codes of a filter host's `install` and `remove`, shared by boards, hosts and the overlay.

0 to 2 mean that the subscription is in force, 9 and 10 answer `remove`, all others refuse.
"""

INSTALLED = 0
KNOWN = 1
REPLACED = 2
STALE = 3
"""Compared with the revision that is held: none is held, the same, newer, older."""
FULL = 4
UNKNOWN_LANGUAGE = 5
BAD_VECTOR = 6
OVER = 7
WITHDRAWN = 8
REMOVED = 9
ABSENT = 10
NOT_MEASURED = 11
UNKNOWN_SOURCE = 12
SOURCE_FAILED = 13
