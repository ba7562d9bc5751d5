"""What a figure is measured with: the requested parameters of table 5.1, numbers and seeds."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final

from dens_experiments.family import Request, UnknownFigure
from dens_experiments.graph_workload import GraphWorkload

TAKES: Final = frozenset({"counts", "seeds", "repetitions", "set"})
SEEDS: Final = (1, 2, 3)
SMALL_SEEDS: Final = (1, 2)
MOST_SUBSCRIPTIONS: Final = 1_000_000

PARAMETERS: Final = tuple(one.name for one in fields(GraphWorkload))
_SHARES: Final = frozenset({"matched", "starred", "overlap", "limited"})
_AT_LEAST: Final[Mapping[str, int]] = MappingProxyType({"stars": 0, "constants": 0})


@dataclass(frozen=True, slots=True)
class Settings:
    """A workload, the points, which seeds, how often each time is taken, and how many publications."""

    workload: GraphWorkload
    counts: tuple[int, ...]
    seeds: tuple[int, ...]
    repetitions: int
    publications: int

    def words(self, **more: str) -> dict[str, str]:
        """Return how it is measured, for people."""
        seeds = f"{len(self.seeds)} ({self.seeds[0]} … {self.seeds[-1]})" if len(self.seeds) > 1 else "1"
        return {
            "workload": f"graph_workload, {self.workload.words()}",
            **more,
            "publications": str(self.publications),
            "seeds": seeds,
            "value": f"mean over seeds ± half of the 95 % t interval, each the least of {self.repetitions}",
        }


def settings_of(
    request: Request,
    counts: tuple[int, ...],
    small_counts: tuple[int, ...],
    base: GraphWorkload | None = None,
    publications: int = 20,
) -> Settings:
    """Return what to measure with, or raise `UnknownFigure` for values that mean nothing."""
    for count in request.counts or ():
        if not 1 <= count <= MOST_SUBSCRIPTIONS:
            raise UnknownFigure(f"{count} cannot be measured; say 1 to {MOST_SUBSCRIPTIONS}")
    return Settings(
        workload_of(request, base or GraphWorkload()),
        request.counts or (small_counts if request.small else counts),
        request.seeds or (SMALL_SEEDS if request.small else SEEDS),
        request.repetitions or (1 if request.small else 3),
        max(1, publications // 2) if request.small else publications,
    )


def workload_of(request: Request, base: GraphWorkload) -> GraphWorkload:
    """Return a workload with the requested parameters."""
    given: dict[str, Any] = {}
    for name, text in request.set:
        if name not in PARAMETERS:
            raise UnknownFigure(f"parameter {name!r} is unknown; there are: {', '.join(PARAMETERS)}")
        given[name] = _value(name, text)
    found = replace(base, **given)
    if found.least_edges > found.most_edges:
        raise UnknownFigure(f"least_edges {found.least_edges} is more than most_edges {found.most_edges}")
    if found.edges < found.nodes - 1 or found.names < found.nodes:
        raise UnknownFigure("a publication needs edges ≥ nodes − 1, and as many names as nodes")
    return found


def check(request: Request) -> None:
    """Refuse parameters that mean nothing, before anything is measured."""
    settings_of(request, (1,), (1,))


def _value(name: str, text: str) -> float | int:
    try:
        found = float(text) if name in _SHARES else int(text)
    except ValueError:
        raise UnknownFigure(f"{name}={text} is not a number") from None
    if name in _SHARES and not 0 <= found <= 1:
        raise UnknownFigure(f"{name}={text} is not a share from 0 to 1")
    if name not in _SHARES and not _AT_LEAST.get(name, 1) <= found <= MOST_SUBSCRIPTIONS:
        raise UnknownFigure(f"{name}={text} is out of range")
    return found
