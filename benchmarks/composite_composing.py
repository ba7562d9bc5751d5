"""What composing costs beside judging the primitives, which every notification is judged by anyway."""

import time
from collections.abc import Callable, Iterator, Sequence

from benchmarks import composite_workload as workload
from benchmarks.measurement import Measurement, at_most, beside
from studio.experiments.composite.costs import late_times

SHARE = 0.01
READINGS = 300
WARM = 80
MICROSECOND = 1e-6


def measure() -> Iterator[Measurement]:
    """Compose 1,000 and 4,000 chains of three; then let events come late."""
    mission = workload.table()
    for count in (1_000, 4_000):
        chains = workload.chains(count, SHARE, 1)
        vectors = workload.readings(READINGS, 2)
        composer = workload.composer([body for body, _ in chains], mission)
        judge = workload.judge([one for _, own in chains for one in own], mission)
        judging = _each(vectors, lambda place, vector, judge=judge: judge.match(vector, 0, 0))
        made = 0

        def feed(place: int, vector: bytes, composer=composer) -> None:  # type: ignore[no-untyped-def]
            nonlocal made
            made += len(composer.feed(3 << 32 | place, 1, vector, 1000 * place, 0))

        composing = _each(vectors, feed) - judging
        yield at_most(
            f"composing_us_beside_judging_{count}", composing / MICROSECOND, judging / MICROSECOND, 0.5
        )
        yield at_most(
            f"searches_a_reading_per_pattern_{count}", composer.finder.searches / READINGS, count, 0.02
        )
        yield beside(f"composites_made_a_reading_{count}", made / READINGS, 1.0)
    in_order, late = late_times(10_000, 1)
    yield at_most("late_event_beside_one_in_order_at_10000_held", late, in_order, 10.0)


def _each(vectors: Sequence[bytes], act: Callable[[int, bytes], object]) -> float:
    """Return processor seconds a vector, the first ones left out."""
    for place, vector in enumerate(vectors[:WARM]):
        act(place, vector)
    with workload.undisturbed():
        begin = time.process_time()
        for place, vector in enumerate(vectors[WARM:], WARM):
            act(place, vector)
        return (time.process_time() - begin) / (len(vectors) - WARM)
