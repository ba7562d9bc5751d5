"""Results of a sweep: one row per run, the variants side by side, and the time it took."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from dens.config.atomic_write import write_whole
from spark_analysis.catalogue.metric import Metric
from spark_analysis.interval import Interval, interval
from spark_analysis.sweep.key_figures import KeyFigures, swept_metrics
from spark_analysis.sweep.plan import Changes, SweepPlan, label, toml_value
from spark_analysis.variant_labels import variant_labels

Found = Mapping[tuple[int, int], KeyFigures]
"""Key figures by (variant, seed)."""


@dataclass(frozen=True, slots=True)
class VariantResult:
    """The mean of each figure over the seeds, and its difference from the first variant.

    Differences are paired by seed; an interval without 0 shows that the variants differ. The first variant's
    own differences are None.
    """

    label: str
    short: str
    """Short label: only the settings that differ."""
    figures: dict[str, Interval | None]
    differences: dict[str, Interval | None]


@dataclass(frozen=True, slots=True)
class Timing:
    """Processor seconds of the new runs, and elapsed seconds."""

    runs: int
    resumed: int
    computing_s: float
    elapsed_s: float

    @property
    def speed_up(self) -> float | None:
        """Return the speed-up over sequential execution; None if nothing was run."""
        return self.computing_s / self.elapsed_s if self.runs > self.resumed and self.elapsed_s else None


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The variants in the order of the plan."""

    variants: tuple[VariantResult, ...]
    timing: Timing

    def as_document(self) -> dict[str, Any]:
        timing = {**asdict(self.timing), "speed_up": self.timing.speed_up}
        return {"variants": [asdict(variant) for variant in self.variants], "timing": timing}


def summarise(plan: SweepPlan, found: Found) -> tuple[VariantResult, ...]:
    """Return each variant's means and paired differences with 95 % confidence intervals."""
    names = variant_labels([_settings(changes) for changes in plan.variants], label(()))
    return tuple(
        VariantResult(
            label(changes),
            names[variant],
            {one.name: _figure(one, _values(plan, found, variant, one.name)) for one in swept_metrics()},
            {
                one.name: _over_runs(one, _differences(plan, found, variant, one.name)) if variant else None
                for one in swept_metrics()
            },
        )
        for variant, changes in enumerate(plan.variants)
    )


def _figure(metric: Metric, values: Sequence[float | None]) -> Interval | None:
    found = _over_runs(metric, values)
    return None if found is None else found.possible(share=metric.is_share)


def _over_runs(metric: Metric, values: Sequence[float | None]) -> Interval | None:
    """Return the mean and interval over the runs with a value, or None if the metric requires all."""
    known = [value for value in values if value is not None]
    return None if metric.of_every_run and len(known) < len(values) else interval(known)


def _values(plan: SweepPlan, found: Found, variant: int, name: str) -> list[float | None]:
    return [found[variant, seed][name] for seed in plan.seeds]


def _differences(plan: SweepPlan, found: Found, variant: int, name: str) -> list[float | None]:
    pairs = ((found[variant, seed][name], found[0, seed][name]) for seed in plan.seeds)
    return [None if value is None or first is None else value - first for value, first in pairs]


def _settings(changes: Changes) -> dict[str, Any]:
    return {setting.path: setting.value for setting in changes}


def _type(values: Sequence[Any]) -> pa.DataType | None:
    """Return the column type for these values, or None if they are mixed."""
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        kinds = {float}
    return _TYPES.get(kinds.pop()) if len(kinds) == 1 else None


_TYPES: Final[dict[type, pa.DataType]] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
}


def write_results(plan: SweepPlan, found: Found, path: Path) -> None:
    """Write one row per run: number and label of the variant, each varied setting, the seed, every figure.

    A setting with values of one type is a column of that type, otherwise of TOML text. It is null if the
    variant does not change it.
    """
    paths = sorted({setting.path for changes in plan.variants for setting in changes})
    variants = [_settings(changes) for changes in plan.variants]
    types = {path: _type([one[path] for one in variants if path in one]) for path in paths}
    rows: list[dict[str, Any]] = []
    for (variant, seed), figures in sorted(found.items()):
        changes = plan.variants[variant]
        settings = {
            path: toml_value(value) if types[path] is None else value
            for path, value in _settings(changes).items()
        }
        rows.append({"variant": variant, "label": label(changes), **settings, "seed": seed, **figures})
    kinds: list[Any] = [("variant", pa.int32()), ("label", pa.string())]
    kinds += [(path, types[path] or pa.string()) for path in paths]
    schema = pa.schema([*kinds, ("seed", pa.int64()), *((one.name, pa.float64()) for one in swept_metrics())])
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), buffer)
    write_whole(path, buffer.getvalue())
