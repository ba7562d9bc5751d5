"""Several runs side by side: runs that differ in nothing but their seed are one variant.

What makes a variant is found by comparing the resolved scenarios of all runs, setting by setting; only what
is not the same everywhere is named.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from dens.trace.manifest import Manifest
from spark_analysis.answers import Analysis
from spark_analysis.catalogue.evidence import REPORTED
from spark_analysis.catalogue.metric import Metric
from spark_analysis.catalogue.registry import compared
from spark_analysis.errors import TraceError
from spark_analysis.interval import Interval, interval
from spark_analysis.variant_labels import differing, variant_labels

MOMENTS: Final = 100
"""So many times a curve of delays has."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Runs of one scenario with different seeds, and over them each metric that is compared, by its name."""

    label: str
    short: str
    """What it is called where there is little room: only what makes it differ."""
    seeds: tuple[int | None, ...]
    partial: bool
    figures: Mapping[str, Interval | None]
    arrived: tuple[tuple[float, float], ...]
    """(seconds, estimated share of owed pairs that arrive within that time), the mean over the runs."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Variants in the order in which their first runs were given."""

    variants: tuple[Variant, ...]
    differing: tuple[str, ...]
    """The paths of the settings in which they differ."""

    def as_document(self) -> dict[str, Any]:
        """Return it in JSON's types."""
        return asdict(self)


def refuse_strangers(runs: Sequence[tuple[Path, Manifest]]) -> None:
    """Raise `TraceError` when runs speak of different words: figures about different wishes are no variants
    of each other.
    """
    for folder, manifest in runs[1:]:
        first_folder, first = runs[0]
        if _vocabularies(manifest) != _vocabularies(first):
            mine, others = dict(_vocabularies(first)), dict(_vocabularies(manifest))
            differing = sorted(
                name for name in mine.keys() | others.keys() if mine.get(name) != others.get(name)
            )
            raise TraceError(
                f"{folder}: its vocabularies are not those of {first_folder} ({', '.join(differing)} differ);"
                " they cannot be compared; report each alone"
            )


def _vocabularies(manifest: Manifest) -> Mapping[str, str]:
    """Return the vocabularies of a run by name; a trace older than their texts has names alone."""
    return manifest.vocabularies or {str(name): "" for name in manifest.scenario.get("vocabularies", ())}


def compare(runs: Sequence[tuple[Manifest, Analysis]]) -> Comparison:
    """Put runs side by side. A variant's intervals are over its seeds; of one run they are not known."""
    members: dict[str, list[tuple[Manifest, Analysis]]] = {}
    for manifest, analysis in runs:
        members.setdefault(json.dumps(_settings(manifest), sort_keys=True), []).append((manifest, analysis))
    moments = _moments([analysis for _, analysis in runs])
    settings = [_settings(of_variant[0][0]) for of_variant in members.values()]
    labels = zip(_labels(settings), variant_labels(settings, str(settings[0].get("name"))), strict=True)
    return Comparison(
        tuple(
            Variant(
                label,
                short,
                tuple(manifest.seed for manifest, _ in of_variant),
                any(manifest.partial for manifest, _ in of_variant),
                _over_seeds([analysis for _, analysis in of_variant]),
                _arrived([analysis for _, analysis in of_variant], moments),
            )
            for (label, short), of_variant in zip(labels, members.values(), strict=True)
        ),
        tuple(differing(settings)),
    )


def compared_metrics() -> tuple[Metric, ...]:
    """Return the metrics by which runs are compared, in their order."""
    return compared(REPORTED)


def _over_seeds(runs: Sequence[Analysis]) -> dict[str, Interval | None]:
    """Return each metric over the runs of a variant."""
    found: dict[str, Interval | None] = {}
    for metric in compared_metrics():
        values = [analysis.metrics[metric.name].value for analysis in runs]
        known = [value for value in values if value is not None]
        over = None if metric.of_every_run and len(known) < len(values) else interval(known)
        found[metric.name] = None if over is None else over.possible(share=metric.is_share)
    return found


def _moments(runs: Sequence[Analysis]) -> tuple[float, ...]:
    """Return times, evenly spread by their logarithm, over everything that any run took."""
    known = [max(time_s, 0.1) for analysis in runs for time_s in _reached(analysis)]
    if not known:
        return ()
    low, ratio = min(known), max(known) / min(known)
    return tuple(low * ratio ** (i / (MOMENTS - 1)) for i in range(MOMENTS))


def _reached(analysis: Analysis) -> list[float]:
    """Return the times within which 0 %, 1 %, … of the owed pairs arrive, as far as that goes."""
    return [time_s for time_s in analysis.delay.within_s if time_s is not None]


def _arrived(runs: Sequence[Analysis], moments: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Return the mean over runs of the estimated share of owed pairs that arrive within each time."""
    owing = [_reached(analysis) for analysis in runs if analysis.delivery.total.owed]
    if not owing:
        return ()

    def share(reached: Sequence[float], within_s: float) -> float:
        return max(bisect_right(reached, within_s * 1.0001) - 1, 0) / 100

    return tuple((at, sum(share(one, at) for one in owing) / len(owing)) for at in moments)


def _settings(manifest: Manifest) -> dict[str, Any]:
    """Return every single setting by its path, the seed and the title for people left out."""
    flat: dict[str, Any] = {}
    _flatten("", {k: v for k, v in manifest.scenario.items() if k not in ("seed", "title")}, flat)
    return flat


def _flatten(path: str, value: Any, into: dict[str, Any]) -> None:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _flatten(f"{path}.{name}" if path else str(name), inner, into)
    elif isinstance(value, list) and any(isinstance(inner, Mapping) for inner in value):
        for position, inner in enumerate(value):
            name = inner.get("name", position) if isinstance(inner, Mapping) else position
            _flatten(f"{path}.{name}", inner, into)
    else:
        into[path] = value


def _labels(variants: Sequence[dict[str, Any]]) -> list[str]:
    """Name each variant by the settings in which not all agree; alone it is called by its name."""
    paths = differing(variants)
    return [
        ", ".join(f"{path} = {json.dumps(one[path], ensure_ascii=False)}" for path in paths if path in one)
        or str(one.get("name", "unnamed"))
        for one in variants
    ]
