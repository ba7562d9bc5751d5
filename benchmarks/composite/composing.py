"""What composing costs beside judging the primitives, which every notification is judged by anyway.

Judging is compiled by Numba in either form; composing is compiled where the engine is, and Python else.
Judging is what a matcher takes to say what a notification matches. A composer asks for degrees alone: that is
less work; what it spares there counts for it here, so what it takes beyond that stands beside it, without a
goal.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from benchmarks.composite import workload as workload
from benchmarks.engine_forms import EARLIER, forms
from benchmarks.measurement import Measurement, at_most, beside
from benchmarks.sizes import sized
from dens_experiments.composite.costs import late_times
from plugins.language import Composer, grades_of

SHARE = 0.01
READINGS = sized(300, 20)
WARM = sized(80, 5)
REPETITIONS = sized(5, 1)
MICROSECOND = 1e-6
_PROGRAM: Final = "from benchmarks.composite.composing import main; main()"


def measure() -> Iterator[Measurement]:
    """Compose 1,000 and 4,000 chains of three; then let events come late."""
    for form in forms():
        if form.name == EARLIER:
            continue
        for count in (1_000, 4_000):
            feeding, judging, grading, searches, made = form.run(_PROGRAM, str(count))
            name = f"composing_us_beside_judging_{count}_{form.name}"
            yield at_most(name, feeding - judging, judging, 0.5)
            yield beside(f"composing_us_beside_degrees_alone_{count}_{form.name}", feeding - grading, grading)
        yield at_most(f"searches_a_reading_per_pattern_{form.name}", searches, count, 0.02)
        yield beside(f"composites_made_a_reading_{form.name}", made, 1.0)
        late, in_order = form.run(_PROGRAM, "late")
        yield at_most(f"late_event_beside_one_in_order_at_10000_held_{form.name}", late, in_order, 10.0)


def main() -> None:
    """Print the time of composing in the form (compiled or not) of this process."""
    found: Sequence[float]
    if sys.argv[1] == "late":
        in_order, late = late_times(10_000, 1)
        found = late, in_order
    else:
        found = _composed(int(sys.argv[1]))
    sys.stdout.write(json.dumps(found) + "\n")


def _composed(count: int) -> tuple[float, float, float, float, float]:
    """Return microseconds a reading of feeding a composer, of judging and of asking for degrees alone, each
    the median of several passes; then how many searches and composites a reading takes.
    """
    mission = workload.table()
    chains = workload.chains(count, SHARE, 1)
    vectors = workload.readings(READINGS, 2)
    judge = workload.judge([one for _, own in chains for one in own], mission)
    grades = grades_of(judge)
    times: list[tuple[float, float, float]] = []
    for _ in range(REPETITIONS):
        composer = workload.composer([body for body, _ in chains], mission)
        made: list[int] = []

        def feed(place: int, vector: bytes, composer: Composer = composer, made: list[int] = made) -> None:
            made.append(len(composer.feed(3 << 32 | place, 1, vector, 1000 * place, 0)))

        times.append(
            (
                _each(vectors, feed),
                _each(vectors, lambda _, vector: judge.match(vector, 0, 0)),
                _each(vectors, lambda _, vector: grades(vector, 0, 0)),
            )
        )
    feeding, judging, grading = map(statistics.median, zip(*times, strict=True))
    return feeding, judging, grading, composer.finder.searches / READINGS, sum(made) / READINGS


def _each(vectors: Sequence[bytes], act: Callable[[int, bytes], object]) -> float:
    """Return microseconds of the processor a vector, the first ones left out."""
    for place, vector in enumerate(vectors[:WARM]):
        act(place, vector)
    with workload.undisturbed():
        begin = time.process_time()
        for place, vector in enumerate(vectors[WARM:], WARM):
            act(place, vector)
        return (time.process_time() - begin) / (len(vectors) - WARM) / MICROSECOND
