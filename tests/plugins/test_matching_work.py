"""Counts can be set apart for one notification, and pass guards."""

from plugins.fuzzy.language import FUZZY
from plugins.guard.guard import Guard
from plugins.guard.guarded_nodes import GuardedMatcher
from plugins.matching_work import MatchingWork, work_of


def test_what_was_done_since_is_the_difference_of_every_count() -> None:
    work = MatchingWork(1, 2, 3, 4, 5)
    before = work.taken()
    work.feature_tests += 10
    work.rows += 7
    work.judged(memberships=3, pairs=2)
    assert work.since(before) == MatchingWork(10, 3, 1, 2, 7)
    assert before == MatchingWork(1, 2, 3, 4, 5)


def test_a_guarded_matcher_of_bodies_shows_what_the_matcher_within_counts() -> None:
    from knowledge_manager.mission_table import load_mission_table

    inner = FUZZY.matcher(load_mission_table(["medical"]))
    guarded = GuardedMatcher(Guard("toy"), inner)
    before = work_of(guarded)
    assert before == MatchingWork()
    assert before is work_of(inner)


def test_a_matcher_that_counts_nothing_has_no_work() -> None:
    class Silent:
        work = "much"

    assert work_of(Silent()) is None
    assert work_of(object()) is None
