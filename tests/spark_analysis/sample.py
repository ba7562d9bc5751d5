"""Answers made up for tests of the page: plausible, and not computed by anything that is tested."""

import math
from typing import Any

from spark_analysis.answers import Analysis
from spark_analysis.catalogue.metric import Measured
from spark_analysis.matching_figures import MatchingWork
from spark_analysis.metrics.truth import GroundTruth
from spark_analysis.pair_figures import DeliveryCounts
from spark_analysis.questions.buffers import Holding
from spark_analysis.questions.contacts import Contacts, Times
from spark_analysis.questions.delay import Delay, HopsDelay
from spark_analysis.questions.delivery import (
    Delivery,
    Fairness,
    GroupDelivery,
    LanguageDelivery,
    SubscriptionDelivery,
)
from spark_analysis.questions.energy import Energy, GroupEnergy
from spark_analysis.questions.filtering import Filtering
from spark_analysis.questions.load import GroupLoad
from spark_analysis.questions.movement import Meeting, Track
from spark_analysis.questions.partitions import Partitions
from spark_analysis.questions.radio import GivenUp, Overhead, TypeTraffic
from spark_analysis.questions.run_facts import RunFacts
from spark_analysis.questions.timeline import Timeline

METRICS = {
    "delivery_ratio": Measured(0.75, "75.0 %", "150 of 200 expected"),
    "open_ratio": Measured(0.1, "10.0 %"),
    "whole_lifetime_ratio": Measured(140 / 170, "82.4 %"),
    "delivery_estimate": Measured(0.8, "80.0 %"),
    "recall": Measured(0.5, "50.0 %"),
    "mean_delay_s": Measured(700.0, "11.7 min"),
    "median_delay_s": Measured(243.6, "4.06 min"),
    "median_owed_delay_s": Measured(455.3, "7.59 min", "of all expected"),
    "p95_delay_s": Measured(2311.0, "38.5 min"),
    "overhead_ratio": Measured(5.0, "5", "900 transfers of notifications between devices"),
    "duplicate_share": Measured(0.2, "20.0 %", "225 notifications that the device already had"),
    "bytes_per_delivery": Measured(1666.7, "1.67 kB", "bytes sent, of all message types"),
    "forwarded_share": Measured(0.15, "15.0 %", "frames that relays sent for others"),
    "mean_hops": Measured(2.5, "2.5"),
    "routing_words": Measured(1.25, "1.25"),
    "share_kept": Measured(0.976, "97.6 %", "of 5,000 readings"),
    "matching_steps": Measured(42.0, "42", "290 feature tests, 870 memberships in total"),
    "matching_s": Measured(31e-6, "31 µs"),
    "installs_spared": Measured(0.25, "25.0 %", "2 of 8, 91 B not sent"),
}


def changed(analysis: Analysis, **answers: Any) -> Analysis:
    return Analysis(**{**analysis.answers, **answers})


def sample_analysis(title: str = "Rescue at the river", *, partial: bool = False) -> Analysis:
    """Return answers as a run of two hours might give them."""
    quantiles = tuple(20 * math.exp(i / 20) for i in range(101))
    within = tuple(20 * math.exp(i / 16) if i <= 80 else None for i in range(101))
    curve = tuple((10 ** (i / 20), math.exp(-((i / 30) ** 2))) for i in range(70))
    return Analysis(
        run=RunFacts(
            name="rescue",
            title=title,
            seed=1,
            policy="epidemic",
            partial=partial,
            end_s=7200.0,
            nodes_by_role={"mediator": 2, "publisher": 3, "subscriber": 1},
            subscriptions=2,
            notifications=120,
            devices=6,
        ),
        delivery=Delivery(
            total=DeliveryCounts(200, 150, 30, 20, 140),
            repeated=0,
            unexpected=0,
            by_group=(
                GroupDelivery("medics", DeliveryCounts(120, 100, 10, 10, 95)),
                GroupDelivery("drivers", DeliveryCounts(80, 50, 20, 10, 45)),
            ),
            by_language=(
                LanguageDelivery(0, DeliveryCounts(40, 40, 0, 0, 40)),
                LanguageDelivery(1, DeliveryCounts(160, 110, 30, 20, 100)),
            ),
            by_subscription=(
                SubscriptionDelivery("medics-0", 0, 0, 1, "fever.xml", DeliveryCounts(120, 100, 10, 10, 95)),
                SubscriptionDelivery("drivers-0", 0, 0, 1, None, DeliveryCounts(80, 50, 20, 10, 45)),
            ),
        ),
        delay=Delay(
            delivered=150,
            missed=30,
            open=20,
            estimate=0.8,
            median_s=within[50],
            watched_s=3756.0,
            within_s=within,
            mean_s=700.0,
            p50_s=quantiles[50],
            p90_s=quantiles[90],
            p95_s=quantiles[95],
            p99_s=quantiles[99],
            max_s=quantiles[100],
            quantiles_s=quantiles,
            by_hops=(HopsDelay(2, 100, 500.0), HopsDelay(3, 50, 1100.0)),
        ),
        overhead=Overhead(
            relayed=900,
            delivered=150,
            transmissions=4000,
            bytes_on_air=310_000,
            forwarded=600,
            by_type=(
                TypeTraffic("notification", 900, 90_000, 12),
                TypeTraffic("summary", 700, 81_000, 3),
                TypeTraffic("hello", 2400, 79_000, 40),
            ),
            given_up=(
                GivenUp("lost", "hello", "contact_ended", 55),
                GivenUp("expired", "receipt", "lifetime_over", 30),
            ),
            duplicates=225,
            deliveries=150,
            delivered_between_devices=150,
            frames=4000,
            forwarded_frames=600,
            forwarded_bytes=60_000,
        ),
        contacts=Contacts(
            pairs=15,
            pairs_met=13,
            contact=Times(210, 4, 64.0, 58.0, 600.0, curve),
            inter_contact=Times(190, 13, 800.0, None, 5100.0, tuple((s * 10, share) for s, share in curve)),
        ),
        filtering=Filtering(
            judged=5000,
            released=120,
            kept=4880,
            unasked=900,
            suppressed=0,
            notifications=120,
            share_kept=0.976,
            vector_bytes_judged=55_000,
            vector_bytes_kept=53_680,
            radio_s_kept=2.15,
            mean_cost_us=130.0,
        ),
        truth=GroundTruth(150, 20, 25, 5, 10, 0, 30, 60, unwanted=0, released_in_vain=3),
        fairness=Fairness(0.97, 0.625, 0.833),
        fairness_of_groups=Fairness(0.96, 0.625, 0.833),
        pieces=Partitions(
            60.0, 30, tuple([6, 5, 4] * 40), tuple([1, 2, 3] * 40), tuple(i // 5 for i in range(120))
        ),
        holding=Holding(
            60.0,
            tuple(range(120)),
            tuple(range(0, 3600, 30)),
            (None,) * 20 + tuple(1 + i / 50 for i in range(100)),
        ),
        loads=(
            GroupLoad(
                "helpers", 2, 12.5, 80, 2400, 0.0, None, MatchingWork(29, 60, 290, 870, 58, cost_us=899.0)
            ),
            GroupLoad("patients", 3, None, 0, 0, 0.65, 130.0, MatchingWork()),
        ),
        energy=Energy(
            total_j=5200.0,
            radio_j=700.0,
            j_per_delivery=34.67,
            radio_j_per_delivery=4.67,
            by_group=(
                GroupEnergy("mediator", "helpers", 2, 3000.0, 500.0, 20.0, 0),
                GroupEnergy("publisher", "patients", 3, 1450.0, 200.0, 30.0, 1),
            ),
            bin_s=60.0,
            idle_j=tuple(4450 * (i + 1) / 120 for i in range(120)),
            sent_j=tuple(700 * ((i + 1) / 120) ** 2 for i in range(120)),
            computed_j=tuple(50 * (i + 1) / 120 for i in range(120)),
            devices=5,
            all_devices=6,
        ),
        timeline=Timeline(60.0, tuple([2, 1] * 60 + [20]), tuple([0] * 10 + [1, 1, 2] * 37)),
        tracks=tuple(
            Track(
                f"node-{i}",
                role,
                tuple(
                    (900 + 800 * math.sin(i + t * 0.9), 700 + 600 * math.cos(1.7 * i + t * 0.55))
                    for t in range(60)
                ),
            )
            for i, role in enumerate(["mediator"] * 2 + ["publisher"] * 3 + ["subscriber"])
        ),
        composites=None,
        brokers=(),
        details=(),
        misled=(),
        metrics=METRICS,
        meetings=tuple(Meeting(400 + 9 * i, 300 + 7 * (i * 13 % 60), 3.0 * i) for i in range(100)),
    )
