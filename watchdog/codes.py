"""Codes shared by boards, hosts and the overlay: results of a filter host, and filter algorithms.

Results of `install`: 0 to 2 mean that the subscription is in force, 3 to 8 and 11 to 13 refuse it. 9 and 10
are results of `remove`, as is 3.
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

FNIF = 0
FNIFS = 1
FNIFC = 2
"""The flat algorithms of the paper, without an index of predicates: subscriptions in order of arrival, sorted
by feature, and sorted with covered subscriptions skipped.
"""

ALGORITHMS = {"fnif": FNIF, "fnifs": FNIFS, "fnifc": FNIFC}
"""Algorithms by the names used in builds, scenarios and node files. All release the same notifications; their
costs differ (docs/how-to/boards.md).
"""
