"""The definition of a metric: name, meaning, computation, unit and direction."""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

from spark_analysis.catalogue.evidence import REPORTED, Evidence
from spark_analysis.errors import AnalysisError
from spark_analysis.number_format import bytes_text, energy_text, number_text, share_text, time_text

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")


class Unit(Enum):
    """The unit of a metric: its symbol, and how values are formatted."""

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


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric of a run: its value, its text, and a note below it."""

    value: float | None
    text: str
    note: str = ""


class MetricFailed(AnalysisError):
    """A metric raised an error or returned something that is not a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A figure of a run. Its value is None, never 0, if the run does not have it."""

    name: str
    """Key in JSON and column in results; never changes."""
    title: str
    """Heading of columns and cards: up to three words."""
    meaning: str
    """Explanation for first-time readers, without a full stop."""
    unit: Unit
    better: Literal["up", "down"] | None
    """Which direction is better; None if neither."""
    needs: frozenset[str]
    """The fields of `Evidence` that it requires."""
    of: Callable[[Evidence], float | None]
    """Computes the value; the fields in `needs` are present."""
    place: int = 1000
    """Sort key, the lowest first."""
    compared: bool = True
    """Whether runs are compared by it."""
    of_every_run: bool = False
    """Whether a mean over runs requires a value from every run: runs without a value performed worst, so a
    mean over the others would be too good.
    """
    is_headline: bool = False
    """Whether reports show it at the top."""
    text: Callable[[Evidence], str] | None = None
    """Formats the value if the unit's format is not sufficient."""
    note: Callable[[Evidence], str] | None = None
    """Returns the text below the value."""

    def __post_init__(self) -> None:
        """Reject invalid definitions."""
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"invalid metric name {self.name!r}; use lower-case letters, digits and _")
        if not self.title or not self.meaning or not isinstance(self.unit, Unit):
            raise ValueError(f"metric {self.name} lacks a title, a meaning or a Unit")
        if self.better not in ("up", "down", None):
            raise ValueError(f"metric {self.name}: better must be up, down or None, not {self.better!r}")
        if not self.needs or not self.needs <= REPORTED:
            raise ValueError(f"metric {self.name}: needs must name some of {', '.join(sorted(REPORTED))}")

    @property
    def is_built_in(self) -> bool:
        """Return whether it is part of this package."""
        return self.of.__module__.startswith(__package__ or "")

    @property
    def is_share(self) -> bool:
        """Return whether it lies between 0 and 1."""
        return self.unit is Unit.SHARE

    @property
    def label(self) -> str:
        """Return the meaning with the unit symbol."""
        return f"{self.meaning}, {self.unit.sign}" if self.unit.sign else self.meaning

    @property
    def direction(self) -> str:
        """Return which direction is better, as text."""
        return {"up": "more is better", "down": "less is better", None: ""}[self.better]


def value_of(metric: Metric, evidence: Evidence) -> float | None:
    """Return the value of a metric; raise `MetricFailed` if it fails."""
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
        raise MetricFailed(f"metric {metric.name} is {found}; return None if the value is unknown")
    return found


def values_of(metrics: Iterable[Metric], evidence: Evidence) -> dict[str, float | None]:
    """Return the values of metrics by name; None for an external metric that fails."""
    return {metric.name: value.value for metric, value in _each(metrics, evidence)}


def measured(metrics: Iterable[Metric], evidence: Evidence) -> dict[str, Measured]:
    """Return metrics with their texts, by name."""
    return {metric.name: value for metric, value in _each(metrics, evidence)}


def _each(metrics: Iterable[Metric], evidence: Evidence) -> Iterator[tuple[Metric, Measured]]:
    """Yield each metric with its value. An external metric that fails does not affect the others: its value
    is None and its note is the error.
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
