"""Delivery: how many of the expected deliveries arrived, by group, language and subscription, and how fairly.

The definitions are in `pair_figures.py`, the frames in `metrics/delivery.py`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import DataFrame, Row

from plugins.registry import name_of_language
from spark_analysis import json_keys
from spark_analysis.answers import Analysis
from spark_analysis.languages import languages_of
from spark_analysis.metrics.delivery import pairs, tally
from spark_analysis.metrics.estimates import (
    DELIVERED,
    EXPECTED_PAIRS,
    NOTHING,
    collected,
    estimates,
    life_table,
    watched_delays,
)
from spark_analysis.metrics.expected import SubscriptionRevision
from spark_analysis.number_format import number_text, share_text
from spark_analysis.pair_figures import DeliveryCounts, PairFigures
from spark_analysis.question import Question, RunContext, Section, name_of
from spark_analysis.rendering.html import paragraph, scrolling, table

_HEAD: Final = (
    "expected",
    "delivered",
    "open",
    "missed",
    "lost",
    "withdrawn",
    "ratio",
    "of whole lifetimes",
)
_EXPLANATION: Final = (
    "A delivery is expected if the event falls into the lifetime of a subscription and the notification "
    "matches it. Expected deliveries are computed from subscriptions and notifications alone, independently "
    "of the network. “Open” deliveries had not arrived by the end of the run and still had time; “missed” "
    "ones expired. Readings that never left their source, because no subscription had reached it, are not "
    "counted here but under Completeness."
)


@dataclass(frozen=True, slots=True)
class SubscriptionDelivery:
    """The delivery counts of one subscription revision."""

    subscriber: str
    id: int
    seq: int
    language: int
    document: str | None
    """None if the subscription was generated."""
    served: DeliveryCounts


@dataclass(frozen=True, slots=True)
class GroupDelivery:
    """The delivery counts of the subscribers of one group."""

    group: str
    served: DeliveryCounts


@dataclass(frozen=True, slots=True)
class LanguageDelivery:
    """The delivery counts of the notifications in one language; the subscriptions may be in another one."""

    language: int
    served: DeliveryCounts


@dataclass(frozen=True, slots=True)
class Delivery:
    """Expected deliveries and their outcomes, as pairs of notification and subscriber.

    `repeated` and `unexpected` count violations: deliveries that were repeated, or that matched no
    subscription.
    """

    total: DeliveryCounts
    repeated: int
    unexpected: int = field(metadata=json_keys.UNEXPECTED_DELIVERIES)
    by_group: tuple[GroupDelivery, ...]
    by_language: tuple[LanguageDelivery, ...]
    by_subscription: tuple[SubscriptionDelivery, ...]


@dataclass(frozen=True, slots=True)
class Fairness:
    """How equally subscribers or groups were served: Jain's index of their ratios, the least and the largest
    ratio.
    """

    jain: float | None
    least: float | None
    largest: float | None

    @classmethod
    def of(cls, ratios: Iterable[float | None]) -> "Fairness":
        """Return the fairness of these ratios; None ratios (nothing expected) are ignored.

        The index (Jain, Chiu and Hawe 1984) is (Σx)² / (n·Σx²): 1 if all are served equally, 1/n if one gets
        everything. None if nothing was delivered.
        """
        known = [ratio for ratio in ratios if ratio is not None]
        squares = sum(ratio * ratio for ratio in known)
        jain = sum(known) ** 2 / (len(known) * squares) if squares else None
        return cls(jain, min(known, default=None), max(known, default=None))


def kept_outcomes(context: RunContext) -> DataFrame:
    """Return the outcome of every expected delivery, cached."""
    return context.cache(context.run.outcomes(context.revisions, context.copies()))


def tallied(context: RunContext) -> list[Row]:
    """Return the counts that all figures of this question are sums of: a few rows per revision."""
    return context.once(kept_outcomes).transform(tally).collect()


def pair_figures_of(context: RunContext) -> PairFigures:
    """Return counts and delays of all pairs."""
    times = context.once(kept_outcomes).transform(pairs).transform(watched_delays, context.end_ms)
    curves = collected(times.transform(life_table).transform(estimates))
    total = context.once(collect).total
    return PairFigures(total, curves.get(EXPECTED_PAIRS, NOTHING), curves.get(DELIVERED, NOTHING))


def collect(context: RunContext) -> Delivery:
    languages = languages_of(context.run.manifest)
    plain = tuple(one for one in context.revisions if not languages.composes(one.language))
    return delivery_of(context.once(tallied), plain, context.nodes)


def delivery_of(
    rows: Iterable[Row], revisions: tuple[SubscriptionRevision, ...], nodes: Mapping[int, Mapping[str, Any]]
) -> Delivery:
    """Return the answer from the rows of `tallied`."""
    expected = [row for row in rows if not row["unexpected"]]
    pairs = [row for row in expected if row["first"]]
    seen = [row for row in rows if row["first"]]
    groups = _grouped(pairs, lambda row: _group(nodes, row["subscriber"]))
    languages = _grouped(pairs, lambda row: row["language"])
    single = _grouped(expected, lambda row: (row["subscriber"], row["id"], row["seq"]))
    return Delivery(
        total=_sum(pairs),
        repeated=sum(row["expected"] for row in seen if row["repeated"]),
        unexpected=sum(row["expected"] for row in seen if row["unexpected"]),
        by_group=tuple(GroupDelivery(group, served) for group, served in sorted(groups.items())),
        by_language=tuple(LanguageDelivery(which, served) for which, served in sorted(languages.items())),
        by_subscription=tuple(
            SubscriptionDelivery(
                subscriber=name_of(nodes, revision.subscriber),
                id=revision.id,
                seq=revision.seq,
                language=revision.language,
                document=revision.document,
                served=single.get(
                    (revision.subscriber, revision.id, revision.seq), DeliveryCounts(0, 0, 0, 0, 0)
                ),
            )
            for revision in revisions
        ),
    )


def fairness_of(rows: Iterable[Row], nodes: Mapping[int, Mapping[str, Any]] | None = None) -> Fairness:
    """Return the fairness over subscribers from the rows of `tallied`; with `nodes`, over groups."""
    pairs = [row for row in rows if row["first"] and not row["unexpected"]]
    if nodes is None:
        served = _grouped(pairs, lambda row: row["subscriber"])
    else:
        served = _grouped(pairs, lambda row: _group(nodes, row["subscriber"]))
    return Fairness.of(one.ratio for one in served.values())


def collect_fairness(context: RunContext) -> Fairness:
    return fairness_of(context.once(tallied))


def collect_group_fairness(context: RunContext) -> Fairness:
    return fairness_of(context.once(tallied), context.nodes)


def _group(nodes: Mapping[int, Mapping[str, Any]], node: int) -> str:
    return str(nodes[node]["group"]) if node in nodes else ""


def _grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, DeliveryCounts]:
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return {name: _sum(its) for name, its in found.items()}


_COUNTS: Final = ("expected", "delivered", "missed", "open", "whole_delivered", "lost", "withdrawn")


def _sum(rows: Iterable[Row]) -> DeliveryCounts:
    counts = dict.fromkeys(_COUNTS, 0)
    for row in rows:
        for name in _COUNTS:
            counts[name] += row[name]
    return DeliveryCounts(**counts)


def sections(delivery: Delivery, analysis: Analysis) -> Iterable[Section]:
    yield Section(
        place=10,
        id="arrived",
        title="Delivery",
        html=paragraph(_EXPLANATION)
        + scrolling(_delivery_table(delivery))
        + paragraph(_fairness_text(delivery, analysis.fairness, analysis.fairness_of_groups)),
    )
    yield Section(
        place=180,
        id="subscriptions",
        title="Subscriptions",
        html=scrolling(_subscription_table(delivery)),
        is_long=True,
    )


def _delivery_table(delivery: Delivery) -> str:
    rows = [(group.group, *_cells(group.served)) for group in delivery.by_group]
    if len(rows) != 1:
        rows.append(("all", *_cells(delivery.total)))
    tables = table("Pairs of notification and subscriber, by group", ("subscribers", *_HEAD), rows)
    if len(delivery.by_language) > 1:
        tables += table(
            "By the language of the notification; the subscription may be in another one",
            ("notifications in", *_HEAD),
            [(name_of_language(one.language), *_cells(one.served)) for one in delivery.by_language],
        )
    return tables


def _subscription_table(delivery: Delivery) -> str:
    return table(
        "Expected deliveries of each subscription revision",
        ("subscriber", "subscription", *_HEAD),
        [
            (
                one.subscriber,
                f"{one.document or _generated(one.language)} ({one.id}, revision {one.seq})",
                *_cells(one.served),
            )
            for one in delivery.by_subscription
        ],
        text_columns=(1,),
    )


def _generated(language: int) -> str:
    return f"{name_of_language(language)}, generated"


def _cells(served: DeliveryCounts) -> tuple[str, ...]:
    counts = (served.expected, served.delivered, served.open, served.missed, served.lost, served.withdrawn)
    return (
        *(number_text(count) for count in counts),
        share_text(served.ratio),
        share_text(served.whole_ratio),
    )


def _fairness_text(delivery: Delivery, single: Fairness, groups: Fairness) -> str:
    if single.jain is None:
        return ""
    text = (
        f"Subscribers received between {share_text(single.least)} and {share_text(single.largest)} of their "
        f"expected deliveries; Jain’s fairness index over subscribers is {single.jain:.3f} (1 is equal)."
    )
    if len(delivery.by_group) > 1 and groups.jain is not None:
        text += f" Over groups it is {groups.jain:.3f}."
    return text


DELIVERY: Final = Question(name="delivery", place=20, collect=collect, sections=sections)
FAIRNESS: Final = Question(name="fairness", place=80, collect=collect_fairness)
GROUP_FAIRNESS: Final = Question(name="fairness_of_groups", place=90, collect=collect_group_fairness)
