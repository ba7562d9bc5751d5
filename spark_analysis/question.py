"""A question of the report: how its answer is computed, and how it is shown.

Every question is one file in `questions/` with the frame, the answer, the wording and the figure. The page
only orders the sections. The name of a question is its key in `dens report --json`.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from pyspark.sql import DataFrame

from spark_analysis.devices import Devices
from spark_analysis.json_keys import to_document
from spark_analysis.metrics.expected import SubscriptionRevision
from spark_analysis.run import Run

if TYPE_CHECKING:
    from spark_analysis.answers import Analysis

T = TypeVar("T")
Nodes = Mapping[int, Mapping[str, Any]]
"""The rows of the table `nodes`, by node."""

TIMELINE_BINS: Final = 120
"""Bins of every figure over the time of a run."""


class RunContext:
    """A run while it is analysed, and the results that several questions share."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.end_ms = run.manifest.simulated_ms
        self.nodes: Nodes = {row["node"]: row for row in run.small_table("nodes")}
        self.devices: Devices = run.devices
        self.revisions: tuple[SubscriptionRevision, ...] = run.revisions()
        self._results: dict[Callable[..., Any], Future[Any]] = {}
        self._cached: list[DataFrame] = []
        self._lock = Lock()

    def once(self, compute: Callable[["RunContext"], T]) -> T:
        """Return `compute(self)`, computed by the first caller only.

        Questions run in threads. The first caller computes in its own thread and the others wait for it, so a
        pool of any size cannot deadlock.
        """
        with self._lock:
            is_first = compute not in self._results
            result = self._results.setdefault(compute, Future())
        if is_first:
            try:
                result.set_result(compute(self))
            except BaseException as error:
                result.set_exception(error)
        value: T = result.result()
        return value

    def cache(self, frame: DataFrame) -> DataFrame:
        """Cache a frame until the analysis ends."""
        self._cached.append(frame.cache())
        return frame

    def release(self) -> None:
        for frame in self._cached:
            frame.unpersist()

    @cached_property
    def bin_ms(self) -> int:
        """Return the length of a bin of a figure over time."""
        return bin_ms_of(self.end_ms)

    def copies(self) -> DataFrame:
        """Return `Run.copies_at_end`, cached."""
        return self.once(_copies_at_end)


def _copies_at_end(context: RunContext) -> DataFrame:
    return context.cache(context.run.copies_at_end())


def name_of(nodes: Nodes, node: int) -> str:
    """Return a node's name, or its number if the table `nodes` lacks it."""
    return str(nodes[node]["name"]) if node in nodes else f"node {node}"


def bin_ms_of(end_ms: int) -> int:
    """Return the length of one of `TIMELINE_BINS` bins."""
    return max(1, -(-end_ms // TIMELINE_BINS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of the page."""

    place: int
    """Sections are in ascending order."""
    title: str
    html: str
    id: str = ""
    """Anchor of the section. Sections with an anchor are listed in the navigation."""
    is_half: bool = False
    """Two half sections in a row share the width of the page."""
    is_long: bool = False
    """Whether it may be split over printed pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[T]):
    """A question of the report. `questions/` has one file per question."""

    name: str
    """Key of the answer in JSON; never changes."""
    place: int
    """Answers are in ascending order in JSON."""
    collect: Callable[[RunContext], T]
    """Computes the answer."""
    sections: "Callable[[T, Analysis], Iterable[Section]]" = lambda answer, analysis: ()
    """Returns the sections of the page; none if the run has no data for them."""
    document: Callable[[T], Any] | None = to_document
    """Returns the answer as plain data for JSON; None leaves it out."""
