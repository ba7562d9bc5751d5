"""What each step of matching costs on the machine at hand, for a board of a scenario.

    python -m benchmarks.device_costs

prints the keys of a `[board.NAME]` table. FNIF is measured on populations that differ in one count: features
that do not fit, one to six attributes that do, pairs of degrees; `fast` about rows in columns. What a step
takes is the difference. Times are of the processor, the least of some rounds.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Final

import numpy as np

from benchmarks.measurement import Measurement, alone
from benchmarks.sizes import sized
from emulation.devices.matching_costs import MatchingCosts
from plugins.board_vectors import SubscriptionBody, encode_body
from plugins.fuzzy.matching.fast import FastMatcher
from plugins.fuzzy.matching.fnif import FlatMatcher
from plugins.language import Matcher
from watchdog.aggregators import MIN, TAKAGI_SUGENO_0
from watchdog.blocks import ONE_TABLE

SUBSCRIPTIONS: Final = 200
ROWS: Final = sized(20_000, 500)
ROUNDS: Final = sized(15, 2)
MOST: Final = 6
"""Attributes of the largest subscription; notifications have all of them, and never one more."""
_UNTOLD: Final = 6
_BILINEAR: Final = bytes([ONE_TABLE, 2, 0, 255, 0, 128, 128, 255])
"""The smallest table of rules: two regions, four constants."""

Seconds = Callable[[Callable[[], object]], float]


def measured_costs(seconds: Seconds | None = None) -> MatchingCosts:
    """Return the microseconds of each step. `seconds` says how long something took, by the processor's clock
    by default.
    """
    took = seconds or _least_seconds
    told = bytes(6) + bytes([150] * MOST) + b"\x01" + bytes([(1 << MOST) - 1])

    def each_us(matcher: Matcher, count: int) -> float:
        return 1e6 * took(lambda: matcher.match(told, 0, 0)) / count

    nothing = each_us(FlatMatcher(None), 1)

    def subscription_us(body: bytes) -> float:
        held = FlatMatcher(None)
        for number in range(SUBSCRIPTIONS):
            held.add((number >> 8, number & 255), body)
        return max(0.0, each_us(held, SUBSCRIPTIONS) - nothing / SUBSCRIPTIONS)

    feature_test = subscription_us(_subscription([_UNTOLD]))
    judged = {size: subscription_us(_subscription(range(size))) for size in (1, MOST)}
    membership = max(0.0, (judged[MOST] - judged[1]) / (MOST - 1))
    pairs = MOST * (MOST - 1) // 2
    broken_down = subscription_us(_subscription(range(MOST), TAKAGI_SUGENO_0, _BILINEAR))
    columns = FastMatcher(None, columns_from=0)
    keys = np.arange(ROWS, dtype=np.uint32)
    bodies = np.frombuffer(_subscription(range(3)) * ROWS, np.uint8).reshape(ROWS, -1)
    columns.add_all(keys, bodies)
    columns.match(told, 0, 0)
    return MatchingCosts(
        feature_test_us=feature_test,
        membership_us=membership,
        aggregation_us=max(0.0, judged[1] - membership - feature_test),
        pair_us=max(0.0, (broken_down - judged[MOST]) / pairs),
        row_us=each_us(columns, ROWS),
    )


def measure() -> Iterable[Measurement]:
    """Yield them as figures."""
    for name, microseconds in asdict(measured_costs()).items():
        yield alone(f"matching_{name}", microseconds)


def _subscription(attributes: Iterable[int], aggregator: int = MIN, block: bytes = b"") -> bytes:
    """Return a subscription that 150 comes near and does not satisfy, so that nothing is reported."""
    indexes = tuple(attributes)
    return encode_body(
        SubscriptionBody(
            stamp_s=0,
            threshold=15,
            aggregator=aggregator,
            block=block,
            constraints=((200, 220, 40),) * len(indexes),
            event=0,
            attributes=indexes,
            feature_bytes=1,
        )
    )


def _least_seconds(action: Callable[[], object]) -> float:
    return min(_seconds(action) for _ in range(ROUNDS))


def _seconds(action: Callable[[], object]) -> float:
    begin = time.process_time_ns()
    action()
    return (time.process_time_ns() - begin) / 1e9


if __name__ == "__main__":
    for name, microseconds in asdict(measured_costs()).items():
        print(f"{name} = {microseconds:.4g}")
