"""Counts the model of a prediction in past streams."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dens.config.refusal import Refusal
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from plugins.authoring import Authoring, CompileOptions
from plugins.authoring.streams import StreamReading
from plugins.composite.authoring.compiler import compile_composite
from plugins.composite.authoring.stream import notification_of
from plugins.composite.prediction.model import Counted, Model, horizon_document, subject_of
from plugins.composite.prediction.prediction import Horizon
from plugins.composite.search.finder import Finder
from plugins.composite.search.progress import Progress, Step
from plugins.composite.search.watched import watched
from plugins.composite.search.whole import WholeStream
from plugins.composite.vectors import CompositeBody, Prediction, constraints_of, decode_body
from plugins.language import MatcherFactory


def learner(
    source: bytes,
    file: str,
    table: MissionTable,
    thesaurus: Thesaurus | None,
    atoms: Authoring,
    judge: MatcherFactory,
    namespace: str,
) -> "CompositeLearner":
    """Return a learner for a document. A document without a prediction is refused."""
    made = compile_composite(
        source, file, table, atoms, namespace, CompileOptions(thesaurus=thesaurus), is_learning=True
    )
    body = decode_body(made.body, table.feature_bytes, table)
    if body.prediction is None:
        raise Refusal(
            f"{file} has no <predict>, so there is nothing to learn; add a horizon and a probability"
        )
    return CompositeLearner(made.body, table, judge)


@dataclass(frozen=True, slots=True)
class CompositeLearner:
    """Counts, along streams, whether each state was completed in time."""

    body: bytes
    table: MissionTable
    judge: MatcherFactory

    @property
    def _parts(self) -> CompositeBody:
        return decode_body(self.body, self.table.feature_bytes, self.table)

    @property
    def _wanted(self) -> Prediction:
        wanted = self._parts.prediction
        assert wanted is not None  # `learner` creates no other
        return wanted

    @property
    def events(self) -> frozenset[int]:
        """Return the event classes of the primitives."""
        width = self.table.feature_bytes
        return frozenset(constraints_of(one, width).event for one in self._parts.primitives)

    def steps(self, readings: Sequence[StreamReading]) -> Iterator[tuple[StreamReading, list[Step]]]:
        """Yield the steps of each reading of one source."""
        one = watched((0, 0), 0, self.body, self._parts, self.table.feature_bytes)
        stream = WholeStream(self.table, self.judge)
        stream.watch(one)
        progress = Progress(one, Finder())
        for reading in readings:
            if reading.event in progress.classes:
                vector = notification_of(reading, self.table)
                event = stream.take(reading.source, vector, 1000 * reading.second)
                yield reading, list(progress.advance(event))

    def count(self, readings: Sequence[StreamReading]) -> dict[str, int]:
        horizon = Horizon(self._wanted)
        for number, (reading, steps) in enumerate(self.steps(readings), start=1):
            horizon.note(steps, number, reading.second)
        counted = horizon.finish()
        found = {f"visits {mask} {wait}": times for (mask, wait), times in counted.visits.items()}
        found |= {f"completions {mask} {wait}": times for (mask, wait), times in counted.completions.items()}
        return {**found, "undecided": counted.undecided}

    def model(self, counts: Mapping[str, int]) -> Model:
        counted = Counted(undecided=counts.get("undecided", 0))
        for name, times in counts.items():
            what, *place = name.split()
            if what != "undecided":
                state = int(place[0]), int(place[1])
                (counted.visits if what == "visits" else counted.completions)[state] = times
        wanted = self._wanted
        subject = subject_of(self._parts, self.table.feature_bytes)
        return Model(subject, wanted.unit, wanted.horizon, counted)

    def written(self, counts: Mapping[str, int]) -> bytes:
        """Return the model as the file that a document refers to."""
        return self.model(counts).written()

    def summary(self, counts: Mapping[str, int]) -> dict[str, Any]:
        """Return the amount of data, and the highest probability of the model."""
        model = self.model(counts)
        counted = model.counted
        table = counted.table()
        return {
            "horizon": horizon_document(model.unit, model.horizon),
            "states": len(table),
            "visits": sum(counted.visits.values()),
            "completions": sum(counted.completions.values()),
            "undecided": counted.undecided,
            "overall_rate": round(float(counted.rate), 4),
            "highest_probability": round(max((max(betas) for _, betas in table), default=0) / 255, 4),
        }
