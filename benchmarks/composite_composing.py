"""What composing costs beside judging the primitives, which every notification is judged by anyway.

Judging is compiled by Numba in either form; composing is compiled where the engine is, and Python else.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from benchmarks import composite_workload as workload
from benchmarks.engine_forms import EARLIER, forms
from benchmarks.measurement import Measurement, at_most, beside
from studio.experiments.composite.costs import late_times

SHARE = 0.01
READINGS = 300
WARM = 80
MICROSECOND = 1e-6
_PROGRAM: Final = "from benchmarks.composite_composing import main; main()"


def measure() -> Iterator[Measurement]:
    """Compose 1,000 and 4,000 chains of three; then let events come late."""
    for form in forms():
        if form.name == EARLIER:
            continue
        for count in (1_000, 4_000):
            composing, judging, searches, made = form.run(_PROGRAM, str(count))
            name = f"composing_us_beside_judging_{count}_{form.name}"
            yield at_most(name, composing / MICROSECOND, judging / MICROSECOND, 0.5)
        yield at_most(f"searches_a_reading_per_pattern_{form.name}", searches, count, 0.02)
        yield beside(f"composites_made_a_reading_{form.name}", made, 1.0)
        late, in_order = form.run(_PROGRAM, "late")
        yield at_most(f"late_event_beside_one_in_order_at_10000_held_{form.name}", late, in_order, 10.0)


def main() -> None:
    """Tell what composing takes in the form of this process: that many chains, or events that come late."""
    found: Sequence[float]
    if sys.argv[1] == "late":
        in_order, late = late_times(10_000, 1)
        found = late, in_order
    else:
        found = _composed(int(sys.argv[1]))
    sys.stdout.write(json.dumps(found) + "\n")


def _composed(count: int) -> tuple[float, float, float, float]:
    """Return seconds a reading of composing and of judging, and how many searches and composites it takes."""
    mission = workload.table()
    chains = workload.chains(count, SHARE, 1)
    vectors = workload.readings(READINGS, 2)
    composer = workload.composer([body for body, _ in chains], mission)
    judge = workload.judge([one for _, own in chains for one in own], mission)
    judging = _each(vectors, lambda _, vector: judge.match(vector, 0, 0))
    made: list[int] = []

    def feed(place: int, vector: bytes) -> None:
        made.append(len(composer.feed(3 << 32 | place, 1, vector, 1000 * place, 0)))

    composing = _each(vectors, feed) - judging
    return composing, judging, composer.finder.searches / READINGS, sum(made) / READINGS


def _each(vectors: Sequence[bytes], act: Callable[[int, bytes], object]) -> float:
    """Return processor seconds a vector, the first ones left out."""
    for place, vector in enumerate(vectors[:WARM]):
        act(place, vector)
    with workload.undisturbed():
        begin = time.process_time()
        for place, vector in enumerate(vectors[WARM:], WARM):
            act(place, vector)
        return (time.process_time() - begin) / (len(vectors) - WARM)
