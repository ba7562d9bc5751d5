"""A real node, followed and reported like a run: its trace is a run's."""

from pathlib import Path

from pyspark.sql import SparkSession

from spark_analysis.answers import analyse
from spark_analysis.live.follow import follow
from spark_analysis.live.state import LiveFigures
from spark_analysis.report.page import page
from spark_analysis.run import open_run
from tests.dens.node.mission import Mission


def once(mission: Mission, spark: SparkSession) -> LiveFigures:
    return follow(
        mission.trace, spark, lambda figures, manifest: None, window_ms=60_000, every_s=0.2, once=True
    )


def test_a_node_is_followed_over_a_kill_and_reported(spark: SparkSession, tmp_path: Path) -> None:
    mission = Mission(tmp_path)
    mission.ask(0)
    mission.go_on(2_000)
    mission.measure()
    mission.go_on(8_000)
    first = once(mission, spark)
    assert (first.subscriptions, first.whole.expected, first.whole.delivered) == (1, 1, 1)

    mission.measure()
    mission.go_on(200)
    mission.kill(after_ms=30_000)  # no subscriber could see the second one yet
    mission.begin()
    mission.go_on(2_000)
    mission.medic.unsubscribe(0, mission.now_ms)
    mission.go_on(50)
    mission.measure()  # the bed does not know yet that this one has no subscriber
    mission.go_on(10_000)
    mission.node.end(mission.now_ms)
    last = once(mission, spark)
    assert (last.subscriptions, last.notifications) == (1, len(mission.rows("notifications")))
    assert (last.whole.expected, last.whole.delivered) == (2, 2)

    analysis = analyse(open_run(mission.trace, spark))
    assert (analysis.delivery.total.expected, analysis.delivery.total.delivered) == (2, 2)
    assert analysis.run.nodes_by_role == {"mediator": 1, "publisher": 1, "subscriber": 1}
    assert not analysis.run.partial
    assert analysis.overhead.delivered == 2
    assert analysis.metrics["overhead_ratio"].value is None
    assert analysis.run.subscriptions == 1
    text = page(analysis)
    assert 'id="about-arrived"' in text
    assert "unknown for the trace of one node" in text
    # Readings and places are not known, and they are left out, in the list of questions too.
    assert not any(f"about-{id}" in text for id in ("completeness", "filter", "map"))
    assert "$" not in text
