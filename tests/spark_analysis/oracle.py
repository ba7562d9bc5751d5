"""The same questions answered in plain Python, one loop each, from the definitions alone."""

import math
from collections import defaultdict

from tests.spark_analysis.synthetic import END_MS, LIFETIME_MS, Row, SyntheticRun, Told, Wish

Pair = tuple[int, int, int]


def matches(wish: Wish, told: Told) -> bool:
    return all(
        attribute in told.values and low <= told.values[attribute] <= high
        for attribute, (low, high) in wish.intervals.items()
    )


def in_force(wish: Wish, at_ms: int) -> bool:
    if at_ms < wish.created_ms or at_ms >= wish.expires_ms:
        return False
    return wish.withdrawn_ms is None or at_ms < wish.withdrawn_ms


def is_owed(wish: Wish, told: Told) -> bool:
    return in_force(wish, told.at_ms) and matches(wish, told)


def owed_rows(run: SyntheticRun) -> set[tuple[int, int, int, int, int]]:
    return {
        (told.origin, told.number, wish.subscriber, wish.id, wish.seq)
        for told in run.told
        for wish in run.wishes
        if is_owed(wish, told)
    }


def pending_pairs(run: SyntheticRun) -> set[Pair]:
    return {(origin, number, subscriber) for origin, number, subscriber, _, _ in owed_rows(run)}


def delivered_at(run: SyntheticRun) -> dict[Pair, int]:
    found: dict[Pair, int] = {}
    for row in run.tables["messages"]:
        if row["kind"] == "delivered":
            pair = (row["origin"], row["number"], row["node"])
            found[pair] = min(row["at_ms"], found.get(pair, row["at_ms"]))
    return found


def withdrawn_at(run: SyntheticRun, pair: Pair) -> int | None:
    """Return when the last of the subscriptions of an expected pair was withdrawn."""
    [told] = [one for one in run.told if (one.origin, one.number) == pair[:2]]
    ends = [wish.withdrawn_ms for wish in run.wishes if wish.subscriber == pair[2] and is_owed(wish, told)]
    known = [end for end in ends if end is not None]
    return max(known) if len(known) == len(ends) else None


def has_copy(run: SyntheticRun, message: tuple[int, int]) -> bool:
    """Return whether any node still holds a message that nodes held."""
    held: dict[int, bool] = {}
    for row in run.tables["messages"]:
        if (row["origin"], row["number"]) == message:
            if row["kind"] in ("created", "stored", "replicated"):
                held[row["node"]] = True
            elif row["kind"] in ("dropped", "expired"):
                held[row["node"]] = False
    return any(held.values())


def outcome(run: SyntheticRun, pair: Pair) -> str:
    """Return what became of a pair."""
    [event_ms] = [one.at_ms for one in run.told if (one.origin, one.number) == pair[:2]]
    over_ms, withdrawn_ms = event_ms + LIFETIME_MS, withdrawn_at(run, pair)
    if pair in delivered_at(run):
        return "delivered"
    if withdrawn_ms is not None and withdrawn_ms < over_ms and withdrawn_ms <= END_MS:
        return "withdrawn"
    if over_ms <= END_MS:
        return "missed"
    return "open" if has_copy(run, pair[:2]) else "lost"


def is_whole(run: SyntheticRun, pair: Pair) -> bool:
    """Return whether a pair had its whole lifetime."""
    [event_ms] = [one.at_ms for one in run.told if (one.origin, one.number) == pair[:2]]
    over_ms, withdrawn_ms = event_ms + LIFETIME_MS, withdrawn_at(run, pair)
    return over_ms <= END_MS and (withdrawn_ms is None or withdrawn_ms >= over_ms)


def served(run: SyntheticRun, pairs: set[Pair]) -> tuple[int, int, int, int]:
    """Return expected, delivered, missed, open."""
    found = [outcome(run, pair) for pair in pairs]
    return len(pairs), found.count("delivered"), found.count("missed"), found.count("open")


def delays(run: SyntheticRun) -> list[int]:
    events = {(told.origin, told.number): told.at_ms for told in run.told}
    arrived = delivered_at(run)
    return sorted(arrived[pair] - events[pair[:2]] for pair in pending_pairs(run) if pair in arrived)


def nearest_rank(ordered: list[int], percent: int) -> int:
    return ordered[max(math.ceil(percent * len(ordered) / 100), 1) - 1]


def gaps(contacts: list[Row]) -> list[tuple[float, bool]]:
    """Return (time, censored) of every gap."""
    by_pair: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for row in contacts:
        by_pair[row["a"], row["b"]].append(row)
    found = []
    for rows in by_pair.values():
        rows.sort(key=lambda row: float(row["begin_ms"]))
        for i, row in enumerate(rows):
            if i + 1 < len(rows):
                found.append((rows[i + 1]["begin_ms"] - row["end_ms"], False))
            elif row["end_ms"] < END_MS:
                found.append((END_MS - row["end_ms"], True))
    return found


def survival_at(times: list[tuple[float, bool]], at_ms: float) -> float:
    """Return Kaplan and Meier's estimate from the single times, without bins."""
    alive = 1.0
    for moment in sorted({time for time, censored in times if not censored and time <= at_ms}):
        at_risk = sum(time >= moment for time, _ in times)
        ended = sum(time == moment and not censored for time, censored in times)
        alive *= 1 - ended / at_risk
    return alive
