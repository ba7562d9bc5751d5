"""Counts can be set apart for one notification, and pass guards."""

from dataclasses import replace

from knowledge_manager.mission_table import load_mission_table
from plugins.fuzzy.language import FUZZY
from plugins.guard.guarded import guarded
from plugins.matching_work import MatchingWork, work_of

TABLE = load_mission_table(["medical"])


def test_what_was_done_since_is_the_difference_of_every_count() -> None:
    work = MatchingWork(1, 2, 3, 4, 5)
    before = work.taken()
    work.feature_tests += 10
    work.rows += 7
    work.judged(memberships=3, pairs=2)
    assert work.since(before) == MatchingWork(10, 3, 1, 2, 7)
    assert before == MatchingWork(1, 2, 3, 4, 5)


def test_proxy_of_another_package_shows_the_work_of_its_matcher() -> None:
    inner = FUZZY.matcher(TABLE)
    proxy = guarded(replace(FUZZY, matcher=lambda table: inner)).matcher(TABLE)
    assert work_of(proxy) == MatchingWork()
    assert work_of(proxy) is work_of(inner)


def test_a_matcher_that_counts_nothing_has_no_work() -> None:
    class Silent:
        work = "much"

    assert work_of(Silent()) is None
    assert work_of(object()) is None
