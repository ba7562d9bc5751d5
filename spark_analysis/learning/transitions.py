"""Transition matrices of the readings in a trace.

The states of an attribute are its terms, or the values of a nominal one. A reading is in the state of the
term that fits best; if none fits at least half, it is in the state `OTHER`. The readings of each node,
ordered by time, are a sequence; readings without the attribute are skipped. The matrix is of order 1: the
next state depends on the present one only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from knowledge_manager.vocabulary.event_class import Attribute
from plugins.registry import term_shapes
from spark_analysis.errors import LearningError

OTHER: Final = "other"
"""The state of a value that fits no term."""

LEAST_DEGREE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Transitions:
    """How often each state was followed by each: counts[i][j] from states[i] to states[j]."""

    states: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def total(self) -> int:
        return sum(map(sum, self.counts))

    def probabilities(self) -> list[list[float | None]]:
        """Return the probability of each next state by present state; None for a state without successors."""
        return [[count / sum(row) if sum(row) else None for count in row] for row in self.counts]

    def as_document(self) -> dict[str, Any]:
        return {
            "states": list(self.states),
            "counts": [list(row) for row in self.counts],
            "probabilities": self.probabilities(),
        }


def states_of(attribute: Attribute, names: Sequence[str] = ()) -> tuple[tuple[str, ...], list[int]]:
    """Return the states of an attribute, and the state of each byte.

    `names` selects and orders the terms; by default all. An unknown or missing term raises `LearningError`.
    """
    if attribute.type == "nominal":
        last = len(attribute.values) - 1
        return (*attribute.values, OTHER), [at if at <= last else last + 1 for at in range(256)]
    chosen = list(names) or list(attribute.terms)
    for name in chosen:
        if name not in attribute.terms:
            raise LearningError(f'{attribute.name} has no term "{name}"; it has {", ".join(attribute.terms)}')
    if not chosen:
        raise LearningError(f"{attribute.name} has no terms; learn some first (dens learn terms)")
    shapes = term_shapes()
    curves = np.array([shapes.curve(attribute, name) for name in chosen])
    best = np.where(curves.max(axis=0) >= LEAST_DEGREE, curves.argmax(axis=0), len(chosen))
    return (*chosen, OTHER), [int(state) for state in best]


def transitions(states: Sequence[int]) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of `learning.past_values` into counts by present and next state.

    Its columns are `present`, `next` (positions of states), `transitions` and `probability`, the share of
    `next` among all successors of `present`.
    """
    of_byte = F.array(*map(F.lit, states))
    sequence = Window.partitionBy("run", "node").orderBy("event_ms", "event_number")
    all_next = Window.partitionBy("present")

    def transform(values: DataFrame) -> DataFrame:
        present = values.withColumn("present", F.element_at(of_byte, F.col("byte") + 1))
        return (
            present.withColumn("next", F.lead("present").over(sequence))
            .where(F.col("next").isNotNull())
            .groupBy("present", "next")
            .agg(F.count("*").alias("transitions"))
            .withColumn("probability", F.col("transitions") / F.sum("transitions").over(all_next))
        )

    return transform


def collect(frame: DataFrame, states: Sequence[str]) -> Transitions:
    """Collect the result of `transitions` as a matrix."""
    counts = np.zeros((len(states), len(states)), np.int64)
    for row in frame.collect():
        counts[row["present"], row["next"]] = row["transitions"]
    return Transitions(tuple(states), tuple(tuple(int(count) for count in row) for row in counts))
