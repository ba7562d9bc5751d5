"""One metric: what it is called, what it means, how it is counted, written and judged."""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

from spark_analysis.answers import Measured
from spark_analysis.catalogue.evidence import REPORTED, Evidence
from spark_analysis.errors import AnalysisError
from spark_analysis.number_format import bytes_text, energy_text, number_text, share_text, time_text

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")


class Unit(Enum):
    """What a metric is counted in: its sign, and how people read it."""

    SHARE = ("", share_text)
    NUMBER = ("", number_text)
    SECONDS = ("s", time_text)
    BYTES = ("B", bytes_text)
    JOULES = ("J", energy_text)

    def __init__(self, sign: str, text: Callable[[float | None], str]) -> None:
        self.sign = sign
        """Stands behind the bare number; a share and a number have none."""
        self.text = text
        """Writes a value for people."""


class MetricFailed(AnalysisError):
    """A metric raised, or gave what is no number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A figure of a run. A run that does not have it has None, never 0."""

    name: str
    """Names it in JSON and in columns of results; it never changes."""
    title: str
    """Stands over columns and cards: a word or three."""
    meaning: str
    """What it is, for who sees the number for the first time; no full stop."""
    unit: Unit
    better: Literal["up", "down"] | None
    """Which way is better; None where neither is."""
    needs: frozenset[str]
    """The fields of `Evidence` without which it cannot be had."""
    of: Callable[[Evidence], float | None]
    """Returns the figure; whatever it `needs` is there."""
    place: int = 1000
    """Where it stands among the others, the lowest first."""
    compared: bool = True
    """Whether runs are compared by it."""
    of_every_run: bool = False
    """Whether a mean over runs is known only where every one of them has it: the runs that lack it are those
    that fared worst, so a mean of the others would flatter."""
    is_headline: bool = False
    """Whether it is among the few that a report shows first."""
    text: Callable[[Evidence], str] | None = None
    """Writes it for people where its unit does not say all."""
    note: Callable[[Evidence], str] | None = None
    """Returns what a report says below it."""

    def __post_init__(self) -> None:
        """Refuse what could not be shown everywhere."""
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"a metric is called {self.name!r}; use small letters, digits and _")
        if not self.title or not self.meaning or not isinstance(self.unit, Unit):
            raise ValueError(f"metric {self.name} lacks a title, a meaning or a Unit")
        if self.better not in ("up", "down", None):
            raise ValueError(f"metric {self.name}: better is up, down or None, not {self.better!r}")
        if not self.needs or not self.needs <= REPORTED:
            raise ValueError(f"metric {self.name} needs some of {', '.join(sorted(REPORTED))}")

    @property
    def is_built_in(self) -> bool:
        """Tell whether it came with this package."""
        return self.of.__module__.startswith(__package__ or "")

    @property
    def is_share(self) -> bool:
        """Tell whether it lies between 0 and 1."""
        return self.unit is Unit.SHARE

    @property
    def label(self) -> str:
        """Return the meaning with the unit of a bare number."""
        return f"{self.meaning}, {self.unit.sign}" if self.unit.sign else self.meaning

    @property
    def direction(self) -> str:
        """Return in words which way is better."""
        return {"up": "more is better", "down": "less is better", None: ""}[self.better]


def value_of(metric: Metric, evidence: Evidence) -> float | None:
    """Return a metric of what is known; raise `MetricFailed` where it fails, whoever wrote it."""
    try:
        value = metric.of(evidence)
        found = None if value is None else float(value)
    except AnalysisError:
        raise
    except Exception as error:
        raise MetricFailed(
            f"metric {metric.name} cannot be computed: {type(error).__name__}: {error}"
        ) from error
    if found is not None and not math.isfinite(found):
        raise MetricFailed(f"metric {metric.name} is {found}; where it is not known it must be None")
    return found


def values_of(metrics: Iterable[Metric], evidence: Evidence) -> dict[str, float | None]:
    """Return the values of metrics by their names; of one of another package that fails None."""
    return {metric.name: value.value for metric, value in _each(metrics, evidence)}


def measured(metrics: Iterable[Metric], evidence: Evidence) -> dict[str, Measured]:
    """Return metrics with their words, by their names."""
    return {metric.name: value for metric, value in _each(metrics, evidence)}


def _each(metrics: Iterable[Metric], evidence: Evidence) -> Iterator[tuple[Metric, Measured]]:
    """Yield each metric with what it says. One of another package that fails costs nobody the others: it is
    not known, and says why.
    """
    for metric in metrics:
        try:
            value = value_of(metric, evidence)
            text = metric.unit.text(value) if metric.text is None else metric.text(evidence)
            yield metric, Measured(value, text, "" if metric.note is None else metric.note(evidence))
        except Exception as error:
            if metric.is_built_in or (
                isinstance(error, AnalysisError) and not isinstance(error, MetricFailed)
            ):
                raise
            yield metric, Measured(None, metric.unit.text(None), str(error))
